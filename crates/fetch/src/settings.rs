//! What can a user set about fetching?
//!
//! **Invariant:** every number a stranger's server could drive up has a limit here, and its default is
//! the one `hostile-web.md` asks for. Nothing in here is ever taken from a page.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use page::url::PageUrl;
use rustls_pki_types::CertificateDer;

use crate::gate::{AllowPrivate, Gate, Ports};
use crate::network::Network;
use crate::proxy::Proxy;
use crate::trouble::Trouble;

/// Everything about fetching that a user decides.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What we call ourselves, as in `avocet/0.1.0 (+https://example.org/bot)`.
    pub user_agent: String,
    /// Which HTTP is spoken.
    pub http: Http,
    /// What a server may cost us.
    pub limits: Limits,
    /// Which servers may have an address that is not public.
    pub allow_private: AllowPrivate,
    /// Which ports may be connected to.
    pub ports: Ports,
    /// The proxy that all connections go through.
    pub proxy: Option<Proxy>,
    /// What is said to some servers only, by [`PageUrl::origin`] (`https://example.org`). The scheme is
    /// part of the key, so that what was configured for `https` never travels in the clear.
    pub hosts: HashMap<String, HostSettings>,
    /// Whether cookies are kept and sent back.
    pub cookies: bool,
    /// Certificate authorities to trust beside those of Mozilla.
    pub extra_roots: Vec<CertificateDer<'static>>,
    /// Where this program itself listens; never connected to, whatever else is allowed.
    pub own_listeners: Vec<SocketAddr>,
    /// The name servers to ask; those of the system where empty.
    pub name_servers: Vec<SocketAddr>,
    /// What connections are made of.
    pub network: Network,
}

/// Which HTTP is spoken, and how many requests may be out at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Http {
    /// HTTP/2 where a server chooses it over TLS, else HTTP/1.1 with one request at a time.
    #[default]
    Auto,
    /// HTTP/1.0: a connection for every request.
    Http10,
    /// HTTP/1.1 with one request at a time over a kept connection.
    Http11,
    /// HTTP/1.1 with several requests out before the first answer. A server that does not take it well
    /// is asked for less at once, down to one.
    Pipelined(Depth),
    /// HTTP/2: over TLS nothing else is offered, and without TLS the server is taken to speak it (RFC
    /// 9113, 3.3). The connection to one that does not fails with [`NotHttp2`](crate::Trouble::NotHttp2)
    /// and the next to the same server speaks HTTP/1.1, so that its pages are late and not lost. Over an
    /// HTTP proxy pages without TLS are asked for in HTTP/1.1, which is what such proxies speak.
    Http2,
}

/// How many requests are pipelined: 2 to 32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Depth(u8);

/// What is said to one server only.
#[derive(Debug, Clone, Default)]
pub struct HostSettings {
    /// Headers to add to every request; they replace ours of the same name.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// User and password for basic authentication.
    pub basic_auth: Option<(String, String)>,
}

/// What a server may cost us in time, bytes and numbers.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Time to look up a name.
    pub dns: Duration,
    /// Time to connect, over all addresses of the server.
    pub connect: Duration,
    /// Time for the TLS handshake.
    pub tls: Duration,
    /// Time from the request to the end of the response's head.
    pub first_byte: Duration,
    /// Time from the request to the end of the body.
    pub total: Duration,
    /// How long a body may be slower than [`Limits::bytes_per_second`].
    pub slow_for: Duration,
    /// The mean rate below which a body is given up.
    pub bytes_per_second: u64,
    /// Bytes of a body as it is transferred.
    pub body: usize,
    /// Bytes of a body after decompression.
    pub decoded: usize,
    /// How many times larger than the body its decompressed form may be, beyond [`Limits::ratio_from`].
    pub ratio: usize,
    /// Up to this size any ratio will do: short pages of spaces are no bombs.
    pub ratio_from: usize,
    /// Bytes of all heads of one response, informational ones included.
    pub head: usize,
    /// Fields in a head.
    pub headers: usize,
    /// Informational (1xx) responses before the final one.
    pub informational: u32,
    /// Addresses of one name that are looked at.
    pub addresses: usize,
}

/// What stops a fetcher from being made.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The user agent cannot be sent in a header.
    #[error("the user agent {0:?} cannot be sent in a header")]
    UserAgent(String),
    /// An authority the user added is not usable.
    #[error("an extra root certificate cannot be used")]
    Root(#[source] tokio_rustls::rustls::Error),
    /// The TLS library refused its configuration.
    #[error("TLS cannot be set up")]
    Tls(#[source] tokio_rustls::rustls::Error),
    /// The name servers cannot be used.
    #[error("the resolver cannot be set up")]
    Resolver(#[source] hickory_resolver::net::NetError),
    /// Credentials of a host cannot be sent.
    #[error("the credentials for {0} cannot be sent in a header")]
    Credentials(String),
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            user_agent: concat!("avocet/", env!("CARGO_PKG_VERSION")).to_owned(),
            http: Http::default(),
            limits: Limits::default(),
            allow_private: AllowPrivate::default(),
            ports: Ports::default(),
            proxy: None,
            hosts: HashMap::new(),
            cookies: false,
            extra_roots: Vec::new(),
            own_listeners: Vec::new(),
            name_servers: Vec::new(),
            network: Network::default(),
        }
    }
}

impl Settings {
    /// Opens the gate to the private network: to every server and port if `private`, else to those of
    /// the seeds that the operator named.
    pub fn open_gate(&mut self, private: bool, seeds: &[PageUrl]) {
        (self.allow_private, self.ports) = if private {
            (AllowPrivate::Always, Ports::Any)
        } else {
            (AllowPrivate::of_seeds(seeds), Ports::of_seeds(seeds))
        };
    }

    pub(crate) fn gate(&self) -> Gate {
        Gate::new(&self.allow_private, &self.ports, &self.own_listeners)
    }

    /// Returns why the gate refuses a URL, as far as the URL alone tells: its port, or an address in the
    /// place of a name. A name that leads to a private address is refused when it is looked up.
    pub fn check_url(&self, url: &PageUrl) -> Result<(), Trouble> {
        self.gate().check_url(url).map(|_| ())
    }
}

impl Depth {
    /// The depth, if it is one: with fewer than 2 nothing is pipelined, and 32 requests are more than any
    /// server's buffers are made for.
    pub fn new(requests: u8) -> Option<Self> {
        (2..=32).contains(&requests).then_some(Self(requests))
    }

    /// The number of requests.
    pub fn requests(self) -> usize {
        usize::from(self.0)
    }
}

impl Default for Depth {
    /// Eight: most of the round trips are saved, and little is asked twice when a server hangs up.
    fn default() -> Self {
        Self(8)
    }
}

impl Default for Limits {
    /// The limits of `hostile-web.md`.
    fn default() -> Self {
        Self {
            dns: Duration::from_secs(5),
            connect: Duration::from_secs(10),
            tls: Duration::from_secs(10),
            first_byte: Duration::from_secs(30),
            total: Duration::from_secs(120),
            slow_for: Duration::from_secs(10),
            // A modem of 1990 was faster; one byte a second, the classic drip, is not.
            bytes_per_second: 256,
            body: 8 << 20,
            decoded: 8 << 20,
            ratio: 100,
            ratio_from: 1 << 20,
            head: 64 << 10,
            headers: 100,
            informational: 10,
            addresses: 16,
        }
    }
}
