//! A connection to one host, over any version of HTTP.
//!
//! **Invariant:** a connection leads to one host, and every request gets exactly one answer. A
//! connection is not used again after any fault: stray bytes, a wrong length, an answer that was
//! abandoned half-way, or a request whose future was dropped.

mod hyper_channel;
mod pipelined;
mod session;
mod streams;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::Version;
use page::url::PageUrl;

use crate::pipeline::Pipeline;
use crate::request::{FetchRequest, RequestTemplate};
use crate::response::Response;
use crate::settings::HttpMode;
use crate::shared::SharedState;
use crate::socket::Socket;
use crate::trouble::Trouble;
use hyper_channel::HyperChannel;
use session::Session;

/// A connection to one host.
pub struct Connection {
    session: Session,
    transport: Transport,
    address: SocketAddr,
    connect_time: Duration,
}

/// How requests and answers are exchanged.
enum Transport {
    /// Through hyper: one request at a time, or the streams of HTTP/2.
    Hyper(HyperChannel),
    /// Several HTTP/1.1 requests before the first answer.
    Pipelined(Box<Pipeline>),
}

/// The outcome of a request.
#[derive(Debug, Clone)]
pub struct FetchAnswer {
    /// The response, or why there is none.
    pub outcome: Result<Response, Trouble>,
    /// Time from the request to the first byte of the answer, over HTTP/2 to its complete head; to
    /// the end if none arrived.
    ///
    /// A pipelined request may be sent before the previous answer is processed. Its time then
    /// starts at the end of that processing, so that it measures only the wait for the server.
    pub first_byte: Duration,
    /// Time from the same start to the end of the answer.
    pub total: Duration,
    /// Bytes received, heads and framing included. For HTTP/2: bytes of the body, and of the head
    /// as HTTP/1.1 would write it.
    pub wire_bytes: u64,
}

/// An open socket on which HTTP has not begun.
pub(crate) struct OpenSocket {
    pub(crate) socket: Socket,
    pub(crate) address: SocketAddr,
    pub(crate) connect_time: Duration,
}

impl Connection {
    pub(crate) async fn begin(
        shared: Arc<SharedState>,
        url: &PageUrl,
        opened: OpenSocket,
    ) -> Result<Self, Trouble> {
        let host = url.host();
        let settings = &shared.settings;
        let chosen = opened.socket.chose_http2();
        let presumed = settings.http == HttpMode::Http2
            && !chosen
            && !shared.sends_whole_urls(url)
            && shared.quirks.may_use_http2(host);
        if presumed && url.is_secure() {
            return Err(Trouble::NotHttp2);
        }
        let width = match settings.http {
            HttpMode::Pipelined(depth) => shared.quirks.width(host, depth.requests()),
            HttpMode::Auto | HttpMode::Http10 | HttpMode::Http11 | HttpMode::Http2 => 1,
        };
        let version = match settings.http {
            _ if chosen || presumed => Version::HTTP_2,
            HttpMode::Http10 => Version::HTTP_10,
            HttpMode::Auto | HttpMode::Http11 | HttpMode::Pipelined(_) | HttpMode::Http2 => {
                Version::HTTP_11
            }
        };
        let transport = if width > 1 {
            Transport::Pipelined(Box::new(Pipeline::new(opened.socket, width)))
        } else {
            Transport::Hyper(
                HyperChannel::begin(opened.socket, version, presumed, &settings.limits).await?,
            )
        };
        let template = RequestTemplate::new(&shared, url, version);
        Ok(Self {
            transport,
            session: Session::new(shared, host, template),
            address: opened.address,
            connect_time: opened.connect_time,
        })
    }

    /// Requests a page and reads the whole answer. Failures are part of the answer.
    ///
    /// If the returned future is dropped before it completes, the connection cannot be used
    /// again.
    pub async fn get(&mut self, request: &FetchRequest<'_>) -> FetchAnswer {
        let at_most = self.session.limits().body;
        self.get_at_most(request, at_most).await
    }

