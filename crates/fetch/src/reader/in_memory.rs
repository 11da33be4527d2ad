//! Reads one response from bytes in memory, for the tests of [`ResponseReader`] and the fuzz
//! target `http`.

use bytes::BytesMut;
use http::HeaderMap;

use super::ResponseReader;
use crate::chunks::{BodyPiece, NotChunks};
use crate::reply;
use crate::response::Truncation;
use crate::settings::FetchLimits;

/// The result of reading one response.
#[derive(Debug, Clone, PartialEq)]
pub enum ReadResponse {
    /// The head was accepted.
    Whole {
        /// The status code.
        status: u16,
        /// The fields of the head.
        headers: HeaderMap,
        /// The body, without its transfer coding.
        body: Vec<u8>,
        /// Why the body is not complete.
        cut: Option<Truncation>,
    },
    /// The bytes ended before the head was complete.
    Ended,
    /// The head was refused, by this [`Trouble::kind`](crate::Trouble::kind).
    Refused(&'static str),
}

/// Reads one response from bytes that arrive in these pieces, after which the connection ends.
///
/// Returns the response, whether another may follow, and the bytes that were left.
pub fn read_response(pieces: &[&[u8]], limits: &FetchLimits) -> (ReadResponse, bool, Vec<u8>) {
    let mut reader = ResponseReader::new(limits.into());
    let mut pieces = pieces.iter();
    let mut bytes = BytesMut::new();
    let head = loop {
        match reader.head(&mut bytes) {
            Ok(Some(head)) => break head,
            Ok(None) => match pieces.next() {
                Some(piece) => bytes.extend_from_slice(piece),
                None => {
                    let read = match reader.end_of_head() {
                        Ok(()) => ReadResponse::Ended,
                        Err(trouble) => ReadResponse::Refused(trouble.kind()),
                    };
                    return (read, false, bytes.to_vec());
                }
            },
            Err(trouble) => return (ReadResponse::Refused(trouble.kind()), false, bytes.to_vec()),
        }
    };
    assert!(head.verbatim.len() <= limits.head);
    if let Err(trouble) = reply::acceptable(head.status, &head.headers, limits) {
        return (ReadResponse::Refused(trouble.kind()), false, bytes.to_vec());
    }
    let mut body = Vec::new();
    let cut = loop {
        match reader.piece(&mut bytes) {
            Ok(BodyPiece::Data(data)) => {
                assert!(!data.is_empty());
                body.extend_from_slice(&data);
            }
            Ok(BodyPiece::End) => break None,
            Ok(BodyPiece::More) => match pieces.next() {
                Some(piece) => bytes.extend_from_slice(piece),
                None if reader.ends_with_connection() => break None,
                None => break Some(reply::ended(reader.declared().is_some())),
            },
            Err(NotChunks) => break Some(Truncation::Malformed),
        }
    };
    let left = [&bytes[..], &pieces.copied().collect::<Vec<_>>().concat()].concat();
    let read = ReadResponse::Whole {
        status: head.status.as_u16(),
        headers: head.headers,
        body,
        cut,
    };
    (read, head.keeps_open && cut.is_none(), left)
}
