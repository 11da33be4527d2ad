//! Reads the response to a request that hyper sent.
//!
//! **Invariant:** a reply is bounded in time from the moment its request was sent: the head by
//! the first-byte limit, the body by [`body::read`].

use std::error::Error;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, StatusCode};
use hyper::body::{Body, Incoming};
use tokio::time::Instant;

use crate::body::{self, BodySource};
use crate::deadline::Deadline;
use crate::response::Truncation;
use crate::settings::FetchLimits;
use crate::trouble::Trouble;

/// A response head and as much of the body as arrived.
pub(crate) struct RawReply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Why the body is incomplete.
    pub(crate) cut: Option<Truncation>,
    /// When the head was complete.
    pub(crate) head_at: Instant,
}

/// Why there is no reply.
pub(crate) enum NoReply {
    /// The head was not complete before the deadline.
    Late,
    /// The connection or the stream failed.
    Broken(hyper::Error),
    /// The head violates a limit or the protocol.
    Refused(Trouble),
}

impl NoReply {
    /// Returns why a single HTTP/2 stream ended, if the rest of the connection is intact.
    pub(crate) fn of_stream(&self) -> Option<h2::Reason> {
        match self {
            Self::Broken(error) => stream_error(error),
            Self::Late | Self::Refused(_) => None,
        }
    }
}

/// Waits for a response and reads it. The caller must drive the connection meanwhile.
pub(crate) async fn read(
    sent: impl Future<Output = hyper::Result<http::Response<Incoming>>>,
    at_most: usize,
    limits: &FetchLimits,
    asked: Instant,
) -> Result<RawReply, NoReply> {
    let mut deadline = Deadline::at(asked + limits.first_byte.min(limits.total));
    let response = match deadline.before(sent).await {
        Some(Ok(response)) => response,
        Some(Err(error)) => return Err(NoReply::Broken(error)),
        None => return Err(NoReply::Late),
    };
    let head_at = Instant::now();
    let (parts, mut incoming) = response.into_parts();
    acceptable(parts.status, &parts.headers, limits).map_err(NoReply::Refused)?;
    let (body, cut) = body::read(&mut incoming, at_most, limits, asked, &mut deadline).await;
    Ok(RawReply {
        status: parts.status,
        headers: parts.headers,
        body,
        cut,
        head_at,
    })
}

/// Refuses a well-formed head that cannot be the answer to our request.
pub(crate) fn acceptable(
    status: StatusCode,
    headers: &HeaderMap,
    limits: &FetchLimits,
) -> Result<(), Trouble> {
    if status == StatusCode::SWITCHING_PROTOCOLS {
        return Err(Trouble::Protocol(
            "an upgrade that was not requested".to_owned(),
        ));
    }
    if headers.contains_key(CONTENT_LENGTH) && headers.contains_key(TRANSFER_ENCODING) {
        // RFC 9112, 6.1 and 6.3: a server must not send both. One of them gives a wrong end of
        // the body, and what follows would be taken for the next answer (response smuggling).
        return Err(Trouble::Protocol(
            "a Content-Length beside a Transfer-Encoding".to_owned(),
        ));
    }
    if headers.len() > limits.headers {
        return Err(Trouble::HeadTooLarge);
    }
    Ok(())
}

/// Returns why a single HTTP/2 stream ended; `None` if the error concerns the connection.
pub(crate) fn stream_error(error: &hyper::Error) -> Option<h2::Reason> {
    let cause = error.source()?.downcast_ref::<h2::Error>()?;
    cause.reason().filter(|_| cause.is_reset())
}

/// Maps an error of the transport to the reason why the body is incomplete.
pub(crate) fn broken(error: &io::Error, declared: bool) -> Truncation {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => ended(declared),
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => Truncation::Malformed,
        _ => Truncation::Reset,
    }
}

/// Returns the reason for a body that ended too early.
pub(crate) fn ended(declared: bool) -> Truncation {
    if declared {
        Truncation::Length
    } else {
        Truncation::Reset
    }
}

impl BodySource for Incoming {
    fn declared(&self) -> Option<u64> {
        self.size_hint().exact()
    }

    fn is_over(&self) -> bool {
        self.is_end_stream()
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Truncation>>> {
        loop {
            let declared = self.declared().is_some();
            return match std::task::ready!(Pin::new(&mut *self).poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => Poll::Ready(Some(Ok(data))),
                    Err(_trailers) => continue,
                },
                Some(Err(error)) => Poll::Ready(Some(Err(reason(&error, declared)))),
                None => Poll::Ready(None),
            };
        }
    }
}

/// Maps a hyper error to the reason why the body is incomplete.
fn reason(error: &hyper::Error, declared: bool) -> Truncation {
    if error.is_incomplete_message() {
        return ended(declared);
    }
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(inner) = cause {
        if let Some(error) = inner.downcast_ref::<io::Error>() {
            return broken(error, declared);
        }
        cause = inner.source();
    }
    Truncation::Reset
}
