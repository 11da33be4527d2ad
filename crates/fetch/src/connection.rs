//! What does the server answer?
//!
//! **Invariant:** a connection leads to one server and has one request out at a time. When anything is
//! wrong with it (stray bytes, a lying length, an answer given up half-way, a request that was
//! abandoned), it is not used again.

use std::error::Error as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, COOKIE, IF_MODIFIED_SINCE, IF_NONE_MATCH, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, Version};
use page::url::{HostId, PageUrl};
use tokio::time::Instant;

use crate::body;
use crate::coding;
use crate::deadline::Deadline;
use crate::fetcher::Shared;
use crate::line::{Line, NoBody};
use crate::response::{Response, Truncation};
use crate::socket::Socket;
use crate::trouble::Trouble;
use crate::wire::{Breach, Watch};

/// A connection to one server.
pub struct Connection {
    shared: Arc<Shared>,
    line: Line,
    watch: Watch,
    host: HostId,
    headers: HeaderMap,
    whole_urls: bool,
    address: SocketAddr,
    connect_time: Duration,
    served: u32,
    /// Whether the last request was seen to its end.
    clean: bool,
}

/// What to ask for.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The page, on the server that the connection leads to.
    pub url: &'a PageUrl,
    /// The entity tag of the copy we have.
    pub etag: Option<&'a str>,
    /// The date of the copy we have, as the server wrote it.
    pub last_modified: Option<&'a str>,
}

