//! The location of a record in the archive.

use serde::{Deserialize, Serialize};

/// The location of one record in the WARC files of a store.
///
/// The ledger stores the locations of a page's last answer and of its last copy. The archive reads
/// the records there.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct RecordLocation {
    /// The number of the file, from 1.
    pub file: u32,
    /// The first byte of the record's gzip member.
    pub offset: u64,
    /// The length of the member in bytes.
    pub length: u32,
}
