//! An HTTP answer from the live crawl, our archive or an imported file.
//!
//! All three use one type, so that the same code judges a page wherever it comes from.

use std::borrow::Cow;

use bytes::Bytes;
use page::media::{self, Media};
use page::{Directives, PageUrl, Refusal, charset};

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
    /// The text of a body that is a document, or the error code of one that cannot be read.
    /// `None`: the body is no document, or documents are not read.
    pub document: Option<Result<DocumentText, &'static str>>,
}

/// The text of a PDF, Office, OpenDocument or EPUB file. The driver reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentText {
    /// The format by its usual file extension, such as `pdf`.
    pub format: &'static str,
    /// The content as an HTML page.
    pub html: String,
    /// Whether the text is incomplete because a limit cut it.
    pub cut: bool,
}

/// The text of an answer, by how it is parsed.
#[derive(Debug)]
pub enum AnswerText<'a> {
    /// An HTML page, or a document as one.
    Html(Cow<'a, str>),
    /// Plain text.
    Plain(Cow<'a, str>),
}

impl Answer {
    /// Returns the text of the answer; `None` if it is no page, or a document that was not read.
    pub fn text(&self) -> Option<AnswerText<'_>> {
        let declared = self.content_type.as_deref();
        let decoded = || charset::decode(&self.content, declared).0;
        match media::kind(declared, &self.content) {
            Media::Html => Some(AnswerText::Html(decoded())),
            Media::Text => Some(AnswerText::Plain(decoded())),
            Media::Document => {
                let document = self.document.as_ref()?.as_ref().ok()?;
                Some(AnswerText::Html(Cow::Borrowed(&document.html)))
            }
            Media::Feed | Media::Sitemap | Media::Xml | Media::Other => None,
        }
    }

    /// Returns the format of a document that was read.
    pub fn document_format(&self) -> Option<&'static str> {
        let document = self.document.as_ref()?.as_ref().ok()?;
        Some(document.format)
    }
}
