//! The directory of a crawl, its lock and its format.
//!
//! **Invariant:** only one process at a time has a [`Store`] of a directory. An advisory lock
//! ensures this; the lock ends with the process. The directory has the format that this program
//! writes, except after [`Store::open_to_rebuild`].

pub mod holdings;
pub mod index_refresh;
pub mod keys;
mod ownership;
mod rewriting;
mod search_index;

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, bail};
use ledger::Ledger;
use rustix::fs::{FlockOperation, flock};
use serde::de::DeserializeOwned;
use tracing::debug;

use crate::panics::POISONED;
pub use ownership::adopt;
pub use search_index::search_index;

/// The contents of the file `FORMAT`. A store of another format is refused, unless the format is in
/// [`PREVIOUS`].
const FORMAT: &str = "avocet store, format 6\n";
/// The two previous formats. Their records are read as they are, and are written in the current
/// format when they change. They lack the current sums of measured gains, so these sums start with
/// the last eight revisits.
const PREVIOUS: [&str; 2] = ["avocet store, format 4\n", "avocet store, format 5\n"];
/// Older formats with the same archive, from which ledger and index can be rebuilt.
const OLDER: [&str; 3] = [
    "avocet store, format 1\n",
    "avocet store, format 2\n",
    "avocet store, format 3\n",
];

/// Suffix of the process id in `LOCK`: the process has borrowed the store and releases it on
/// request.
const BORROWED: &str = " borrowed";
/// How long a process that has borrowed a store may take to release it: its reads end first.
const GIVEN_UP_WITHIN: Duration = Duration::from_secs(10);

/// How long another thread of this process may take to close the ledger.
const CLOSED_WITHIN: Duration = Duration::from_secs(10);

/// A disk with less free space than this, in bytes, counts as full: fjall and tantivy write files
/// of some hundred kilobytes.
const ROOM: u64 = 1 << 20;
/// Bytes held in reserve; on a small disk, a third of the free space. The index needs about 1.2
/// bytes per byte of text, so it may hold uncommitted text of [two thirds](Store::hold_reserve) of
/// this.
const RESERVE: u64 = 48 << 20;

/// The directory of a ledger that is not complete yet.
const FRESH: &str = "ledger.new";
/// The directory of a complete ledger that is about to replace the old one.
const READY: &str = "ledger.ready";

/// A store that this process has locked.
pub struct Store {
    root: PathBuf,
    /// The ledger, if it is open in this process.
    opened: Mutex<Weak<Ledger>>,
    _lock: File,
}

/// Returns the free space of the disk of a store in bytes, for users without privileges.
pub fn free(root: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(root).ok()?;
    Some(disk.f_bavail * disk.f_frsize)
}

impl Store {
    /// Opens the store at `root`, or creates it.
    pub fn create(root: &Path) -> Result<Self> {
        fs::create_dir_all(root)
            .with_context(|| format!("cannot create the store {}", root.display()))?;
        let store = Self::lock(root)?;
        if !root.join("FORMAT").exists() && !has_lost_format(root) {
            store.write_format()?;
        }
        check_format(root)?;
        store.upgrade()?;
        store.finish_replacement()?;
        store.finish_rewriting()?;
        Ok(store)
    }

    /// Opens the store at `root`, which must exist.
    pub fn open(root: &Path) -> Result<Self> {
        must_exist(root)?;
        Self::create(root)
    }

