//! Sealing: turns an answer into a compressed WARC record that is ready to be appended.
//!
//! **Invariant:** a sealed record is one whole gzip member whose header describes its block
//! exactly. No byte that came from the web can end a header line: every value passes through
//! [`field`].
//!
//! Sealing is a pure function: the record id and the digests are derived from its arguments.

use std::net::IpAddr;

use jiff::Timestamp;
use page::PageUrl;

use super::cdxj::{self, CdxjEntry};
use super::digest::{self, PayloadDigest};
use super::gzip::{self, Level};
use super::head;

/// An HTTP answer to store.
#[derive(Debug, Clone)]
pub struct Capture<'a> {
    url: &'a PageUrl,
    at: Timestamp,
    address: IpAddr,
    head: &'a [u8],
    body: &'a [u8],
    truncated: Option<Truncated>,
    digest: PayloadDigest,
}

/// Why a body is incomplete (WARC 1.1, section 5.13).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truncated {
    /// It exceeded the size limit.
    Length,
    /// It exceeded the time limit.
    Time,
    /// The connection was closed before the end of the body.
    Disconnect,
    /// Another reason.
    Unspecified,
}

/// Why an answer is stored without its body (WARC 1.1, section 6.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// The body equals that of an earlier capture.
    IdenticalPayload,
    /// The server answered 304 Not Modified.
    NotModified,
}

/// The earlier capture that a revisit refers to.
#[derive(Debug, Clone, Copy)]
pub struct Original<'a> {
    /// Its URL.
    pub url: &'a PageUrl,
    /// When it was fetched.
    pub at: Timestamp,
    /// The digest of its body.
    pub digest: PayloadDigest,
}

/// A record ready to be appended: one gzip member.
#[derive(Debug, Clone)]
pub struct Sealed {
    pub(super) bytes: Vec<u8>,
    pub(super) at: Timestamp,
    pub(super) entry: CdxjEntry,
}

impl<'a> Capture<'a> {
    /// Creates a capture and hashes its body.
    ///
    /// `head` is the response head as received, with its blank line. `body` has no transfer
    /// encoding but still has its content encoding.
    pub fn new(
        url: &'a PageUrl,
        at: Timestamp,
        address: IpAddr,
        head: &'a [u8],
        body: &'a [u8],
        truncated: Option<Truncated>,
    ) -> Self {
        let digest = PayloadDigest::of(&[body]);
        Self {
            url,
            at,
            address,
            head,
            body,
            truncated,
            digest,
        }
    }

    /// Returns the digest of the body, which shows whether the body must be stored again.
    pub fn digest(&self) -> PayloadDigest {
        self.digest
    }
}

impl Sealed {
    /// Returns the gzip member.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns its size in the archive, in bytes.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }
}

/// Seals an answer with its body.
pub fn response(capture: &Capture<'_>, level: Level) -> Sealed {
    let head = head::stored(capture.head, Some(capture.body.len()));
    let mut header = header("response", capture, capture.digest);
    if let Some(truncated) = capture.truncated {
        field(&mut header, "WARC-Truncated", truncated.name());
    }
    let mime = head::media_type(&head);
    seal(
        capture,
        header,
        &head,
        capture.body,
        capture.digest,
        mime,
        level,
    )
}

/// Seals an answer whose body is already in the archive.
pub fn revisit(
    capture: &Capture<'_>,
    original: &Original<'_>,
    profile: Profile,
    level: Level,
) -> Sealed {
    let length = match profile {
        Profile::IdenticalPayload => Some(capture.body.len()),
        Profile::NotModified => None,
    };
    let head = head::stored(capture.head, length);
    let at = millis(original.at);
    let id = digest::record_id("response", original.url.as_str(), at, original.digest);
    let mut header = header("revisit", capture, original.digest);
    field(&mut header, "WARC-Profile", profile.uri());
    field(&mut header, "WARC-Refers-To", &id);
    field(
        &mut header,
        "WARC-Refers-To-Target-URI",
        original.url.as_str(),
    );
    field(&mut header, "WARC-Refers-To-Date", &date(original.at));
    let mime = Some(cdxj::REVISIT.to_owned());
    seal(capture, header, &head, &[], original.digest, mime, level)
}

