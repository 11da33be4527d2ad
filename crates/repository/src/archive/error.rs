//! Errors of the archive, by what the caller can do about them.
//!
//! **Invariant:** every error names the file; what is wrong with bytes also names the offset.
//! A full disk can be told from a broken one.

use std::io;
use std::path::{Path, PathBuf};

use super::{End, files};

/// A fault of the archive or of the disk under it.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The system refused a file operation.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried: "open", "write to", …
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// Why the system refused.
        source: io::Error,
    },
    /// The file ends within a record: the writer was killed, or the file was cut short.
    #[error("{} ends within the record at byte {offset}", path.display())]
    Torn {
        /// The file.
        path: PathBuf,
        /// Where the incomplete record starts.
        offset: u64,
    },
    /// A record cannot be read; those after it may be.
    #[error("the record at byte {offset} of {} is damaged", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where the record, or the member around it, starts.
        offset: u64,
        /// What is wrong with it.
        source: Fault,
    },
    /// The ledger counts on bytes that the file no longer has.
    #[error("{} has {found} bytes, but {committed} were committed: bring it back from a backup, or run `avocet rebuild --accept-loss` to do without what is gone", path.display())]
    Short {
        /// The file.
        path: PathBuf,
        /// Its length.
        found: u64,
        /// The length the ledger committed.
        committed: u64,
    },
    /// The index of a closed file is missing or does not say what the file holds.
    #[error("the index {} does not say what its file holds: `avocet rebuild` makes it again", path.display())]
    WrongIndex {
        /// The index.
        path: PathBuf,
        /// The number of its file.
        file: u32,
    },
    /// An earlier write or sync failed. What reached the disk is unknown (the kernel drops
    /// unwritten pages after reporting the error once), so only opening the archive anew helps.
    #[error("the archive in {} must be opened again after a failed write", dir.display())]
    Stopped {
        /// The directory of the archive.
        dir: PathBuf,
    },
}

/// What is wrong with the bytes of a record.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The gzip member does not decode, or its check sum is wrong.
    #[error("the gzip member does not decode")]
    Gzip(#[source] io::Error),
    /// It does not start with `WARC/`.
    #[error("not a WARC record")]
    NotWarc,
    /// Its header goes on beyond what a reader should hold.
    #[error("the header is longer than {0} bytes")]
    LongHeader(usize),
    /// Its header says no length, or one that is not a number.
    #[error("the header gives no valid Content-Length")]
    Length,
    /// The block is larger than the reader was told to hold; the record was passed over.
    #[error("the block of {0} bytes is over the limit")]
    Large(u64),
    /// The gzip member decodes to far more than any record needs.
    #[error("the gzip member is a bomb")]
    Bomb,
    /// Too many records before it were damaged; the rest of the file was not read.
    #[error("too many damaged records, the rest was not read")]
    Hopeless,
    /// The member is longer or shorter than its location says.
    #[error("the member does not fill its location")]
    Misplaced,
}

impl ArchiveError {
    /// Where the record begins that is torn or damaged. `None` for other errors.
    pub fn place(&self) -> Option<End> {
        match self {
            Self::Torn { path, offset } | Self::Damaged { path, offset, .. } => Some(End {
                file: files::number(path)?,
                offset: *offset,
            }),
            _ => None,
        }
    }

    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }

    /// Whether the disk, a quota or a file size limit is exhausted, so that making room helps.
    pub fn is_full(&self) -> bool {
        let Self::Io { source, .. } = self else {
            return false;
        };
        matches!(
            source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
        )
    }
}
