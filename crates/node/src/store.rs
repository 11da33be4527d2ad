//! One store, one directory, one writer.
//!
//! **Invariant:** whoever holds a [`Store`] is the only process that does (an advisory lock that dies
//! with the process), and the directory is of the format this program writes.

pub mod holdings;
pub mod keys;
mod search_index;

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, bail};
use ledger::Ledger;
use rustix::fs::{FlockOperation, flock};
use tracing::debug;

pub use search_index::search_index;

/// The format of the directory; a store of another one is refused.
const FORMAT: &str = "avocet store, format 4\n";
/// Formats whose archive is like ours: ledger and index can be made anew from it. The ledger of the
/// first kept no links.
const OLDER: [&str; 2] = ["avocet store, format 1\n", "avocet store, format 2\n"];

/// How the owner of a store is signed that gives it up when asked.
const BORROWED: &str = " borrowed";
/// How long whoever borrowed a store may take to give it up: requests that look into it end first.
const GIVEN_UP_WITHIN: Duration = Duration::from_secs(10);

/// A disk with less room than this, in bytes, is full: fjall and tantivy write files of some hundred
/// kilobytes.
const ROOM: u64 = 1 << 20;
/// Bytes held in reserve, and a third of what is free on a small disk. The index takes about 1.2 bytes
/// for a byte of text, and holds back [two thirds](Store::hold_reserve) of this at most.
const RESERVE: u64 = 48 << 20;

/// A ledger that is being made.
const FRESH: &str = "ledger.new";
/// A ledger that is complete and waits to take the old one's place.
const READY: &str = "ledger.ready";

/// A directory that is ours alone.
pub struct Store {
    root: PathBuf,
    _lock: File,
}

impl Store {
    /// Opens the store at `root`, or makes one there.
    pub fn create(root: &Path) -> Result<Self> {
        fs::create_dir_all(root)
            .with_context(|| format!("cannot create the store {}", root.display()))?;
        let store = Self::lock(root)?;
        if !root.join("FORMAT").exists() && !has_lost_format(root) {
            store.write_format()?;
        }
        check_format(root)?;
        store.finish_replacement()?;
        Ok(store)
    }

    /// Opens the store at `root`, which must exist.
    pub fn open(root: &Path) -> Result<Self> {
        must_exist(root)?;
        Self::create(root)
    }

    /// Takes the store at `root` for as long as nobody else wants it (see [`is_wanted`]).
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
            _lock,
        };
        store.finish_replacement()?;
        Ok(store)
    }

    /// Opens a store whose ledger and index are to be made anew; it may be of an older format.
    pub fn open_to_rebuild(root: &Path) -> Result<Self> {
        let found = fs::read_to_string(root.join("FORMAT")).unwrap_or_default();
        if !OLDER.contains(&found.as_str()) && !has_lost_format(root) {
            return Self::open(root);
        }
        let store = Self::lock(root)?;
        store.finish_replacement()?;
        Ok(store)
    }

    /// Marks the store as one of our format.
    pub fn write_format(&self) -> Result<()> {
        let format = self.root.join("FORMAT");
        replace_durably(&format, FORMAT.as_bytes())
            .with_context(|| format!("cannot write {}", format.display()))
    }

    fn lock(root: &Path) -> Result<Self> {
        Ok(Self {
            root: root.to_owned(),
            _lock: lock(root)?,
        })
    }

    /// Adds to an error what its cause may not say: that the disk is full, or a limit on file sizes
    /// is reached.
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
            "{what}; what was committed is safe, and the same command goes on when there is room"
        ))
    }

    /// Whether an error came because the disk is full.
    pub fn is_full(&self, error: &anyhow::Error) -> bool {
        is_system_error(error, rustix::io::Errno::NOSPC)
            || self.free().is_some_and(|free| free < ROOM)
    }

    fn free(&self) -> Option<u64> {
        let disk = rustix::fs::statvfs(&self.root).ok()?;
        Some(disk.f_bavail * disk.f_frsize)
    }

    /// Allocates a file whose room is given back when the disk is full, so that the index can still
    /// take in what the ledger has committed. Returns for how many bytes of text it suffices; `None`:
    /// no room could be held, which makes a full disk only less comfortable.
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
            debug!(%error, "no room is held in reserve");
            self.release_reserve();
            return None;
        }
        Some(bytes * 2 / 3)
    }

    /// Gives the room back.
    pub fn release_reserve(&self) {
        fs::remove_file(self.reserve()).ok();
    }

    fn reserve(&self) -> PathBuf {
        self.root.join("RESERVE")
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Opens the ledger, or makes one: elsewhere first, so that a kill half-way leaves none.
    pub fn ledger(&self) -> Result<Ledger> {
        if !self.ledger_path().exists() {
            drop(self.fresh_ledger()?);
            self.take_fresh_ledger()?;
        }
        Ok(Ledger::open(&self.ledger_path())?)
    }

    /// Opens the ledger that is there. Returns `None` if there is none, or it cannot be opened.
    pub fn existing_ledger(&self) -> Option<Ledger> {
        let path = self.ledger_path();
        path.exists().then(|| Ledger::open(&path).ok()).flatten()
    }

    /// An empty ledger that waits to take the place of the one that is there.
    pub fn fresh_ledger(&self) -> Result<Ledger> {
        let fresh = self.root.join(FRESH);
        if fresh.exists() {
            fs::remove_dir_all(&fresh).context("cannot remove an unfinished ledger")?;
        }
        Ok(Ledger::open(&fresh)?)
    }

    /// Puts the fresh ledger, closed and complete, in the place of the one that is there. A kill or
    /// a power cut in between is made good at the next start.
    pub fn take_fresh_ledger(&self) -> Result<()> {
        fs::rename(self.root.join(FRESH), self.root.join(READY))
            .context("cannot rename the new ledger")?;
        // Before the old one is removed: a power cut must not leave neither.
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

    /// Makes created, renamed and removed names in the store's directory survive a power cut.
    pub fn sync(&self) -> Result<()> {
        let synced = File::open(&self.root).and_then(|root| root.sync_all());
        synced.with_context(|| format!("cannot sync {}", self.root.display()))
    }

    fn ledger_path(&self) -> PathBuf {
        self.root.join("ledger")
    }

    /// Where the archive is.
    pub fn archive(&self) -> PathBuf {
        archive(&self.root)
    }

    /// Where the index is.
    pub fn index(&self) -> PathBuf {
        index(&self.root)
    }
}

/// Whether the system refused with this number. The causes are of several libraries; what all of
/// them print is the number.
fn is_system_error(error: &anyhow::Error, number: rustix::io::Errno) -> bool {
    format!("{error:#}").contains(&format!("(os error {})", number.raw_os_error()))
}

/// Refuses a directory that is not a store of this format. Takes no lock, so that search works
/// while a crawl goes on.
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

/// Where the archive of the store at `root` is.
pub fn archive(root: &Path) -> PathBuf {
    root.join("archive")
}

/// Where the index of the store at `root` is.
pub fn index(root: &Path) -> PathBuf {
    root.join("index")
}

/// Where the log of searches of the store at `root` is.
pub fn log(root: &Path) -> PathBuf {
    root.join("log")
}

/// Whether a directory has a ledger or an archive, and no `FORMAT` file that any version writes.
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
    if found != FORMAT {
        bail!(
            "{} is of another version ({:?}, this program writes {:?}): use the program that made it, or `export warc` there and `import warc` here",
            root.display(),
            found.trim(),
            FORMAT.trim()
        );
    }
    Ok(())
}

