//! Requests that hyper sends.
//!
//! **Invariant:** the session becomes clean again in three cases only: the answer was read to its
//! end, the server reset the HTTP/2 stream of the request, or the request was not sent. A byte
//! after the end of an HTTP/1 answer ends the connection.

use std::error::Error as _;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode, Version};
use tokio::time::Instant;

use super::FetchAnswer;
use super::session::{Session, has_two_lengths};
use crate::hyper_connection::HyperConnection;
use crate::monitored_socket::ReadMonitor;
use crate::reply::{self, NoReply, RawReply, stream_error};
use crate::request::{FetchRequest, write_fields};
use crate::response::Response;
use crate::settings::FetchLimits;
use crate::socket::Socket;
use crate::trouble::Trouble;

/// A hyper connection and the record of what was read from its socket, for HTTP/1.
pub(super) struct HyperChannel {
    pub(super) hyper: HyperConnection,
    monitor: ReadMonitor,
    /// The server was assumed to speak HTTP/2 and has not answered in it yet.
    presumed: bool,
}

impl HyperChannel {
    pub(super) async fn begin(
        socket: Socket,
        version: Version,
        presumed: bool,
        limits: &FetchLimits,
    ) -> Result<Self, Trouble> {
        let monitor = ReadMonitor::new(limits);
        let hyper = if version == Version::HTTP_2 {
            HyperConnection::http2(socket, limits).await
        } else {
            HyperConnection::http1(socket, monitor.clone(), limits).await
        };
        Ok(Self {
            hyper: hyper.map_err(|error| Trouble::Protocol(with_cause(&error)))?,
            monitor,
            presumed,
        })
    }

    /// Requests a page and reads the whole answer.
    pub(super) async fn get(
        &mut self,
        session: &mut Session,
        request: &FetchRequest<'_>,
        at_most: usize,
    ) -> FetchAnswer {
        let asked = Instant::now();
        let outcome = if session.begin() {
            self.ask(session, request, at_most, asked).await
        } else {
            Err(session.unusable())
        };
        let total = asked.elapsed();
        let (bytes, first) = self.monitor.received();
        let (wire_bytes, first_byte) = match &outcome {
            Ok((response, head_at)) if session.version() == Version::HTTP_2 => {
                (size(response), Some(*head_at))
            }
            _ => (bytes, first),
        };
        FetchAnswer {
            outcome: outcome.map(|(response, _)| response),
            first_byte: first_byte.map_or(total, |at| at.saturating_duration_since(asked)),
            total,
            wire_bytes,
        }
    }

    async fn ask(
        &mut self,
        session: &mut Session,
        request: &FetchRequest<'_>,
        at_most: usize,
        asked: Instant,
    ) -> Result<(Response, Instant), Trouble> {
        // A request that cannot be sent leaves the connection as it was.
        let message = session
            .message(request)
            .inspect_err(|_| session.clean = true)?;
        if !self.is_ready().await {
            return Err(self.ended_idle(session));
        }
        self.monitor.begin();
        let shared = Arc::clone(&session.shared);
        let sent = self.hyper.send(message);
        let reading = reply::read(sent, at_most, &shared.settings.limits, asked);
        let reply = match self.hyper.drive(reading).await {
            Ok(reply) => reply,
            Err(missed) => {
                let alone = missed.of_stream().is_some();
                let trouble = self.trouble_of(session, missed);
                if alone {
                    session.clean = true;
                } else {
                    self.hyper.close();
                }
                return Err(trouble);
            }
        };
        self.monitor.end();
        if self.may_go_on(session, &reply) {
            self.hyper.settle().await;
            session.clean = true;
        } else {
            self.hyper.close();
        }
        let head_at = reply.head_at;
        let head = self.head(session, reply.status, &reply.headers);
        Ok((session.response(request.url, reply, head), head_at))
    }

    /// Returns whether the connection is open, as far as is known without waiting.
    pub(super) async fn is_ready(&mut self) -> bool {
        self.hyper.settle().await;
        self.hyper.is_open()
    }

