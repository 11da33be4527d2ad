//! What comes of one request that hyper sends?
//!
//! **Invariant:** the session is clean again only when the answer was seen to its end and nothing came
//! after it.

use std::error::Error as _;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode, Version};
use tokio::time::Instant;

use super::Answer;
use super::session::{Session, has_two_lengths};
use crate::line::Line;
use crate::reply::{self, NoReply, Reply, stream_error};
use crate::request::{Request, write_fields};
use crate::response::Response;
use crate::settings::Limits;
use crate::socket::Socket;
use crate::trouble::Trouble;
use crate::wire::{Breach, Watch};

/// A line of hyper's, and what was seen on its wire where that is HTTP/1.
pub(super) struct Plain {
    pub(super) line: Line,
    watch: Watch,
    /// The server was taken to speak HTTP/2 and has not answered in it yet.
    presumed: bool,
}

impl Plain {
    pub(super) async fn begin(
        socket: Socket,
        version: Version,
        presumed: bool,
        limits: &Limits,
    ) -> Result<Self, Trouble> {
        let watch = Watch::new(limits);
        let line = if version == Version::HTTP_2 {
            Line::http2(socket, limits).await
        } else {
            Line::http1(socket, watch.clone(), limits).await
        };
        Ok(Self {
            line: line.map_err(|error| Trouble::Protocol(told(&error)))?,
            watch,
            presumed,
        })
    }

    /// Asks for a page and reads the whole answer.
    pub(super) async fn get(
        &mut self,
        session: &mut Session,
        request: &Request<'_>,
        at_most: usize,
    ) -> Answer {
        let asked = Instant::now();
        let outcome = if session.begin() {
            self.ask(session, request, at_most, asked).await
        } else {
            Err(session.unusable())
        };
        let total = asked.elapsed();
        let (bytes, first) = self.watch.received();
        let (wire_bytes, first_byte) = match &outcome {
            Ok((response, head_at)) if session.version() == Version::HTTP_2 => {
                (size(response), Some(*head_at))
            }
            _ => (bytes, first),
        };
        Answer {
            outcome: outcome.map(|(response, _)| response),
            first_byte: first_byte.map_or(total, |at| at.saturating_duration_since(asked)),
            total,
            wire_bytes,
        }
    }

    async fn ask(
        &mut self,
        session: &mut Session,
        request: &Request<'_>,
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
        self.watch.begin();
        let shared = Arc::clone(&session.shared);
        let sent = self.line.send(message);
        let reading = reply::read(sent, at_most, &shared.settings.limits, asked);
        let reply = match self.line.drive(reading).await {
            Ok(reply) => reply,
            Err(missed) => {
                let alone = missed.of_stream().is_some();
                let trouble = self.trouble_of(session, missed);
                if alone {
                    session.clean = true;
                } else {
                    self.line.close();
                }
                return Err(trouble);
            }
        };
        self.watch.end();
        if self.may_go_on(session, &reply) {
            self.line.settle().await;
            session.clean = true;
        } else {
            self.line.close();
        }
        let head_at = reply.head_at;
        let head = self.head(session, reply.status, &reply.headers);
        Ok((session.response(request.url, reply, head), head_at))
    }

    /// Whether the connection is open, as far as can be known without waiting.
    pub(super) async fn is_ready(&mut self) -> bool {
        self.line.settle().await;
        self.line.is_open()
    }

    /// Why the connection ended while no request was out.
    pub(super) fn ended_idle(&self, session: &Session) -> Trouble {
        if self.presumed {
            session.shared.manners.forget_http2(session.host);
            return Trouble::NotHttp2;
        }
        // Hyper itself finds bytes that came in one read with the end of the answer before.
        let unexpected = self.line.failure().is_some_and(|error| !has_ended(error));
        session.ended_idle(unexpected || self.watch.breach().is_some())
    }

    /// Counts an answer. Returns whether there can be another.
    pub(super) fn may_go_on(&mut self, session: &mut Session, reply: &Reply) -> bool {
        session.served += 1;
        self.presumed = false;
        if session.version() == Version::HTTP_2 {
            session.shared.manners.answered_http2(session.host);
        }
        let is_last = session.version() == Version::HTTP_10;
        !is_last && reply.cut.is_none() && !has_two_lengths(&reply.headers)
    }

    /// The head for the archive.
    pub(super) fn head(&self, session: &Session, status: StatusCode, headers: &HeaderMap) -> Bytes {
        if session.version() != Version::HTTP_2 {
            return self.watch.head();
        }
        let reason = status.canonical_reason().unwrap_or("");
        let line = format!("HTTP/1.1 {} {reason}\r\n", status.as_u16());
        let mut head = BytesMut::from(line.as_bytes());
        write_fields(headers, &mut head);
        head.freeze()
    }

    /// Why there is no head.
    pub(super) fn trouble_of(&mut self, session: &Session, missed: NoReply) -> Trouble {
        let manners = &session.shared.manners;
        if let Some(reason) = missed.of_stream() {
            // Who resets a stream speaks HTTP/2.
            self.presumed = false;
            if reason == h2::Reason::HTTP_1_1_REQUIRED {
                manners.forget_http2(session.host);
            } else {
                manners.reset_http2_stream(session.host);
            }
        }
        let error = match missed {
            NoReply::Broken(error) => error,
            NoReply::Refused(trouble) => return trouble,
            NoReply::Late => {
                if session.version() == Version::HTTP_2 {
                    manners.doubt_http2(session.host);
                }
                return Trouble::FirstByteTimeout;
            }
        };
        match self.watch.breach() {
            Some(Breach::Size) => return Trouble::HeadTooLarge,
            Some(Breach::Informational) => return Trouble::Informational,
            Some(Breach::Unasked) => return self.ended_idle(session),
            None => {}
        }
        if error.is_parse() {
            return Trouble::Protocol(told(&error));
        }
        if session.version() == Version::HTTP_2 {
            if stream_error(&error).is_some() {
                return Trouble::Http2(told(&error));
            }
            if self.presumed {
                manners.forget_http2(session.host);
                return Trouble::NotHttp2;
            }
            if !has_ended(&error) {
                manners.forget_http2(session.host);
                return Trouble::Http2(told(&error));
            }
        }
        let (bytes, _) = self.watch.received();
        if session.served > 0 && bytes == 0 {
            Trouble::Stale
        } else {
            Trouble::Reset
        }
    }
}

/// The size of an answer that came over HTTP/2.
pub(super) fn size(response: &Response) -> u64 {
    (response.head.len() + response.body.len()) as u64
}

/// Whether the connection simply ended.
fn has_ended(error: &hyper::Error) -> bool {
    let is_io = error
        .source()
        .is_some_and(|cause| cause.is::<std::io::Error>());
    error.is_incomplete_message() || error.is_closed() || error.is_canceled() || is_io
}

/// An error of hyper's with its cause.
fn told(error: &hyper::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