/// What came of a request.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The response, or why there is none.
    pub outcome: Result<Response, Trouble>,
    /// Time from the request to the first byte; to the end where none came.
    pub first_byte: Duration,
    /// Time from the request to the end.
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
        let limits = &shared.settings.limits;
        let watch = Watch::new(limits);
        let http2 = opened.socket.chose_http2();
        let line = if http2 {
            Line::http2(opened.socket, limits).await
        } else {
            Line::http1(opened.socket, watch.clone(), limits).await
        };
        Ok(Self {
            line: line.map_err(|error| Trouble::Protocol(told(&error)))?,
            watch,
            host: url.host(),
            headers: shared.headers_for(url, http2),
            whole_urls: shared.sends_whole_urls(url),
            address: opened.address,
            connect_time: opened.connect_time,
            served: 0,
            clean: true,
            shared,
        })
    }

    /// Asks for a page and reads the whole answer. Whatever happens is in it.
    ///
    /// When the returned future is dropped before its end, the connection is not usable any more.
    pub async fn get(&mut self, request: &Request<'_>) -> Answer {
        let at_most = self.shared.settings.limits.body;
        self.get_at_most(request, at_most).await
    }

    /// Like [`Connection::get`], for what may be shorter than a page.
    pub(crate) async fn get_at_most(&mut self, request: &Request<'_>, at_most: usize) -> Answer {
        let asked = Instant::now();
        let clean = std::mem::replace(&mut self.clean, false);
        let outcome = if clean {
            self.ask(request, at_most, asked).await
        } else {
            Err(Trouble::Stale)
        };
        let total = asked.elapsed();
        let (bytes, first) = self.watch.received();
        let (wire_bytes, first_byte) = match &outcome {
            Ok((response, head_at)) if self.version() == Version::HTTP_2 => (
                (response.head.len() + response.body.len()) as u64,
                Some(*head_at),
            ),
            _ => (bytes, first),
        };
        Answer {
            outcome: outcome.map(|(response, _)| response),
            first_byte: first_byte.map_or(total, |at| at.saturating_duration_since(asked)),
            total,
            wire_bytes,
        }
    }

    /// Whether another request can be sent, as far as is known.
    pub fn is_open(&self) -> bool {
        self.clean && self.line.is_open()
    }

    /// The number of answers it has given.
    pub fn served(&self) -> u32 {
        self.served
    }

    /// How long it took to open, TLS included.
    pub fn connect_time(&self) -> Duration {
        self.connect_time
    }

    /// The other end: the server, or the proxy.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// HTTP/1.1 or HTTP/2.
    pub fn version(&self) -> Version {
        self.line.version()
    }

    /// Whether it leads to the server of this page.
    pub fn leads_to(&self, url: &PageUrl) -> bool {
        self.host == url.host()
    }

    async fn ask(
        &mut self,
        request: &Request<'_>,
        at_most: usize,
        asked: Instant,
    ) -> Result<(Response, Instant), Trouble> {
        if !self.leads_to(request.url) {
            self.clean = true;
            return Err(Trouble::OtherServer(request.url.origin().to_owned()));
        }
        let message = match self.message(request) {
            Ok(message) => message,
            Err(trouble) => {
                self.clean = true;
                return Err(trouble);
            }
        };
        self.line.settle().await;
        if !self.line.is_open() {
            return Err(self.ended_idle());
        }
        self.watch.begin();
        let shared = Arc::clone(&self.shared);
        let limits = &shared.settings.limits;
        let mut deadline = Deadline::at(asked + limits.first_byte.min(limits.total));
        let response = match self.line.send(message, &mut deadline).await {
            Some(Ok(response)) => response,
            Some(Err(error)) => return Err(self.trouble_of(&error)),
            None => return Err(self.out_of_time()),
        };
        let head_at = Instant::now();
        let (parts, incoming) = response.into_parts();
        if parts.status == StatusCode::SWITCHING_PROTOCOLS {
            return Err(Trouble::Protocol(
                "an upgrade that nobody asked for".to_owned(),
            ));
        }
        if parts.headers.len() > limits.headers {
            return Err(Trouble::HeadTooLarge);
        }
        let (body, cut) = body::read(
            &mut self.line,
            incoming,
            at_most,
            limits,
            asked,
            &mut deadline,
        )
        .await;
        self.finish(&parts.headers, cut).await;
        if let Some(jar) = &shared.cookies {
            jar.keep(request.url, &parts.headers, SystemTime::now());
        }
        let decoded = coding::decode(&parts.headers, &body, limits);
        let response = Response {
            status: parts.status.as_u16(),
            head: self.head(parts.status, &parts.headers),
            headers: parts.headers,
            body,
            content: decoded.content,
            undecoded: decoded.undecoded,
            truncated: cut.or(decoded.truncated),
        };
        Ok((response, head_at))
    }

    /// Decides, at the end of an answer, whether there can be another.
    async fn finish(&mut self, headers: &HeaderMap, cut: Option<Truncation>) {
        self.served += 1;
        self.watch.end();
        let broken = matches!(cut, Some(Truncation::Reset | Truncation::Malformed));
        if broken && self.version() == Version::HTTP_2 {
            self.shared.forget_http2(self.host);
        }
        if cut.is_some() || has_two_lengths(headers) {
            self.line.close();
            return;
        }
        self.line.settle().await;
        self.clean = true;
    }

    fn message(&self, request: &Request<'_>) -> Result<http::Request<NoBody>, Trouble> {
        let http2 = self.version() == Version::HTTP_2;
        let target = if self.whole_urls || http2 {
            request.url.as_str()
        } else {
            request.url.path_and_query()
        };
        let uri = Uri::try_from(target).map_err(|_| Trouble::Unsendable)?;
        let mut headers = self.headers.clone();
        // A validator that cannot be sent is left out: the page is then simply fetched whole.
        let validators = [
            (IF_NONE_MATCH, request.etag),
            (IF_MODIFIED_SINCE, request.last_modified),
        ];
        for (name, text) in validators {
            headers.extend(
                text.and_then(|text| HeaderValue::try_from(text).ok())
                    .map(|value| (name, value)),
            );
        }
        if let Some(jar) = &self.shared.cookies {
            headers.extend(
                jar.header(request.url, SystemTime::now())
                    .map(|value| (COOKIE, value)),
            );
        }
        let mut message = http::Request::new(NoBody);
        *message.method_mut() = Method::GET;
        *message.uri_mut() = uri;
        *message.headers_mut() = headers;
        Ok(message)
    }

    /// The head for the archive.
    fn head(&self, status: StatusCode, headers: &HeaderMap) -> Bytes {
        if self.version() != Version::HTTP_2 {
            return self.watch.head();
        }
        let mut head = format!(
            "HTTP/1.1 {} {}\r\n",
            status.as_u16(),
            status.canonical_reason().unwrap_or("")
        )
        .into_bytes();
        for (name, value) in headers {
            head.extend_from_slice(name.as_str().as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value.as_bytes());
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(b"\r\n");
        head.into()
    }

    /// The connection ended while no request was out.
    fn ended_idle(&self) -> Trouble {
        match self.watch.breach() {
            _ if self.served > 0 => Trouble::Stale,
            Some(_) => Trouble::Protocol("the server speaks before it is asked".to_owned()),
            None => Trouble::Reset,
        }
    }

    fn out_of_time(&mut self) -> Trouble {
        self.line.close();
        if self.version() == Version::HTTP_2 {
            self.shared.forget_http2(self.host);
        }
        Trouble::FirstByteTimeout
    }

    /// Why there is no head.
    fn trouble_of(&self, error: &hyper::Error) -> Trouble {
        match self.watch.breach() {
            Some(Breach::Size) => return Trouble::HeadTooLarge,
            Some(Breach::Informational) => return Trouble::Informational,
            Some(Breach::Unasked) => return self.ended_idle(),
            None => {}
        }
        if error.is_parse() {
            return Trouble::Protocol(told(error));
        }
        let http2 = self.version() == Version::HTTP_2;
        let ended = error.is_incomplete_message()
            || error.is_closed()
            || error.is_canceled()
            || is_io(error);
        if http2 && !ended {
            self.shared.forget_http2(self.host);
            return Trouble::Http2(told(error));
        }
        let (bytes, _) = self.watch.received();
        if self.served > 0 && bytes == 0 {
            Trouble::Stale
        } else {
            Trouble::Reset
        }
    }
}

/// hostile-web.md, row 10: where an answer has several lengths, or a length and a transfer coding, two
/// readers may disagree on where it ends. Hyper refuses those that contradict each other.
fn has_two_lengths(headers: &HeaderMap) -> bool {
    let lengths = headers.get_all(CONTENT_LENGTH).iter().count();
    lengths > 1 || (lengths == 1 && headers.contains_key(TRANSFER_ENCODING))
}

fn is_io(error: &hyper::Error) -> bool {
    error
        .source()
        .is_some_and(|cause| cause.is::<std::io::Error>())
}

/// An error of hyper's with its cause.
fn told(error: &hyper::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
