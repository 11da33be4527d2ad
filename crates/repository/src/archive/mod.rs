//! The archive: numbered WARC 1.1 files with one gzip member per record.
//!
//! **Invariant:** the bytes of a file up to the last committed [`End`] are whole records and never
//! change, unless the operator has records [cut out](Cuts). A file has the suffix `.open` until it
//! is complete, synced and has its CDXJ index. When the archive is opened, the writer counts the
//! records after the committed end. A killed writer can have left up to [`ArchiveOptions::at_risk`]
//! of them: these are cut off, or their file is set aside. More of them mean that the ledger has
//! lost commits. Then all records stay, and the archive continues in a new file.
//!
//! The thread that fetched a capture [seals](seal) it, because compression is the expensive
//! part. The single [`ArchiveWriter`] appends it. The writer also [copies](ArchiveWriter::keep)
//! the live records out of a file, so that the file can be deleted (garbage collection). [`read`]
//! reads one record, [`scan`] all of them in order. [`Records`] also reads the WARC files of other
//! tools. In a cluster, [`read`] also finds the records of [other nodes](elsewhere).

mod captures;
mod cdxj;
mod collect;
mod cut;
mod digest;
pub mod elsewhere;
mod error;
mod files;
mod gzip;
mod head;
mod indexes;
mod input;
mod parse;
mod record;
mod records;
mod scan;
pub mod seal;
mod writer;

pub use captures::{Captures, FiledAnswer, StoredAnswer, answers_in, captures};
pub use collect::{Moved, sizes};
pub use cut::{Cuts, remove_unfinished, replace, write_without};
pub use digest::PayloadDigest;
pub use elsewhere::{fetched, is_own, shared};
pub use error::{ArchiveError, Fault};
pub use gzip::Level;
pub use indexes::{Inventory, make_index, verify};
pub use page::RecordLocation;
pub use page::coding::{CodingLimits, Content, Cut};
pub use record::{RecordKind, WarcRecord};
pub use records::{BLOCK_LIMIT, FoundRecord, Records};
pub use scan::{ArchiveScan, read, scan};
pub use seal::{Capture, Original, Profile, Sealed, Truncated};
pub use writer::{ArchiveOptions, ArchiveWriter, Discrepancy, Info, MAX_BYTES};

use serde::{Deserialize, Serialize};

/// Where the next record will be written. Everything before is in the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct End {
    /// The number of the file, from 1.
    pub file: u32,
    /// The length of that file in bytes.
    pub offset: u64,
}
