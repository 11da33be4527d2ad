//! Errors of the index, distinguished by what the caller can do about them.
//!
//! **Invariant:** these are different errors: damage (recreate the index), a full or failing
//! disk (free space, replace it) and a second writer (stop it).

use std::io;
use std::path::{Path, PathBuf};

use tantivy::TantivyError;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};

/// An error of the index or of the disk under it.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The index cannot be used and must be recreated from the archive.
    #[error("the index in {} is damaged: the next `avocet crawl` or `avocet run` recreates it, and so does `avocet rebuild`", dir.display())]
    Damaged {
        /// The directory of the index.
        dir: PathBuf,
        /// What is wrong with it.
        source: Damage,
    },
    /// Another process writes to the index.
    #[error("the index in {} has another writer: stop the other process", dir.display())]
    Busy {
        /// The directory of the index.
        dir: PathBuf,
    },
    /// An operation failed.
    #[error("cannot {action} the index in {}", dir.display())]
    Failed {
        /// The operation: "open", "commit", …
        action: &'static str,
        /// The directory of the index.
        dir: PathBuf,
        /// The cause.
        source: TantivyError,
    },
}

/// What is wrong with an index.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// A file is missing or corrupt.
    #[error("a file is missing or corrupt")]
    Files(#[source] TantivyError),
    /// A file does not match its checksum.
    #[error("the checksum of {} is wrong", .0.display())]
    Checksum(PathBuf),
    /// Another version of the program created the index.
    #[error("another version of the program created it")]
    Schema,
    /// The last commit has no valid ledger sequence.
    #[error("the last commit has no valid ledger sequence")]
    Sequence,
}

impl IndexError {
    pub(super) fn new(action: &'static str, dir: &Path, source: TantivyError) -> Self {
        let dir = dir.to_path_buf();
        match &source {
            TantivyError::LockFailure(LockError::LockBusy, _) => Self::Busy { dir },
            TantivyError::IncompatibleIndex(_)
            | TantivyError::OpenReadError(OpenReadError::IncompatibleIndex(_)) => Self::Damaged {
                dir,
                source: Damage::Schema,
            },
            TantivyError::DataCorruption(_)
            | TantivyError::DeserializeError(_)
            | TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(_))
            | TantivyError::OpenWriteError(OpenWriteError::FileAlreadyExists(_)) => Self::Damaged {
                dir,
                source: Damage::Files(source),
            },
            // Errors of the operating system carry an error number. All others are caused by the
            // bytes.
            other => match io_error(other) {
                Some(error) if error.raw_os_error().is_none() => Self::Damaged {
                    dir,
                    source: Damage::Files(source),
                },
                _ => Self::Failed {
                    action,
                    dir,
                    source,
                },
            },
        }
    }

    /// Returns whether the disk, a quota or a file size limit is exhausted, so that freeing
    /// space helps.
    pub fn is_full(&self) -> bool {
        let Self::Failed { source, .. } = self else {
            return false;
        };
        io_error(source).is_some_and(crate::is_full)
    }
}

fn io_error(error: &TantivyError) -> Option<&io::Error> {
    match error {
        TantivyError::IoError(error)
        | TantivyError::LockFailure(LockError::IoError(error), _)
        | TantivyError::OpenDirectoryError(OpenDirectoryError::IoError {
            io_error: error, ..
        })
        | TantivyError::OpenReadError(OpenReadError::IoError {
            io_error: error, ..
        })
        | TantivyError::OpenWriteError(OpenWriteError::IoError {
            io_error: error, ..
        }) => Some(error),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `EROFS` (Linux, `errno-base.h`), which is unrelated to free space.
    const READ_ONLY: i32 = 30;

    #[test]
    fn a_full_disk_damage_and_a_second_writer_are_different_errors() {
        let sort = |error: io::Error| IndexError::new("commit", Path::new("i"), error.into());
        // ENOSPC, EFBIG, EDQUOT.
        for number in [28, 27, 122] {
            assert!(
                sort(io::Error::from_raw_os_error(number)).is_full(),
                "{number}"
            );
        }
        let read_only = sort(io::Error::from_raw_os_error(READ_ONLY));
        assert!(matches!(read_only, IndexError::Failed { .. }) && !read_only.is_full());
        assert!(matches!(
            sort(io::ErrorKind::UnexpectedEof.into()),
            IndexError::Damaged { .. }
        ));
        let busy = TantivyError::LockFailure(LockError::LockBusy, None);
        assert!(matches!(
            IndexError::new("open", Path::new("i"), busy),
            IndexError::Busy { .. }
        ));
    }
}
