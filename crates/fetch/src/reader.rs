//! What is a response, byte by byte?
//!
//! The reader of pipelined answers, which hyper has none for: status line and fields by `httparse`, then
//! the body by its framing. It has neither socket nor clock. It accepts what hyper accepts and refuses what
//! hyper refuses (hostile-web.md, rows 8 to 16), so that a page is the same in both.
//!
//! **Invariant:** the bytes of one response are taken and not one more, however they are cut into reads.

mod in_memory;

use bytes::{Buf, Bytes, BytesMut};
use http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Version};

use crate::chunks::{Chunk, Chunks, NotChunks};
use crate::heads::{Excess, HeadLimits, Heads, Step};
use crate::trouble::Trouble;

pub use in_memory::{ReadResponse, read_response};

/// How every head begins.
const BEGINNING: &[u8] = b"HTTP/1.";

/// The reader of one response.
pub(crate) struct Reader {
    heads: Heads,
    body: Framing,
    limits: HeadLimits,
}

/// The head of a response.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// As it came.
    pub(crate) verbatim: Bytes,
    /// Whether another response may follow this one.
    pub(crate) keeps_open: bool,
}

/// How the end of a body is told.
enum Framing {
    /// So many bytes are left.
    Length(u64),
    Chunks(Chunks),
    /// By the end of the connection.
    End,
}

impl Reader {
    pub(crate) fn new(limits: HeadLimits) -> Self {
        Self {
            heads: Heads::new(limits),
            body: Framing::Length(0),
            limits,
        }
    }

    /// Takes what belongs to the head; `None` when more bytes are needed.
    pub(crate) fn head(&mut self, bytes: &mut BytesMut) -> Result<Option<Head>, Trouble> {
        let mut line_ended = false;
        while !bytes.is_empty() {
            let (taken, step) = self.heads.take(bytes)?;
            bytes.advance(taken);
            match step {
                Step::Within => {}
                Step::Line => line_ended = true,
                Step::Informational => {
                    parse(self.heads.so_far(), self.limits)?.ok_or_else(|| not_http("no head"))?;
                    line_ended = false;
                }
                Step::Final => {
                    let heads = std::mem::take(&mut self.heads);
                    return self.complete(heads.into_final()).map(Some);
                }
            }
        }
        // A banner of another protocol may be all that ever comes.
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

    /// What the head is if the connection ends here: `Ok` where it might have gone on well.
    pub(crate) fn end_of_head(&self) -> Result<(), Trouble> {
        parse(self.heads.so_far(), self.limits).map(|_| ())
    }

    /// Takes the next piece of the body from the bytes at hand.
    pub(crate) fn piece(&mut self, bytes: &mut BytesMut) -> Result<Chunk, NotChunks> {
        let length = match &mut self.body {
            Framing::Chunks(chunks) => return chunks.next(bytes),
            Framing::Length(0) => return Ok(Chunk::End),
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
            return Ok(Chunk::More);
        }
        Ok(Chunk::Data(bytes.split_to(length).freeze()))
    }

    /// The bytes of the body that are declared and have not come.
    pub(crate) fn declared(&self) -> Option<u64> {
        match self.body {
            Framing::Length(left) => Some(left),
            Framing::Chunks(_) | Framing::End => None,
        }
    }

    /// Whether the response is complete.
    pub(crate) fn is_over(&self) -> bool {
        match &self.body {
            Framing::Length(left) => *left == 0,
            Framing::Chunks(chunks) => chunks.is_over(),
            Framing::End => false,
        }
    }

    /// Whether the body is complete where the connection ends.
    pub(crate) fn ends_with_connection(&self) -> bool {
        matches!(self.body, Framing::End)
    }

    fn complete(&mut self, verbatim: Bytes) -> Result<Head, Trouble> {
        let parsed = parse(&verbatim, self.limits)?.ok_or_else(|| not_http("no head"))?;
        let Parsed {
            status,
            version,
            headers,
        } = parsed;
        self.body = framing(status, version, &headers, self.limits)?;
        Ok(Head {
            keeps_open: keeps_open(version, &headers) && !self.ends_with_connection(),
            status,
            headers,
            verbatim,
        })
    }
}

struct Parsed {
    status: StatusCode,
    version: Version,
    headers: HeaderMap,
}

/// Parses a head; `None` where it is proper and has not ended.
fn parse(head: &[u8], limits: HeadLimits) -> Result<Option<Parsed>, Trouble> {
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
    Ok(Some(Parsed {
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

/// RFC 9112, 6.3, for the answer to a GET.
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

/// The lengths in a field, which may be a list; `None` for what is none.
fn lengths(value: &HeaderValue) -> impl Iterator<Item = Option<u64>> {
    let text = value.to_str().unwrap_or("");
    text.split(',').map(|length| {
        let digits = length.trim();
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        // Hyper keeps the two largest numbers for itself.
        let fits = |length: &u64| *length <= u64::MAX - 2;
        digits.parse().ok().filter(fits).filter(|_| is_number)
    })
}

fn last_of(value: &HeaderValue) -> Option<&str> {
    value.to_str().ok()?.rsplit(',').next().map(str::trim)
}

/// RFC 9112, 9.3: HTTP/1.1 stays open unless it says otherwise, HTTP/1.0 closes unless it says otherwise.
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

impl From<Excess> for Trouble {
    fn from(excess: Excess) -> Self {
        match excess {
            Excess::Size => Self::HeadTooLarge,
            Excess::Informational => Self::Informational,
        }
    }
}

#[cfg(test)]
mod tests;
