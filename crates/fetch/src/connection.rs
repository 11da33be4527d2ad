//! What does the server answer?
//!
//! **Invariant:** a connection leads to one server, and every request gets exactly one answer. When
//! anything is wrong with the connection (stray bytes, a lying length, an answer given up half-way, a
//! request that was abandoned), it is not used again.

mod pipelined;
mod plain;
mod session;
mod streams;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::Version;
use page::url::PageUrl;

use crate::pipeline::Pipeline;
use crate::request::{Request, Template};
use crate::response::Response;
use crate::settings::Http;
use crate::shared::Shared;
use crate::socket::Socket;
use crate::trouble::Trouble;
use plain::Plain;
use session::Session;

/// A connection to one server.
pub struct Connection {
    session: Session,
    speech: Speech,
    address: SocketAddr,
    connect_time: Duration,
}

/// How requests and answers are exchanged.
enum Speech {
    /// By hyper: one request at a time, or the streams of HTTP/2.
    Hyper(Plain),
    /// Several requests before the first answer, in HTTP/1.1.
    Pipelined(Box<Pipeline>),
}

/// What came of a request.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The response, or why there is none.
    pub outcome: Result<Response, Trouble>,
    /// Time from the request to the first byte; to the end where none came. Among pipelined requests the
    /// time runs from when the answer before was done with, if that is later: it is what we waited for the
    /// server.
    pub first_byte: Duration,
    /// Time from the request to the end, counted from the same moment.
    pub total: Duration,
    /// Bytes that came, heads and framing included (for HTTP/2: of head and body, uncompressed).
    pub wire_bytes: u64,
}

/// An open socket, before HTTP.
pub(crate) struct Opened {
    pub(crate) socket: Socket,
    pub(crate) address: SocketAddr,
    pub(crate) connect_time: Duration,
}

impl Connection {
    pub(crate) async fn begin(
        shared: Arc<Shared>,
        url: &PageUrl,
        opened: Opened,
    ) -> Result<Self, Trouble> {
        let host = url.host();
        let settings = &shared.settings;
        let chosen = opened.socket.chose_http2();
        let presumed = settings.http == Http::Http2
            && !chosen
            && !shared.sends_whole_urls(url)
            && shared.manners.speaks_http2(host);
        if presumed && url.is_secure() {
            return Err(Trouble::NotHttp2);
        }
        let width = match settings.http {
            Http::Pipelined(depth) => shared.manners.width(host, depth.requests()),
            Http::Auto | Http::Http10 | Http::Http11 | Http::Http2 => 1,
        };
        let version = match settings.http {
            _ if chosen || presumed => Version::HTTP_2,
            Http::Http10 => Version::HTTP_10,
            Http::Auto | Http::Http11 | Http::Pipelined(_) | Http::Http2 => Version::HTTP_11,
        };
        let speech = if width > 1 {
            Speech::Pipelined(Box::new(Pipeline::new(opened.socket, width)))
        } else {
            Speech::Hyper(Plain::begin(opened.socket, version, presumed, &settings.limits).await?)
        };
        let template = Template::new(&shared, url, version);
        Ok(Self {
            speech,
            session: Session::new(shared, host, template),
            address: opened.address,
            connect_time: opened.connect_time,
        })
    }

    /// Asks for a page and reads the whole answer. Whatever happens is in it.
    ///
    /// When the returned future is dropped before its end, the connection is not usable any more.
    pub async fn get(&mut self, request: &Request<'_>) -> Answer {
        let at_most = self.session.limits().body;
        self.get_at_most(request, at_most).await
    }

    /// Like [`Connection::get`], for what may be shorter than a page.
    pub(crate) async fn get_at_most(&mut self, request: &Request<'_>, at_most: usize) -> Answer {
        let session = &mut self.session;
        match &mut self.speech {
            Speech::Hyper(plain) => plain.get(session, request, at_most).await,
            Speech::Pipelined(pipeline) => {
                let mut only = Answer::never_sent(Trouble::Stale);
                let keep = |_, answer| only = answer;
                pipelined::get_all(pipeline, session, &[*request], at_most, keep).await;
                only
            }
        }
    }

    /// Asks for several pages, with up to [`width`](Self::width) requests out at once. Hands over every
    /// answer as it comes, with the place of its request: each exactly once, in any order.
    ///
    /// When the connection ends before all is answered, the rest are [`Trouble::Unanswered`], whether they
    /// had been sent or not, and can be asked for again over a new connection. A call over a new connection
    /// that brings no answer at all is held against the server, which is then asked for less at once; so
    /// this comes to an end.
    ///
    /// When the returned future is dropped before its end, the connection is not usable any more.
    pub async fn get_all(
        &mut self,
        requests: &[Request<'_>],
        mut answered: impl FnMut(usize, Answer),
    ) {
        let at_most = self.session.limits().body;
        let http2 = self.version() == Version::HTTP_2;
        let session = &mut self.session;
        let mut answered = |place, mut answer: Answer| {
            if answer.outcome.as_ref().is_err_and(Trouble::is_repeatable) {
                answer.outcome = Err(Trouble::Unanswered);
            }
            answered(place, answer);
        };
        match &mut self.speech {
            Speech::Pipelined(pipeline) => {
                pipelined::get_all(pipeline, session, requests, at_most, answered).await;
            }
            Speech::Hyper(plain) if http2 => {
                streams::get_all(plain, session, requests, at_most, answered).await;
            }
            Speech::Hyper(plain) => {
                for (place, request) in requests.iter().enumerate() {
                    answered(place, plain.get(session, request, at_most).await);
                }
            }
        }
    }

    /// Requests that may be out at once: the depth of the pipeline, as far as this server takes it; the
    /// streams that it allows over HTTP/2, up to 16; else 1.
    pub fn width(&self) -> usize {
        match &self.speech {
            Speech::Hyper(plain) => plain.line.width(),
            Speech::Pipelined(pipeline) => pipeline.width(),
        }
    }

    /// Whether another request can be sent, as far as is known.
    pub fn is_open(&self) -> bool {
        let open = match &self.speech {
            Speech::Hyper(plain) => plain.line.is_open(),
            Speech::Pipelined(pipeline) => pipeline.is_open(),
        };
        self.session.clean && open
    }

    /// The number of answers it has given.
    pub fn served(&self) -> u32 {
        self.session.served
    }

    /// How long it took to open, TLS included.
    pub fn connect_time(&self) -> Duration {
        self.connect_time
    }

    /// The other end: the server, or the proxy.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The HTTP we speak: 1.0, 1.1 or 2.
    pub fn version(&self) -> Version {
        self.session.version()
    }

    /// Whether it leads to the server of this page.
    pub fn leads_to(&self, url: &PageUrl) -> bool {
        self.session.leads_to(url)
    }
}

impl Answer {
    /// For a request that did not go out.
    pub(crate) fn never_sent(trouble: Trouble) -> Self {
        Self {
            outcome: Err(trouble),
            first_byte: Duration::ZERO,
            total: Duration::ZERO,
            wire_bytes: 0,
        }
    }
}
