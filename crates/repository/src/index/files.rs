//! Removes the index files that the last commit does not name, and verifies the checksums of the
//! newest files that it names.
//!
//! tantivy creates the file of a segment's deletions, `SEGMENT.OPSTAMP.del`, before the commit
//! that names it, and never overwrites a file. Opstamps continue from the last commit. A process
//! that is killed in between leaves an orphan. The next process repeats the same operations to
//! catch up with the ledger, reaches the same opstamp and cannot create the file. Then every
//! later start would fail. So orphans are removed before the first operation.
//!
//! **Invariant:** only the holder of the writer's lock removes files, and never one that the
//! last commit names. Readers in other processes open only files that a commit names.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tantivy::TantivyError;
use tantivy::directory::error::OpenReadError;

/// Maximum bytes of index files that [`first_damaged`] reads.
///
/// The newest files are checked first: they were written last before a power cut. CRC-32
/// processes several gigabytes per second, so this takes at most a few hundred milliseconds.
/// [`Index::verify`](super::Index::verify) checks everything.
const CHECKED_BYTES: u64 = 512 << 20;

/// Removes the files that interrupted commits, merges and atomic writes left. Returns how many
/// were removed. The caller holds the writer's lock.
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

/// Compares the checksums of the files that the last commit names, newest first, up to
/// [`CHECKED_BYTES`]. Returns the first damaged file, or `None` if none of these is damaged.
pub(super) fn first_damaged(
    dir: &Path,
    index: &tantivy::Index,
) -> Result<Option<PathBuf>, TantivyError> {
    let mut files = Vec::new();
    for name in index.load_metas()?.list_segment_files() {
        // A commit names all files that a segment can have. Some of them need not exist.
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
            // An unreadable footer is damage. An error of the operating system is not.
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

/// Returns whether this is the name of a segment file: 32 hexadecimal digits and a suffix.
fn is_segment_file(name: &Path) -> bool {
    let name = name.to_str().unwrap_or_default();
    name.split_once('.')
        .is_some_and(|(id, _)| id.len() == 32 && id.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// Returns whether this is the temporary file of an atomic write that was killed before the
/// rename.
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