    /// Opens the store at `root`, which must exist. The caller must drop it when another process
    /// wants it (see [`is_wanted`]).
    pub fn borrow(root: &Path) -> Result<Self> {
        must_exist(root)?;
        let mut file = open_lock(root)?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            let owner = owner(&mut file);
            return Err(InUse {
                root: root.to_owned(),
                owner,
            }
            .into());
        }
        let _lock = sign(file, BORROWED, root)?;
        let store = Self {
            root: root.to_owned(),
            opened: Mutex::default(),
            _lock,
        };
        store.upgrade()?;
        store.finish_replacement()?;
        store.finish_rewriting()?;
        Ok(store)
    }

    /// Opens a store whose ledger and index will be rebuilt. It may have an older format.
    pub fn open_to_rebuild(root: &Path) -> Result<Self> {
        let found = fs::read_to_string(root.join("FORMAT")).unwrap_or_default();
        if !OLDER.contains(&found.as_str()) && !has_lost_format(root) {
            must_exist(root)?;
        }
        let store = Self::lock(root)?;
        store.finish_replacement()?;
        store.finish_rewriting_to_rebuild()?;
        Ok(store)
    }

    /// Marks a store of a previous format as one of the current format. An older program, which
    /// cannot read new records, then refuses the store.
    fn upgrade(&self) -> Result<()> {
        match fs::read_to_string(self.root.join("FORMAT")) {
            Ok(found) if PREVIOUS.contains(&found.as_str()) => self.write_format(),
            _ => Ok(()),
        }
    }

    /// Writes the file `FORMAT` with the current format.
    pub fn write_format(&self) -> Result<()> {
        let format = self.root.join("FORMAT");
        replace_durably(&format, FORMAT.as_bytes())
            .with_context(|| format!("cannot write {}", format.display()))
    }

    fn lock(root: &Path) -> Result<Self> {
        Ok(Self {
            root: root.to_owned(),
            opened: Mutex::default(),
            _lock: lock(root)?,
        })
    }

    /// Adds the cause to an error if the disk is full or the limit on file sizes is reached: the
    /// error of a library may not name the cause.
    pub fn explain(&self, error: anyhow::Error) -> anyhow::Error {
        let what = if self.is_full(&error) {
            let free = self.free().unwrap_or(0);
            format!(
                "No space left on device: the disk of {} has {free} bytes free",
                self.root.display()
            )
        } else if is_system_error(&error, rustix::io::Errno::FBIG) {
            "a limit on the size of files is reached (`ulimit -f`)".to_owned()
        } else {
            return error;
        };
        error.context(format!(
            "{what}; what was committed is safe: make room, then run the same command to resume"
        ))
    }

    /// Returns whether an error names a full disk, or the disk has less than 1 MiB free now.
    pub fn is_full(&self, error: &anyhow::Error) -> bool {
        is_system_error(error, rustix::io::Errno::NOSPC)
            || self.free().is_some_and(|free| free < ROOM)
    }

    /// Returns the free space of the disk in bytes, for users without privileges.
    pub fn free(&self) -> Option<u64> {
        free(&self.root)
    }

    /// Allocates a file that is deleted when the disk is full, so that the index can still take in
    /// what the ledger has committed.
    ///
    /// Returns the bytes of text for which it suffices. Returns `None` if no space could be
    /// reserved; then the last pages become searchable only after the user has freed space.
    pub fn hold_reserve(&self) -> Option<u64> {
        let bytes = self.free()?.min(3 * RESERVE) / 3;
        let file = File::options()
            .write(true)
            .create(true)
            .truncate(true)
            .open(self.reserve());
        let held = file.map_err(anyhow::Error::from).and_then(|file| {
            let flags = rustix::fs::FallocateFlags::empty();
            Ok(rustix::fs::fallocate(&file, flags, 0, bytes)?)
        });
        if let Err(error) = held {
            debug!(%error, "no disk space is held in reserve");
            self.release_reserve();
            return None;
        }
        Some(bytes * 2 / 3)
    }

    /// Deletes the reserve, which frees its disk space.
    pub fn release_reserve(&self) {
        fs::remove_file(self.reserve()).ok();
    }

    fn reserve(&self) -> PathBuf {
        self.root.join("RESERVE")
    }

    /// Returns the directory of the store.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the ledger that is open in this process. Otherwise opens it, or creates it. A new
    /// ledger gets its final name only when it is complete, so that a kill leaves no partial one.
    pub fn ledger(&self) -> Result<Arc<Ledger>> {
        let mut opened = self.opened.lock().expect(POISONED);
        if let Some(ledger) = opened.upgrade() {
            return Ok(ledger);
        }
        if !self.ledger_path().exists() {
            drop(self.fresh_ledger()?);
            self.take_fresh_ledger()?;
        }
        let begun = Instant::now();
        let ledger = loop {
            match Ledger::open(&self.ledger_path()) {
                // Another thread closes it at this moment.
                Err(error) if error.is_locked() && begun.elapsed() < CLOSED_WITHIN => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                ledger => break Arc::new(ledger?),
            }
        };
        *opened = Arc::downgrade(&ledger);
        Ok(ledger)
    }

    /// Opens the existing ledger. Returns `None` if there is none or it cannot be opened.
    pub fn existing_ledger(&self) -> Option<Ledger> {
        let path = self.ledger_path();
        path.exists().then(|| Ledger::open(&path).ok()).flatten()
    }

    /// Creates an empty ledger that can replace the current one.
    pub fn fresh_ledger(&self) -> Result<Ledger> {
        let fresh = self.root.join(FRESH);
        if fresh.exists() {
            fs::remove_dir_all(&fresh).context("cannot remove an unfinished ledger")?;
        }
        Ok(Ledger::open(&fresh)?)
    }

    /// Replaces the current ledger by the fresh one, which must be closed and complete. After a
    /// kill or a power cut, the next start completes the replacement.
    pub fn take_fresh_ledger(&self) -> Result<()> {
        fs::rename(self.root.join(FRESH), self.root.join(READY))
            .context("cannot rename the new ledger")?;
        // Synced before the old ledger is removed: a power cut must leave at least one ledger.
        self.sync()?;
        self.finish_replacement()
    }

    fn finish_replacement(&self) -> Result<()> {
        let ready = self.root.join(READY);
        if !ready.exists() {
            return Ok(());
        }
        if self.ledger_path().exists() {
            fs::remove_dir_all(self.ledger_path()).context("cannot remove the old ledger")?;
        }
        fs::rename(ready, self.ledger_path()).context("cannot rename the new ledger")?;
        self.sync()
    }

    /// Syncs the store's directory, so that created, renamed and removed names survive a power cut.
    pub fn sync(&self) -> Result<()> {
        let synced = File::open(&self.root).and_then(|root| root.sync_all());
        synced.with_context(|| format!("cannot sync {}", self.root.display()))
    }

    fn ledger_path(&self) -> PathBuf {
        self.root.join("ledger")
    }

    /// Returns the directory of the archive.
    pub fn archive(&self) -> PathBuf {
        archive(&self.root)
    }

    /// Returns the file of the checkpoint, a copy of facts that only makes starts faster.
    pub fn checkpoint(&self) -> PathBuf {
        self.root.join("checkpoint")
    }

    /// Removes the checkpoint, because it names pages that are forgotten. The next start makes it
    /// again.
    pub fn remove_checkpoint(&self) -> Result<()> {
        let path = self.checkpoint();
        for path in [path.with_extension("new"), path] {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    Err(error).with_context(|| format!("cannot remove {}", path.display()))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the directory of the index.
    pub fn index(&self) -> PathBuf {
        index(&self.root)
    }
}

/// Returns whether the operating system returned this error number. The errors come from several
/// libraries, and the printed number is all that they have in common.
fn is_system_error(error: &anyhow::Error, number: rustix::io::Errno) -> bool {
    format!("{error:#}").contains(&format!("(os error {})", number.raw_os_error()))
}

/// Returns an error unless the directory is a store of the current format or of one of the two
/// previous ones. Takes no lock, so that search works while a crawl runs.
pub fn must_exist(root: &Path) -> Result<()> {
    if !root.join("FORMAT").exists() && !has_lost_format(root) {
        bail!(
            "there is no store in {}: `avocet crawl URL --store {}` makes one",
            root.display(),
            root.display()
        );
    }
    check_format(root)
}

/// Returns the names of the files in a directory that is no store yet, without those that a user or
/// a command may put there before the first crawl: settings, logs, topics, the sign of a pause, and
/// hidden files.
pub fn other_files(root: &Path) -> Result<Vec<String>> {
    const OURS: [&str; 25] = [
        // A kill leaves it while the first command makes the store.
        "FORMAT.new",
        "changes",
        "controls.toml",
        "LOCK",
        "PAUSED",
        "RESERVE",
        "REWRITE",
        "SOCKET",
        "TOKEN",
        "WANTED",
        "archive",
        "avocet.toml",
        "checkpoint",
        "checkpoint.new",
        "crawl.json",
        "forgotten.jsonl",
        "index",
        "ledger",
        "live.json",
        "log",
        "scores.tsv",
        "secret",
        "sources.json",
        "state.json",
        "topics",
    ];
    if root.join("FORMAT").exists() || !root.is_dir() {
        return Ok(Vec::new());
    }
    let mut others = Vec::new();
    let entries = fs::read_dir(root).with_context(|| format!("cannot read {}", root.display()))?;
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        // A disk that is mounted at the directory has `lost+found`.
        let is_ours =
            OURS.contains(&name.as_str()) || name == "lost+found" || name.starts_with('.');
        others.extend((!is_ours).then_some(name));
    }
    others.sort();
    Ok(others)
}

