//! Storage of fetched pages, and search in them.
//!
//! The [`archive`] holds the answers of the web as WARC records; it is the source of truth. The
//! [`index`] is derived from it and can always be recreated. The [`log`] holds the searches and
//! clicks of users.
//!
//! [`changes`] lists what crawls found new, changed or gone.
//!
//! The code is synchronous and reads neither a clock nor random numbers: time is an argument,
//! and record ids are derived from the content.

pub mod archive;
pub mod changes;
pub mod index;
pub mod log;

use std::io::{self, ErrorKind};

/// Returns whether the disk, a quota or a file size limit is exhausted.
fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
    )
}