    /// Returns why the connection ended while no request was in flight, and records a server that
    /// does not speak HTTP/2.
    pub(super) fn ended_idle(&self, session: &Session) -> Trouble {
        if self.presumed {
            session.shared.quirks.avoid_http2(session.host);
            return Trouble::NotHttp2;
        }
        // Hyper itself detects bytes that arrived in one read with the end of the previous
        // answer.
        let unexpected = self.hyper.failure().is_some_and(|error| !has_ended(error));
        session.ended_idle(unexpected || self.monitor.refusal().is_some())
    }

    /// Counts an answer. Returns whether the connection can carry another.
    pub(super) fn may_go_on(&mut self, session: &mut Session, reply: &RawReply) -> bool {
        session.served += 1;
        self.presumed = false;
        if session.version() == Version::HTTP_2 {
            session.shared.quirks.answered_http2(session.host);
        }
        let is_last = session.version() == Version::HTTP_10;
        !is_last && reply.cut.is_none() && !has_two_lengths(&reply.headers)
    }

    /// Returns the response head for the archive: as received, or for HTTP/2 written as HTTP/1.1.
    pub(super) fn head(&self, session: &Session, status: StatusCode, headers: &HeaderMap) -> Bytes {
        if session.version() != Version::HTTP_2 {
            return self.monitor.head();
        }
        let reason = status.canonical_reason().unwrap_or("");
        let line = format!("HTTP/1.1 {} {reason}\r\n", status.as_u16());
        let mut head = BytesMut::from(line.as_bytes());
        write_fields(headers, &mut head);
        head.freeze()
    }

    /// Returns the trouble of a request that got no acceptable response head, and records what
    /// this says about the server.
    pub(super) fn trouble_of(&mut self, session: &Session, missed: NoReply) -> Trouble {
        let quirks = &session.shared.quirks;
        if let Some(reason) = missed.of_stream() {
            // A server that resets a stream speaks HTTP/2.
            self.presumed = false;
            if reason == h2::Reason::HTTP_1_1_REQUIRED {
                quirks.avoid_http2(session.host);
            } else {
                quirks.reset_http2_stream(session.host);
            }
        }
        let error = match missed {
            NoReply::Broken(error) => error,
            NoReply::Refused(trouble) => return trouble,
            NoReply::Late => {
                if session.version() == Version::HTTP_2 {
                    quirks.avoid_http2_unless_answered(session.host);
                }
                return Trouble::FirstByteTimeout;
            }
        };
        match self.monitor.refusal() {
            Some(Trouble::Unsolicited) => return self.ended_idle(session),
            Some(exceeded) => return exceeded,
            None => {}
        }
        if error.is_parse() {
            return Trouble::Protocol(with_cause(&error));
        }
        if session.version() == Version::HTTP_2 {
            if stream_error(&error).is_some() {
                return Trouble::Http2(with_cause(&error));
            }
            if self.presumed {
                quirks.avoid_http2(session.host);
                return Trouble::NotHttp2;
            }
            if !has_ended(&error) {
                quirks.avoid_http2(session.host);
                return Trouble::Http2(with_cause(&error));
            }
        }
        let (bytes, _) = self.monitor.received();
        if session.served > 0 && bytes == 0 {
            Trouble::Stale
        } else {
            Trouble::Reset
        }
    }
}

/// Returns the size in bytes of a response received over HTTP/2.
pub(super) fn size(response: &Response) -> u64 {
    (response.head.len() + response.body.len()) as u64
}

/// Returns whether the connection was closed without a protocol error.
fn has_ended(error: &hyper::Error) -> bool {
    let is_io = error
        .source()
        .is_some_and(|cause| cause.is::<std::io::Error>());
    error.is_incomplete_message() || error.is_closed() || error.is_canceled() || is_io
}

/// Formats a hyper error with its cause.
fn with_cause(error: &hyper::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
