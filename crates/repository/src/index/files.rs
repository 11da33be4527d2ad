//! The files of an index: removes those that no commit names, and checks those that one does.
//!
//! tantivy creates the file of a segment's deletions, `SEGMENT.OPSTAMP.del`, before the commit that
//! names it, and never overwrites a file. Opstamps continue from the last commit. So a process that
//! is killed between the two leaves an orphan, and the next process, which repeats the same
//! operations to catch up with the ledger, reaches the same opstamp and cannot create the file:
//! every later start would fail. Removing orphans before the first operation is the remedy.
//!
//! **Invariant:** only the holder of the writer's lock removes files, and never one that the last
//! commit names. Readers in other processes open only what a commit names.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tantivy::TantivyError;
use tantivy::directory::error::OpenReadError;

/// Bytes of index files that are checked when an index is opened for writing. The newest segments
/// come first: they were written last before a power cut. CRC-32 reads several gigabytes a second,
/// so this costs at most some hundred milliseconds; `verify` checks everything.
const CHECKED_BYTES: u64 = 512 << 20;

/// Removes the files that interrupted commits, merges and atomic writes left behind. Returns how
/// many. The caller holds the writer's lock.
pub(super) fn remove_orphans(dir: &Path, index: &tantivy::Index) -> Result<usize, TantivyError> {
    let named = index.load_metas()?.list_segment_files();
    let mut removed = 0;
    for entry in fs::read_dir(dir)? {
        let name = PathBuf::from(entry?.file_name());
        if (is_segment_file(&name) && !named.contains(&name)) || is_temporary(&name) {
            match fs::remove_file(dir.join(&name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
                _ => removed += 1,
            }
        }
    }
    Ok(removed)
}

/// Compares checksums of the files that the last commit names, newest first, up to a fixed number
/// of bytes. Returns the first file that is damaged.
pub(super) fn first_damaged(
    dir: &Path,
    index: &tantivy::Index,
) -> Result<Option<PathBuf>, TantivyError> {
    let mut files = Vec::new();
    for name in index.load_metas()?.list_segment_files() {
        // A commit names all files that a segment can have; it need not have all of them.
        if let Ok(found) = fs::metadata(dir.join(&name)) {
            files.push((found.modified()?, found.len(), name));
        }
    }
    files.sort_by(|one, other| other.cmp(one));
    let mut budget = CHECKED_BYTES;
    for (_, length, name) in files {
        let Some(left) = budget.checked_sub(length) else {
            break;
        };
        budget = left;
        match index.directory().validate_checksum(&name) {
            Ok(true) => {}
            // A footer that cannot be read is damage; what the system refuses is not.
            Err(OpenReadError::IoError { io_error, .. }) if io_error.raw_os_error().is_some() => {
                return Err(TantivyError::OpenReadError(OpenReadError::IoError {
                    io_error,
                    filepath: name,
                }));
            }
            Ok(false) | Err(_) => return Ok(Some(name)),
        }
    }
    Ok(None)
}

/// Whether tantivy names a segment's files so: 32 hexadecimal digits, then what the file holds.
fn is_segment_file(name: &Path) -> bool {
    let name = name.to_str().unwrap_or_default();
    name.split_once('.')
        .is_some_and(|(id, _)| id.len() == 32 && id.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// Whether an atomic write was killed before it renamed this file.
fn is_temporary(name: &Path) -> bool {
    name.to_str().is_some_and(|name| name.starts_with(".tmp"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_segments_and_unfinished_writes_can_be_orphans() {
        let segment = "0123456789abcdef0123456789abcdef";
        for name in [format!("{segment}.store"), format!("{segment}.3188.del")] {
            assert!(is_segment_file(Path::new(&name)), "{name}");
        }
        for name in [
            "meta.json",
            ".managed.json",
            ".tantivy-writer.lock",
            "0123.store",
        ] {
            assert!(!is_segment_file(Path::new(name)), "{name}");
            assert!(!is_temporary(Path::new(name)), "{name}");
        }
        assert!(is_temporary(Path::new(".tmpA1b2C3")));
    }
}
