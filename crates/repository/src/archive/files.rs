//! The names of the archive's files, and the operations on whole files.
//!
//! **Invariant:** a name is derived from a number, never from anything that came from the web. A
//! file is either open, closed or set aside, and its name says which.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::ArchiveError;

const PREFIX: &str = "avocet-";
const CLOSED: &str = ".warc.gz";
const OPEN: &str = ".warc.gz.open";

/// Returns the path of a file while it is written.
pub(super) fn open(dir: &Path, number: u32) -> PathBuf {
    dir.join(format!("{PREFIX}{number:08}{OPEN}"))
}

/// Returns the path of a complete file.
pub(super) fn closed(dir: &Path, number: u32) -> PathBuf {
    dir.join(format!("{PREFIX}{number:08}{CLOSED}"))
}

/// Returns the path of the index of a closed file.
pub(super) fn cdxj(dir: &Path, number: u32) -> PathBuf {
    dir.join(format!("{PREFIX}{number:08}.cdxj"))
}

/// Returns the path of the closed file with this number if it exists, otherwise of the open one.
pub(super) fn existing(dir: &Path, number: u32) -> PathBuf {
    let closed = closed(dir, number);
    if closed.exists() {
        closed
    } else {
        open(dir, number)
    }
}

/// Returns the path of a file that has at least `length` bytes: of the archive, or of another node
/// ([`elsewhere`](super::elsewhere)). If no file is long enough, returns the path of the first one
/// that exists, or the path that it would have in the archive.
pub(super) fn holding(dir: &Path, number: u32, length: u64) -> PathBuf {
    let own = existing(dir, number);
    let others = [super::fetched(dir), super::shared(dir)].map(|dir| closed(&dir, number));
    let candidates = || std::iter::once(&own).chain(&others);
    let long = |path: &&PathBuf| fs::metadata(path).is_ok_and(|found| found.len() >= length);
    let found = candidates().find(long);
    let found = found.or_else(|| candidates().find(|path| path.exists()));
    found.unwrap_or(&own).clone()
}

/// Returns the last part of a path, as a record or an index names the file.
pub(super) fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Lists all files of the archive by number, without those that were set aside.
pub(super) fn list(dir: &Path) -> Result<Vec<(u32, PathBuf)>, ArchiveError> {
    let fail = || ArchiveError::io("list", dir);
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(fail())? {
        let name = entry.map_err(fail())?.file_name();
        if let Some(number) = name.to_str().and_then(number_in) {
            files.push((number, dir.join(name)));
        }
    }
    files.sort();
    Ok(files)
}

/// Renames a file that was never committed: the archive ignores it, but its bytes remain on disk.
pub(super) fn set_aside(path: &Path) -> Result<PathBuf, ArchiveError> {
    let named = |count: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".uncommitted-{count}"));
        PathBuf::from(name)
    };
    let mut names = (1..).map(named).skip_while(|aside| aside.exists());
    let aside = names.next().expect("a directory has fewer than 2^32 files");
    fs::rename(path, &aside).map_err(ArchiveError::io("rename", path))?;
    Ok(aside)
}

/// Removes a file if it exists. A process that was killed earlier may have removed it already.
pub(super) fn remove(path: &Path) -> Result<(), ArchiveError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(ArchiveError::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// Syncs a directory, so that created, renamed and removed entries survive a power cut.
pub(super) fn sync_dir(dir: &Path) -> Result<(), ArchiveError> {
    let synced = File::open(dir).and_then(|handle| handle.sync_all());
    synced.map_err(ArchiveError::io("sync", dir))
}

/// Returns the number of an archive file, open or closed. Returns `None` for any other path.
pub(super) fn number(path: &Path) -> Option<u32> {
    number_in(path.file_name()?.to_str()?)
}

fn number_in(name: &str) -> Option<u32> {
    let rest = name.strip_prefix(PREFIX)?;
    let digits = rest
        .strip_suffix(CLOSED)
        .or_else(|| rest.strip_suffix(OPEN))?;
    let number = digits.parse().ok()?;
    // Each number has exactly one name: `avocet-1.warc.gz` is not a file of the archive.
    (digits == format!("{number:08}")).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_one_name_and_other_names_have_none() {
        let dir = Path::new("");
        for file in [1, 7, 99_999_999, u32::MAX] {
            assert_eq!(number(&closed(dir, file)), Some(file));
            assert_eq!(number(&open(dir, file)), Some(file));
            assert_eq!(number(&cdxj(dir, file)), None);
        }
        for other in [
            "avocet-1.warc.gz",
            "avocet-00000001.warc",
            "avocet-+0000001.warc.gz",
            "avocet-00000001.warc.gz.open.uncommitted-1",
            "other-00000001.warc.gz",
            "avocet-99999999999.warc.gz",
        ] {
            assert_eq!(number(Path::new(other)), None, "{other}");
        }
    }
}
