//! An HTTP answer from the live crawl, our archive or an imported file.
//!
//! All three use one type, so that the same code judges a page wherever it comes from.

use bytes::Bytes;
use page::{Directives, PageUrl, Refusal};

/// An HTTP answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The `Content-Type`.
    pub content_type: Option<String>,
    /// The `ETag`, for conditional requests.
    pub etag: Option<String>,
    /// The `Last-Modified` date, for conditional requests.
    pub last_modified: Option<String>,
    /// The `Content-Language`.
    pub language: Option<String>,
    /// The target of a redirect.
    pub location: Option<Result<PageUrl, Refusal>>,
    /// The WebSub hub that its `Link` header names.
    pub hub: Option<PageUrl>,
    /// The directives of its `X-Robots-Tag`.
    pub directives: Directives,
    /// The decoded body.
    pub content: Bytes,
    /// SHA-1 of the body as received. `None`: neither the archive nor the last copy has it, and the
    /// verdict hashes the content by [`page::body_hash`].
    pub payload: Option<[u8; 20]>,
    /// The error code of a body that is incomplete or cannot be decoded.
    pub truncated: Option<&'static str>,
}
