//! A WARC record: its header, and the HTTP response in its block.
//!
//! **Invariant:** the block is kept as it was read; body and content are decoded only on demand. A
//! field that is missing or invalid is `None`, never an error.

use std::borrow::Cow;
use std::net::IpAddr;

use jiff::Timestamp;
use page::{PageUrl, coding};

use super::digest::PayloadDigest;
use super::parse::Header;
use super::{CodingLimits, Content, head};

/// The type of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordKind {
    /// A response of a server, with its body.
    Response,
    /// A response whose body equals an earlier one (a 304, or the same bytes); it has no body.
    Revisit,
    /// A description of the file itself.
    Warcinfo,
    /// Any other type: `request`, `metadata`, `resource`, …; empty if the header has no type.
    Other(String),
}

/// A record of a WARC file.
#[derive(Debug, Clone)]
pub struct WarcRecord {
    kind: RecordKind,
    fields: Vec<(String, String)>,
    block: Vec<u8>,
    /// Where the HTTP head ends in the block; 0 if there is no head.
    head_end: usize,
}

impl WarcRecord {
    pub(super) fn new(header: Header, block: Vec<u8>) -> Self {
        let mut record = Self {
            kind: RecordKind::Warcinfo,
            fields: header.fields,
            block,
            head_end: 0,
        };
        record.kind = match record
            .field("WARC-Type")
            .map(str::to_ascii_lowercase)
            .as_deref()
        {
            Some("response") => RecordKind::Response,
            Some("revisit") => RecordKind::Revisit,
            Some("warcinfo") => RecordKind::Warcinfo,
            other => RecordKind::Other(other.unwrap_or_default().to_owned()),
        };
        // A `response` record can also contain DNS data; only HTTP has a head. Some tools write
        // the head of a revisit without its blank line.
        if matches!(record.kind, RecordKind::Response | RecordKind::Revisit)
            && record.block.starts_with(b"HTTP/")
        {
            record.head_end = head::end(&record.block).unwrap_or(record.block.len());
        }
        record
    }

    /// Returns the type.
    pub fn kind(&self) -> &RecordKind {
        &self.kind
    }

    /// Returns the value of a field of the WARC header.
    pub fn field(&self, name: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        fields
            .find(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// Returns the URL of the page. Returns `None` for other schemes (`dns:`, `urn:`, `file:`).
    pub fn url(&self) -> Option<PageUrl> {
        let text = self.field("WARC-Target-URI")?;
        // Wget wrote the URL in angle brackets up to version 1.20.
        let text = text
            .strip_prefix('<')
            .and_then(|t| t.strip_suffix('>'))
            .unwrap_or(text);
        PageUrl::parse(text).ok()
    }

    /// Returns the `WARC-Date`: when the page was fetched.
    pub fn at(&self) -> Option<Timestamp> {
        self.field("WARC-Date")?.parse().ok()
    }

    /// Returns the digest of the body as stated in the header.
    pub fn payload_digest(&self) -> Option<PayloadDigest> {
        PayloadDigest::parse(self.field("WARC-Payload-Digest")?)
    }

    /// Returns whether the block matches the digest in the header. Returns `None` if the header
    /// has no digest that can be checked.
    pub fn is_intact(&self) -> Option<bool> {
        let promised = PayloadDigest::parse(self.field("WARC-Block-Digest")?)?;
        Some(promised == PayloadDigest::of(&[&self.block]))
    }

    /// Returns the whole block, as stored.
    pub fn block(&self) -> &[u8] {
        &self.block
    }

    /// Returns the head of the HTTP response, with its final blank line if it has one. Returns
    /// an empty slice if the block is not an HTTP response.
    pub fn head(&self) -> &[u8] {
        &self.block[..self.head_end]
    }

    /// Returns the HTTP status.
    pub fn status(&self) -> Option<u16> {
        head::status(self.head())
    }

    /// Returns the first value of an HTTP header field.
    pub fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        head::values(self.head(), name)
            .next()
            .map(String::from_utf8_lossy)
    }

    /// Returns all values of an HTTP header field.
    pub fn headers(&self, name: &str) -> Vec<Cow<'_, str>> {
        head::values(self.head(), name)
            .map(String::from_utf8_lossy)
            .collect()
    }

    /// Returns the IP address that the response came from.
    pub fn address(&self) -> Option<IpAddr> {
        self.field("WARC-IP-Address")?.parse().ok()
    }

    /// Returns the media type that the server stated, in lower case, without parameters.
    pub fn media_type(&self) -> Option<String> {
        head::media_type(self.head())
    }

    /// Returns the body without transfer encoding: other tools store the chunks as they arrived.
    /// If the head says `chunked` but the body has no valid chunks, the body is returned
    /// unchanged.
    pub fn body(&self) -> Cow<'_, [u8]> {
        let body = &self.block[self.head_end..];
        let chunked = head::values(self.head(), "transfer-encoding")
            .any(|value| value.to_ascii_lowercase().ends_with(b"chunked"));
        match chunked.then(|| dechunk(body)).flatten() {
            Some(whole) => Cow::Owned(whole),
            None => Cow::Borrowed(body),
        }
    }

    /// Returns the body without transfer and content encoding, within limits. The default limits
    /// are those for answers from the network (hostile-web.md, row 81).
    pub fn content(&self, limits: CodingLimits) -> Content<'_> {
        let codings = head::values(self.head(), "content-encoding");
        coding::decode(self.body(), codings, limits)
    }
}

/// Joins the chunks of RFC 9112, section 7.1. The last chunk may be truncated or missing. Returns
/// `None` if a chunk does not begin with a valid size line.
fn dechunk(mut body: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::with_capacity(body.len());
    while !body.is_empty() {
        let line_end = body.iter().position(|&byte| byte == b'\n')?;
        let line = &body[..line_end];
        let digits = line.split(|&byte| byte == b';').next()?.trim_ascii();
        let size = usize::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        body = &body[line_end + 1..];
        if size == 0 {
            break;
        }
        let (chunk, rest) = body.split_at(size.min(body.len()));
        whole.extend_from_slice(chunk);
        body = rest
            .strip_prefix(b"\r\n")
            .or(rest.strip_prefix(b"\n"))
            .unwrap_or(rest);
    }
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunked_bodies_are_joined() {
        let check = |body: &[u8], expected: Option<&[u8]>| {
            assert_eq!(dechunk(body).as_deref(), expected, "{body:?}");
        };
        check(b"", Some(b""));
        check(b"3\r\nabc\r\n0\r\n\r\n", Some(b"abc"));
        check(
            b"3;ext=1\r\nabc\r\n A \r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n",
            Some(b"abc0123456789"),
        );
        check(b"3\nabc\n0\n\n", Some(b"abc"));
        check(b"ffff\r\ncut sho", Some(b"cut sho"));
        check(b"<html>no chunks</html>\n", None);
        check(b"-1\r\nabc", None);
        check(b"ffffffffffffffffffff\r\nabc", None);
    }
}