/// Returns the directory of the archive of the store at `root`.
pub fn archive(root: &Path) -> PathBuf {
    root.join("archive")
}

/// Returns the directory of the index of the store at `root`.
pub fn index(root: &Path) -> PathBuf {
    root.join("index")
}

/// Returns the directory of the logs of searches and clicks of the store at `root`.
pub fn log(root: &Path) -> PathBuf {
    root.join("log")
}

/// Returns the directory of the change log of the store at `root`.
pub fn changes(root: &Path) -> PathBuf {
    root.join("changes")
}

/// Returns whether a directory has a ledger or an archive, but no valid `FORMAT` file of any
/// version.
fn has_lost_format(root: &Path) -> bool {
    let is_format = match fs::read(root.join("FORMAT")) {
        Ok(found) => {
            let text = String::from_utf8_lossy(&found);
            let number = text.strip_prefix("avocet store, format ");
            let number = number.and_then(|rest| rest.strip_suffix('\n'));
            number.is_some_and(|number| number.parse::<u32>().is_ok())
        }
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    };
    !is_format && (root.join("ledger").exists() || archive(root).exists())
}

fn check_format(root: &Path) -> Result<()> {
    if has_lost_format(root) {
        bail!(
            "the FORMAT file of the store {} is missing or damaged: `avocet rebuild --store {}` makes it again, with ledger and index, from the archive",
            root.display(),
            root.display()
        );
    }
    let path = root.join("FORMAT");
    let found =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    if OLDER.contains(&found.as_str()) {
        bail!(
            "{} is of an older version ({:?}): `avocet rebuild --store {}` brings it up to date from its archive",
            root.display(),
            found.trim(),
            root.display()
        );
    }
    if found != FORMAT && !PREVIOUS.contains(&found.as_str()) {
        bail!(
            "{} is of another version ({:?}, this program writes {:?}): use the program that made it, or `export warc` there and `import warc` here",
            root.display(),
            found.trim(),
            FORMAT.trim()
        );
    }
    Ok(())
}