/// Whether another process waits for a store that was [borrowed](Store::borrow). Nobody waits for longer than a while: who was killed meanwhile left a sign that says nothing.
pub fn is_wanted(root: &Path) -> bool {
    let since = fs::metadata(wanted(root)).and_then(|sign| sign.modified());
    let waits = |since: SystemTime| since.elapsed().unwrap_or_default() <= GIVEN_UP_WITHIN;
    since.is_ok_and(waits)
}

/// Another process has the store.
#[derive(Debug, thiserror::Error)]
#[error("the store {} is in use by process {owner}: stop it, or give another directory with --store", root.display())]
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

/// Asks whoever borrowed the store for it, and waits a while. Returns whether we have it.
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

/// Writes who has the store.
fn sign(mut file: File, how: &str, root: &Path) -> Result<File> {
    let mut write = || -> io::Result<()> {
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}{how}", std::process::id())
    };
    write().with_context(|| format!("cannot write {}", root.join("LOCK").display()))?;
    Ok(file)
}

/// Replaces a file as a whole: a reader sees the old one or the new one. A power cut may leave an
/// empty file, so this is for what is written all the time.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let fresh = path.with_extension("new");
    fs::write(&fresh, bytes)?;
    fs::rename(fresh, path)
}

/// Replaces a file as a whole, so that a power cut leaves the old one or the new one.
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

/// Where a running crawl writes what it knows of its sources.
pub fn sources(root: &Path) -> PathBuf {
    root.join("sources.json")
}

/// Where a running crawl writes how it goes.
pub fn state(root: &Path) -> PathBuf {
    root.join("state.json")
}

/// Where it writes the same in full.
pub fn snapshot(root: &Path) -> PathBuf {
    root.join("live.json")
}

/// Bytes of the files in a directory.
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
    fn a_store_has_lost_its_format_if_no_version_writes_what_the_file_says() {
        let root = tempfile::tempdir().unwrap();
        let format = root.path().join("FORMAT");
        assert!(
            !has_lost_format(root.path()),
            "an empty directory is no store"
        );
        fs::create_dir(archive(root.path())).unwrap();
        assert!(has_lost_format(root.path()), "none");
        for (text, lost) in [
            (FORMAT, false),
            ("avocet store, format 77\n", false),
            ("", true),
            ("avocet store, for", true),
            ("avocet store, format 4", true),
            ("avocet stnre, format 4\n", true),
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
    fn who_was_killed_while_waiting_wants_the_store_no_longer() {
        let root = tempfile::tempdir().unwrap();
        assert!(!is_wanted(root.path()));
        let sign = File::create(wanted(root.path())).unwrap();
        assert!(is_wanted(root.path()));
        let long_ago = SystemTime::now() - 2 * GIVEN_UP_WITHIN;
        sign.set_modified(long_ago).unwrap();
        assert!(!is_wanted(root.path()));
    }
}