/// Seals the record at the beginning of a file; `lines` are its fields.
pub(super) fn warcinfo(
    filename: &str,
    at: Timestamp,
    lines: &[(&str, &str)],
    level: Level,
) -> Vec<u8> {
    let mut block = String::new();
    for (name, value) in lines {
        field(&mut block, name, value);
    }
    let digest = PayloadDigest::of(&[block.as_bytes()]);
    let mut header = String::from("WARC/1.1\r\n");
    field(&mut header, "WARC-Type", "warcinfo");
    field(
        &mut header,
        "WARC-Record-ID",
        &digest::record_id("warcinfo", filename, millis(at), digest),
    );
    field(&mut header, "WARC-Date", &date(at));
    field(&mut header, "WARC-Filename", filename);
    field(&mut header, "WARC-Block-Digest", &digest.to_string());
    field(&mut header, "Content-Type", "application/warc-fields");
    field(&mut header, "Content-Length", &block.len().to_string());
    header.push_str("\r\n");
    gzip::member(&[header.as_bytes(), block.as_bytes(), b"\r\n\r\n"], level)
}

fn header(kind: &str, capture: &Capture<'_>, payload: PayloadDigest) -> String {
    let url = capture.url.as_str();
    let mut header = String::with_capacity(768 + url.len());
    header.push_str("WARC/1.1\r\n");
    field(&mut header, "WARC-Type", kind);
    field(
        &mut header,
        "WARC-Record-ID",
        &digest::record_id(kind, url, millis(capture.at), payload),
    );
    field(&mut header, "WARC-Target-URI", url);
    field(&mut header, "WARC-Date", &date(capture.at));
    field(
        &mut header,
        "WARC-IP-Address",
        &capture.address.to_canonical().to_string(),
    );
    field(&mut header, "WARC-Payload-Digest", &payload.to_string());
    header
}

fn seal(
    capture: &Capture<'_>,
    mut header: String,
    head: &[u8],
    body: &[u8],
    digest: PayloadDigest,
    mime: Option<String>,
    level: Level,
) -> Sealed {
    field(
        &mut header,
        "WARC-Block-Digest",
        &PayloadDigest::of(&[head, body]).to_string(),
    );
    field(
        &mut header,
        "Content-Type",
        "application/http;msgtype=response",
    );
    field(
        &mut header,
        "Content-Length",
        &(head.len() + body.len()).to_string(),
    );
    header.push_str("\r\n");
    let entry = CdxjEntry {
        url: capture.url.as_str().into(),
        millis: millis(capture.at),
        status: head::status(head),
        mime: mime.map(String::into_boxed_str),
        digest: Some(digest),
    };
    let bytes = gzip::member(&[header.as_bytes(), head, body, b"\r\n\r\n"], level);
    Sealed {
        bytes,
        at: capture.at,
        entry,
    }
}

/// Writes one header line. Control characters, which could end the line or the header, are
/// percent-encoded (hostile-web.md, row 79).
fn field(out: &mut String, name: &str, value: &str) {
    escape(out, name);
    out.push_str(": ");
    escape(out, value);
    out.push_str("\r\n");
}

fn escape(out: &mut String, text: &str) {
    if !text.contains(char::is_control) {
        out.push_str(text);
        return;
    }
    for c in text.chars() {
        if !c.is_control() {
            out.push(c);
            continue;
        }
        for byte in c.to_string().bytes() {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
}

/// Returns Unix milliseconds. Dates in records have this resolution, so record ids use it too.
fn millis(at: Timestamp) -> i64 {
    at.as_millisecond()
}

fn date(at: Timestamp) -> String {
    let cut = Timestamp::from_millisecond(millis(at)).unwrap_or(at);
    format!("{cut:.3}")
}

impl Truncated {
    fn name(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::Time => "time",
            Self::Disconnect => "disconnect",
            Self::Unspecified => "unspecified",
        }
    }
}

impl Profile {
    fn uri(self) -> &'static str {
        match self {
            Self::IdenticalPayload => {
                "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
            }
            Self::NotModified => "http://netpreserve.org/warc/1.1/revisit/server-not-modified",
        }
    }
}
