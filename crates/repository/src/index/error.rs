//! Errors of the index, by what the caller can do about them.
//!
//! **Invariant:** damage (make the index again), a full or failing disk (make room, replace it) and
//! a second writer (stop it) are different errors.

use std::io;
use std::path::{Path, PathBuf};

use tantivy::TantivyError;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};

/// A fault of the index or of the disk under it.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// It cannot be used and must be made again from the archive.
    #[error("the index in {} is damaged: the next `avocet crawl` or `avocet run` makes it again, and so does `avocet rebuild`", dir.display())]
    Damaged {
        /// The directory of the index.
        dir: PathBuf,
        /// What is wrong with it.
        source: Damage,
    },
    /// Another writer is at work.
    #[error("the index in {} has another writer: stop the other process", dir.display())]
    Busy {
        /// The directory of the index.
        dir: PathBuf,
    },
    /// An operation failed.
    #[error("cannot {action} the index in {}", dir.display())]
    Failed {
        /// What was tried: "open", "commit", …
        action: &'static str,
        /// The directory of the index.
        dir: PathBuf,
        /// Why it failed.
        source: TantivyError,
    },
}

/// What is wrong with an index.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// A file is missing or does not hold what it should.
    #[error("a file is missing or corrupt")]
    Files(#[source] TantivyError),
    /// A file does not have the checksum that it was written with.
    #[error("the checksum of {} is wrong", .0.display())]
    Checksum(PathBuf),
    /// It was made by another version of the program.
    #[error("it was made by another version")]
    Schema,
    /// The last commit carries no sequence of ours.
    #[error("the last commit carries no sequence")]
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
            // What the system refuses carries its number; the rest is wrong in the bytes.
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

    /// Whether the disk, a quota or a file size limit is exhausted, so that making room helps.
    pub fn is_full(&self) -> bool {
        let Self::Failed { source, .. } = self else {
            return false;
        };
        io_error(source).is_some_and(|error| {
            matches!(
                error.kind(),
                io::ErrorKind::StorageFull
                    | io::ErrorKind::QuotaExceeded
                    | io::ErrorKind::FileTooLarge
            )
        })
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

    /// `EROFS`, which says nothing about room; Linux, `errno-base.h`.
    const READ_ONLY: i32 = 30;

    #[test]
    fn faults_are_told_apart() {
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