    /// Like [`Connection::get`], but keeps at most `at_most` bytes of the body.
    pub(crate) async fn get_at_most(
        &mut self,
        request: &FetchRequest<'_>,
        at_most: usize,
    ) -> FetchAnswer {
        let session = &mut self.session;
        match &mut self.transport {
            Transport::Hyper(channel) => channel.get(session, request, at_most).await,
            Transport::Pipelined(pipeline) => {
                let mut only = FetchAnswer::never_sent(Trouble::Stale);
                let keep = |_, answer| only = answer;
                pipelined::get_all(pipeline, session, &[*request], at_most, keep).await;
                only
            }
        }
    }

    /// Requests several pages, with up to [`width`](Self::width) requests in flight at once.
    ///
    /// Calls `answered` with the index of each request and its answer: exactly once each, in any
    /// order.
    ///
    /// When the connection ends early, the remaining requests get [`Trouble::Unanswered`], sent
    /// or not. They can be repeated over a new connection. A server that twice in a row closes a
    /// pipelined connection early gets fewer requests at once. A server that has answered in
    /// HTTP/2 before gets as many as before, so the caller must limit how often it repeats.
    ///
    /// If the returned future is dropped before it completes, the connection cannot be used
    /// again.
    pub async fn get_all(
        &mut self,
        requests: &[FetchRequest<'_>],
        mut answered: impl FnMut(usize, FetchAnswer),
    ) {
        let at_most = self.session.limits().body;
        let http2 = self.version() == Version::HTTP_2;
        let session = &mut self.session;
        let mut answered = |place, mut answer: FetchAnswer| {
            if answer.outcome.as_ref().is_err_and(Trouble::is_repeatable) {
                answer.outcome = Err(Trouble::Unanswered);
            }
            answered(place, answer);
        };
        match &mut self.transport {
            Transport::Pipelined(pipeline) => {
                pipelined::get_all(pipeline, session, requests, at_most, answered).await;
            }
            Transport::Hyper(channel) if http2 => {
                streams::get_all(channel, session, requests, at_most, answered).await;
            }
            Transport::Hyper(channel) => {
                for (place, request) in requests.iter().enumerate() {
                    answered(place, channel.get(session, request, at_most).await);
                }
            }
        }
    }

    /// Returns how many requests may be in flight at once.
    ///
    /// On a pipelined connection that is the depth of the pipeline, less for a server that
    /// supports less. Over HTTP/2 it is the number of streams that the server allows, at most 16.
    /// Otherwise it is 1.
    pub fn width(&self) -> usize {
        match &self.transport {
            Transport::Hyper(channel) => channel.hyper.width(),
            Transport::Pipelined(pipeline) => pipeline.width(),
        }
    }

    /// Returns whether another request can be sent, as far as is known.
    pub fn is_open(&self) -> bool {
        let open = match &self.transport {
            Transport::Hyper(channel) => channel.hyper.is_open(),
            Transport::Pipelined(pipeline) => pipeline.is_open(),
        };
        self.session.clean && open
    }

    /// Returns the number of answers received so far.
    pub fn served(&self) -> u32 {
        self.session.served
    }

    /// Returns how long opening took, TLS included.
    pub fn connect_time(&self) -> Duration {
        self.connect_time
    }

    /// Returns the address of the other end: the server or the proxy.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the HTTP version in use: 1.0, 1.1 or 2.
    pub fn version(&self) -> Version {
        self.session.version()
    }

    /// Returns whether this connection leads to the host of a page.
    pub fn leads_to(&self, url: &PageUrl) -> bool {
        self.session.leads_to(url)
    }
}

impl FetchAnswer {
    /// Returns the answer to a request that was not sent.
    pub(crate) fn never_sent(trouble: Trouble) -> Self {
        Self {
            outcome: Err(trouble),
            first_byte: Duration::ZERO,
            total: Duration::ZERO,
            wire_bytes: 0,
        }
    }
}
