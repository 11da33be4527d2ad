//! A parser for HTTP/1 responses, used for pipelined answers, which hyper does not support.
//!
//! `httparse` parses the status line and the fields; the body follows by its framing. The parser
//! has neither socket nor clock. It accepts and refuses what hyper does (hostile-web.md, rows 8
//! to 16), so that a page is the same with and without pipelining.
//!
//! **Invariant:** exactly the bytes of one response are consumed, however they are split into
//! reads.

mod in_memory;

use bytes::{Buf, Bytes, BytesMut};
use http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Version};

use crate::chunks::{BodyPiece, Chunks, NotChunks};
use crate::heads::{HeadLimits, HeadStep, Heads};
use crate::trouble::Trouble;

pub use in_memory::{ReadResponse, read_response};

/// The first bytes of every response head.
const BEGINNING: &[u8] = b"HTTP/1.";

/// The parser of one response.
pub(crate) struct ResponseReader {
    heads: Heads,
    body: Framing,
    limits: HeadLimits,
}

/// The head of a response.
#[derive(Debug)]
pub(crate) struct ResponseHead {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// The bytes as received.
    pub(crate) verbatim: Bytes,
    /// Whether another response may follow this one.
    pub(crate) keeps_open: bool,
}

/// How the end of a body is determined.
enum Framing {
    /// By a length; the given number of bytes is left.
    Length(u64),
    Chunks(Chunks),
    /// By the end of the connection.
    End,
}

impl ResponseReader {
    pub(crate) fn new(limits: HeadLimits) -> Self {
        Self {
            heads: Heads::new(limits),
            body: Framing::Length(0),
            limits,
        }
    }

    /// Consumes bytes of the head. Returns `None` when more are needed.
    pub(crate) fn head(&mut self, bytes: &mut BytesMut) -> Result<Option<ResponseHead>, Trouble> {
        let mut line_ended = false;
        while !bytes.is_empty() {
            let (taken, step) = self.heads.take(bytes)?;
            bytes.advance(taken);
            match step {
                HeadStep::Within => {}
                HeadStep::Line => line_ended = true,
                HeadStep::Informational => {
                    parse(self.heads.so_far(), self.limits)?.ok_or_else(|| not_http("no head"))?;
                    line_ended = false;
                }
                HeadStep::Final => {
                    let heads = std::mem::take(&mut self.heads);
                    return self.complete(heads.into_final()).map(Some);
                }
            }
        }
        // A server of another protocol may send a banner without a line end, then nothing more.
        let so_far = self.heads.so_far();
        let begun = so_far.len().min(BEGINNING.len());
        let is_empty_line = so_far == b"\r";
        if so_far[..begun] != BEGINNING[..begun] && !is_empty_line {
            return Err(not_http("invalid HTTP version"));
        }
        if line_ended {
            parse(self.heads.lines_so_far(), self.limits)?;
        }
        Ok(None)
    }

    /// Checks the incomplete head when the connection ends. `Ok` means it was valid so far.
    pub(crate) fn end_of_head(&self) -> Result<(), Trouble> {
        parse(self.heads.so_far(), self.limits).map(|_| ())
    }

    /// Consumes the next piece of the body.
    pub(crate) fn piece(&mut self, bytes: &mut BytesMut) -> Result<BodyPiece, NotChunks> {
        let length = match &mut self.body {
            Framing::Chunks(chunks) => return chunks.next(bytes),
            Framing::Length(0) => return Ok(BodyPiece::End),
            Framing::Length(left) => {
                let length = usize::try_from(*left)
                    .unwrap_or(usize::MAX)
                    .min(bytes.len());
                *left -= length as u64;
                length
            }
            Framing::End => bytes.len(),
        };
        if length == 0 {
            return Ok(BodyPiece::More);
        }
        Ok(BodyPiece::Data(bytes.split_to(length).freeze()))
    }

    /// Returns the bytes of the body that are declared and not received yet.
    pub(crate) fn declared(&self) -> Option<u64> {
        match self.body {
            Framing::Length(left) => Some(left),
            Framing::Chunks(_) | Framing::End => None,
        }
    }

    /// Returns whether the response is complete.
    pub(crate) fn is_over(&self) -> bool {
        match &self.body {
            Framing::Length(left) => *left == 0,
            Framing::Chunks(chunks) => chunks.is_over(),
            Framing::End => false,
        }
    }

    /// Returns whether the body extends to the end of the connection.
    pub(crate) fn ends_with_connection(&self) -> bool {
        matches!(self.body, Framing::End)
    }