/// Returns whether another process waits for a store that was [borrowed](Store::borrow).
///
/// Ignores a `WANTED` file older than 10 s: the process that wrote it has died.
pub fn is_wanted(root: &Path) -> bool {
    let waits = |since: SystemTime| since.elapsed().unwrap_or_default() <= GIVEN_UP_WITHIN;
    modified(&wanted(root)).is_some_and(waits)
}

/// The error for a store that another process has locked.
#[derive(Debug, thiserror::Error)]
#[error("the store {} is in use by process {owner}: wait until that has ended, or give another directory with --store", root.display())]
pub struct InUse {
    root: PathBuf,
    owner: String,
}

fn lock(root: &Path) -> Result<File> {
    let mut file = open_lock(root)?;
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        let owner = owner(&mut file);
        if !(owner.ends_with(BORROWED) && is_given_up(root, &file)) {
            let owner = owner.trim_end_matches(BORROWED).trim();
            return Err(InUse {
                root: root.to_owned(),
                owner: owner.to_owned(),
            }
            .into());
        }
    }
    sign(file, "", root)
}

fn open_lock(root: &Path) -> Result<File> {
    let path = root.join("LOCK");
    File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .with_context(|| format!("cannot open {}: is the directory writable?", path.display()))
}

/// Asks the process that has borrowed the store to release it, and waits up to
/// [`GIVEN_UP_WITHIN`]. Returns whether this process has the lock now.
fn is_given_up(root: &Path, file: &File) -> bool {
    let wanted = wanted(root);
    if fs::write(&wanted, "").is_err() {
        return false;
    }
    let asked = Instant::now();
    let mut ours = false;
    while !ours && asked.elapsed() < GIVEN_UP_WITHIN {
        std::thread::sleep(Duration::from_millis(20));
        ours = flock(file, FlockOperation::NonBlockingLockExclusive).is_ok();
    }
    fs::remove_file(wanted).ok();
    ours
}

