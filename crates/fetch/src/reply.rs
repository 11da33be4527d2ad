//! What came of one request that hyper sent?
//!
//! **Invariant:** a reply is bounded in time from the moment its request was sent: its head by the time to
//! the first byte, its body by [`body::read`].

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

use crate::body::{self, Source};
use crate::deadline::Deadline;
use crate::response::Truncation;
use crate::settings::Limits;
use crate::trouble::Trouble;

/// A head and what came of its body.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Why the body is not whole.
    pub(crate) cut: Option<Truncation>,
    /// When the head was there.
    pub(crate) head_at: Instant,
}

/// Why there is no reply.
pub(crate) enum NoReply {
    /// No head in time.
    Late,
    /// The connection or the stream failed.
    Broken(hyper::Error),
    /// The head is one that is refused.
    Refused(Trouble),
}

impl NoReply {
    /// Returns why one stream of HTTP/2 ended, where only that one did.
    pub(crate) fn of_stream(&self) -> Option<h2::Reason> {
        match self {
            Self::Broken(error) => stream_error(error),
            Self::Late | Self::Refused(_) => None,
        }
    }
}

/// Waits for an answer and reads it, while somebody else drives the line.
pub(crate) async fn read(
    sent: impl Future<Output = hyper::Result<http::Response<Incoming>>>,
    at_most: usize,
    limits: &Limits,
    asked: Instant,
) -> Result<Reply, NoReply> {
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
    Ok(Reply {
        status: parts.status,
        headers: parts.headers,
        body,
        cut,
        head_at,
    })
}

/// Refuses a head that is proper HTTP and yet no answer to what was asked.
pub(crate) fn acceptable(
    status: StatusCode,
    headers: &HeaderMap,
    limits: &Limits,
) -> Result<(), Trouble> {
    if status == StatusCode::SWITCHING_PROTOCOLS {
        return Err(Trouble::Protocol(
            "an upgrade that nobody asked for".to_owned(),
        ));
    }
    if headers.contains_key(CONTENT_LENGTH) && headers.contains_key(TRANSFER_ENCODING) {
        // RFC 9112, 6.1 and 6.3: no server may send both. One of the two ends the body elsewhere, and what
        // follows would be taken for the next answer (response smuggling).
        return Err(Trouble::Protocol(
            "a Content-Length beside a Transfer-Encoding".to_owned(),
        ));
    }
    if headers.len() > limits.headers {
        return Err(Trouble::HeadTooLarge);
    }
    Ok(())
}

/// Why one stream of HTTP/2 ended, if the error is of one stream and not of the connection.
pub(crate) fn stream_error(error: &hyper::Error) -> Option<h2::Reason> {
    let cause = error.source()?.downcast_ref::<h2::Error>()?;
    cause.reason().filter(|_| cause.is_reset())
}

/// Why a body ends with an error of the transport.
pub(crate) fn broken(error: &io::Error, declared: bool) -> Truncation {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => ended(declared),
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => Truncation::Malformed,
        _ => Truncation::Reset,
    }
}

/// Why a body ends before its end.
pub(crate) fn ended(declared: bool) -> Truncation {
    if declared {
        Truncation::Length
    } else {
        Truncation::Reset
    }
}

impl Source for Incoming {
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

/// Why hyper gave a body up.
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
