//! What do these bytes say?
//!
//! Pure: bytes and strings in, values out. No I/O, no clock, no chance. What a page says is
//! hostile until proven otherwise, so every reader here streams and is bounded.

pub mod url;

pub use url::{HostId, PageId, PageUrl, Refusal};