fn wanted(root: &Path) -> PathBuf {
    root.join("WANTED")
}

fn owner(file: &mut File) -> String {
    let mut owner = String::new();
    file.read_to_string(&mut owner).ok();
    owner.trim().to_owned()
}

/// Writes the id of this process into the lock file.
fn sign(mut file: File, how: &str, root: &Path) -> Result<File> {
    let mut write = || -> io::Result<()> {
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}{how}", std::process::id())
    };
    write().with_context(|| format!("cannot write {}", root.join("LOCK").display()))?;
    Ok(file)
}

/// Replaces a file atomically: a reader sees the old or the new contents. A power cut may leave an
/// empty file, so this is for files that are rewritten often.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let fresh = path.with_extension("new");
    fs::write(&fresh, bytes)?;
    fs::rename(fresh, path)
}

/// Replaces a file atomically and syncs it: a power cut leaves the old or the new contents.
pub fn replace_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let fresh = path.with_extension("new");
    let mut file = File::create(&fresh)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(fresh, path)?;
    match path.parent() {
        Some(directory) => File::open(directory)?.sync_all(),
        None => Ok(()),
    }
}

/// Reads a JSON file that a running crawl writes; `None` if it does not exist or is not valid.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Returns when a file was last modified; `None` if it does not exist.
pub fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

/// Returns the file into which a running crawl writes its sources.
pub fn sources(root: &Path) -> PathBuf {
    root.join("sources.json")
}

/// Returns the file into which a running crawl writes its state.
pub fn state(root: &Path) -> PathBuf {
    root.join("state.json")
}

/// Returns the file into which a running crawl writes its full snapshot.
pub fn snapshot(root: &Path) -> PathBuf {
    root.join("live.json")
}

/// Returns the total size of the files in a directory, in bytes, without its subdirectories.
pub fn size(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.metadata().ok())
        .map(|data| data.len())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_has_lost_its_format_if_the_file_has_text_of_no_version() {
        let root = tempfile::tempdir().unwrap();
        let format = root.path().join("FORMAT");
        assert!(
            !has_lost_format(root.path()),
            "an empty directory is no store"
        );
        fs::create_dir(archive(root.path())).unwrap();
        assert!(has_lost_format(root.path()), "an archive without FORMAT");
        for (text, lost) in [
            (FORMAT, false),
            ("avocet store, format 77\n", false),
            ("", true),
            ("avocet store, for", true),
            ("avocet store, format 5", true),
            ("avocet stnre, format 5\n", true),
        ] {
            fs::write(&format, text).unwrap();
            assert_eq!(has_lost_format(root.path()), lost, "{text:?}");
            assert_eq!(
                check_format(root.path()).is_ok(),
                text == FORMAT,
                "{text:?}"
            );
            let opened = Store::open_to_rebuild(root.path());
            assert_eq!(opened.is_ok(), lost || text == FORMAT, "{text:?}");
        }
    }

    #[test]
    fn a_store_of_a_previous_format_is_upgraded_when_it_is_opened_for_writing() {
        let root = tempfile::tempdir().unwrap();
        let format = root.path().join("FORMAT");
        fs::create_dir(archive(root.path())).unwrap();
        for previous in PREVIOUS {
            for open in [Store::create, Store::open, Store::borrow] {
                fs::write(&format, previous).unwrap();
                must_exist(root.path()).unwrap();
                assert_eq!(fs::read_to_string(&format).unwrap(), previous);
                drop(open(root.path()).unwrap());
                assert_eq!(fs::read_to_string(&format).unwrap(), FORMAT);
            }
        }
    }

    #[test]
    fn an_old_request_for_the_store_is_ignored() {
        let root = tempfile::tempdir().unwrap();
        assert!(!is_wanted(root.path()));
        let sign = File::create(wanted(root.path())).unwrap();
        assert!(is_wanted(root.path()));
        let long_ago = SystemTime::now() - 2 * GIVEN_UP_WITHIN;
        sign.set_modified(long_ago).unwrap();
        assert!(!is_wanted(root.path()));
    }
}