    fn complete(&mut self, verbatim: Bytes) -> Result<ResponseHead, Trouble> {
        let parsed = parse(&verbatim, self.limits)?.ok_or_else(|| not_http("no head"))?;
        let ParsedHead {
            status,
            version,
            headers,
        } = parsed;
        self.body = framing(status, version, &headers, self.limits)?;
        Ok(ResponseHead {
            keeps_open: keeps_open(version, &headers) && !self.ends_with_connection(),
            status,
            headers,
            verbatim,
        })
    }
}

struct ParsedHead {
    status: StatusCode,
    version: Version,
    headers: HeaderMap,
}

/// Parses a head. Returns `None` where it is valid but incomplete.
fn parse(head: &[u8], limits: HeadLimits) -> Result<Option<ParsedHead>, Trouble> {
    let mut fields = vec![httparse::EMPTY_HEADER; limits.fields];
    let mut response = httparse::Response::new(&mut fields);
    match response.parse(head) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(Trouble::HeadTooLarge),
        Err(error) => return Err(not_http(&error.to_string())),
    }
    let mut headers = HeaderMap::with_capacity(response.headers.len());
    for field in response.headers.iter() {
        let name = HeaderName::from_bytes(field.name.as_bytes());
        let value = HeaderValue::from_bytes(field.value);
        let (Ok(name), Ok(value)) = (name, value) else {
            return Err(not_http("invalid header field"));
        };
        if headers.try_append(name, value).is_err() {
            return Err(Trouble::HeadTooLarge);
        }
    }
    Ok(Some(ParsedHead {
        status: response
            .code
            .and_then(|code| StatusCode::from_u16(code).ok())
            .ok_or_else(|| not_http("invalid status code"))?,
        version: match response.version {
            Some(1) => Version::HTTP_11,
            _ => Version::HTTP_10,
        },
        headers,
    }))
}

/// Determines the framing of the answer to a GET (RFC 9112, 6.3).
fn framing(
    status: StatusCode,
    version: Version,
    headers: &HeaderMap,
    limits: HeadLimits,
) -> Result<Framing, Trouble> {
    if matches!(status.as_u16(), 101 | 204 | 304) {
        return Ok(Framing::Length(0));
    }
    if let Some(last) = headers.get_all(TRANSFER_ENCODING).iter().next_back() {
        if version == Version::HTTP_10 {
            return Err(not_http("unexpected transfer-encoding"));
        }
        let is_chunked = last_of(last).is_some_and(|coding| coding.eq_ignore_ascii_case("chunked"));
        return Ok(if is_chunked {
            Framing::Chunks(Chunks::new(limits))
        } else {
            Framing::End
        });
    }
    if !headers.contains_key(CONTENT_LENGTH) {
        return Ok(Framing::End);
    }
    let mut lengths = headers.get_all(CONTENT_LENGTH).iter().flat_map(lengths);
    let first = lengths.next().flatten();
    match first {
        Some(length) if lengths.all(|other| other == first) => Ok(Framing::Length(length)),
        _ => Err(not_http("invalid content-length")),
    }
}

/// Returns the lengths in a field, which may be a list; `None` for an invalid one.
fn lengths(value: &HeaderValue) -> impl Iterator<Item = Option<u64>> {
    let text = value.to_str().unwrap_or("");
    text.split(',').map(|length| {
        let digits = length.trim();
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        // Hyper reserves the two largest numbers.
        let fits = |length: &u64| *length <= u64::MAX - 2;
        digits.parse().ok().filter(fits).filter(|_| is_number)
    })
}

fn last_of(value: &HeaderValue) -> Option<&str> {
    value.to_str().ok()?.rsplit(',').next().map(str::trim)
}

/// RFC 9112, 9.3: HTTP/1.1 connections stay open unless `close` is sent; HTTP/1.0 ones close
/// unless `keep-alive` is sent.
fn keeps_open(version: Version, headers: &HeaderMap) -> bool {
    let says = |wanted: &str| {
        let values = headers.get_all(CONNECTION).iter();
        values
            .filter_map(|value| value.to_str().ok())
            .flat_map(|text| text.split(','))
            .any(|option| option.trim().eq_ignore_ascii_case(wanted))
    };
    !says("close") && (version == Version::HTTP_11 || says("keep-alive"))
}

fn not_http(reason: &str) -> Trouble {
    Trouble::Protocol(reason.to_owned())
}

#[cfg(test)]
mod tests;
