//! Errors of the archive, distinguished by what the caller can do about them.
//!
//! **Invariant:** every error names the file or directory; an error in a record also names its
//! offset. A full disk is distinguishable from a failing disk.

use std::io;
use std::path::{Path, PathBuf};

use super::{End, files};

/// An error of the archive or of the disk under it.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The operating system refused a file operation.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// The operation: "open", "write to", …
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file ends within a record: the writer was killed, or the file was truncated.
    #[error("{} ends within the record at byte {offset}", path.display())]
    Torn {
        /// The file.
        path: PathBuf,
        /// Where the incomplete record starts.
        offset: u64,
    },
    /// A record cannot be read. Records after it may be readable.
    #[error("the record at byte {offset} of {} is damaged", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where the record, or the gzip member around it, starts.
        offset: u64,
        /// What is wrong with it.
        source: Fault,
    },
    /// The ledger refers to bytes that the file no longer has.
    #[error("{} has {found} bytes, but {committed} were committed: restore it from a backup, or run `avocet rebuild --accept-loss` to continue without the lost records", path.display())]
    Short {
        /// The file.
        path: PathBuf,
        /// Its length.
        found: u64,
        /// The length the ledger committed.
        committed: u64,
    },
    /// The index of a closed file is missing or does not match the file.
    #[error("the index {} does not match its file: `avocet rebuild` recreates it", path.display())]
    WrongIndex {
        /// The index.
        path: PathBuf,
        /// The number of its file.
        file: u32,
    },
    /// An earlier write or sync failed. Only opening the archive again helps.
    ///
    /// What reached the disk is unknown: the kernel reports the error once and may then drop the
    /// data that it has not written.
    #[error("the archive in {} must be opened again after a failed write", dir.display())]
    Stopped {
        /// The directory of the archive.
        dir: PathBuf,
    },
}

/// What is wrong with the bytes of a record.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The gzip member does not decode, or its checksum is wrong.
    #[error("the gzip member does not decode")]
    Gzip(#[source] io::Error),
    /// The record does not start with `WARC/`.
    #[error("not a WARC record")]
    NotWarc,
    /// The header, or the run of line ends between two records, is longer than this number of
    /// bytes.
    #[error("the header is longer than {0} bytes")]
    LongHeader(usize),
    /// The header has no Content-Length, or one that is not a number or is greater than the rest
    /// of the gzip member.
    #[error("the header gives no valid Content-Length")]
    Length,
    /// The block is larger than the caller's limit. The record was skipped.
    #[error("the block of {0} bytes is over the limit")]
    Large(u64),
    /// A block above the caller's limit expands by a factor of more than 100 (a decompression
    /// bomb).
    #[error("the gzip member is a decompression bomb")]
    Bomb,
    /// Too many damaged records came before; the rest of the file was not read.
    #[error("too many damaged records, the rest was not read")]
    Hopeless,
    /// The gzip member is longer or shorter than its location states, or contains no record or
    /// several records although the archive has one record per member.
    #[error(
        "the gzip member does not hold exactly one record, or its length differs from the recorded length"
    )]
    Misplaced,
}

impl ArchiveError {
    /// Returns where the torn or damaged record begins. Returns `None` for other errors, and for
    /// a file that is not one of an archive.
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

    /// Returns whether the disk, a quota or a file size limit is exhausted, so that freeing
    /// space helps.
    pub fn is_full(&self) -> bool {
        let Self::Io { source, .. } = self else {
            return false;
        };
        crate::is_full(source)
    }
}
