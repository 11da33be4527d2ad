//! An answer over HTTP: from the live crawl, from our archive, or from an imported file.
//!
//! One shape for the three, so that a page is judged by the same code wherever it comes from.

use bytes::Bytes;
use page::{Directives, PageUrl, Refusal};

/// An answer over HTTP.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// The type it claims.
    pub content_type: Option<String>,
    /// Its validators.
    pub etag: Option<String>,
    /// Its validators.
    pub last_modified: Option<String>,
    /// The language it claims to be in.
    pub language: Option<String>,
    /// Where it sends us.
    pub location: Option<Result<PageUrl, Refusal>>,
    /// The WebSub hub that its `Link` fields name.
    pub hub: Option<PageUrl>,
    /// What its `X-Robots-Tag` forbids.
    pub directives: Directives,
    /// The decoded body.
    pub content: Bytes,
    /// SHA-1 of the body as it came.
    pub payload: [u8; 20],
    /// What was cut off, as a kind.
    pub truncated: Option<&'static str>,
}
