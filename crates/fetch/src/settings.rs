//! The settings of fetching.
//!
//! **Invariant:** every quantity that a hostile server could drive up has a limit here or beside
//! the code that enforces it. The defaults are those that `hostile-web.md` requires. No setting is
//! ever taken from a page.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use page::url::PageUrl;
use rustls_pki_types::CertificateDer;

use crate::gate::{AddressGate, AllowPrivate, Ports};
use crate::network::NetworkTransport;
use crate::proxy::{EnvironmentProxies, ProxySettings};
use crate::trouble::Trouble;

/// All settings of fetching.
#[derive(Debug, Clone)]
pub struct FetchOptions {
    /// The `User-Agent` header, such as `avocet/0.1.0 (+https://example.org/bot)`.
    pub user_agent: String,
    /// The HTTP version to use.
    pub http: HttpMode,
    /// Limits on what one server may cost.
    pub limits: FetchLimits,
    /// Which servers may have a non-public address.
    pub allow_private: AllowPrivate,
    /// Which ports may be connected to.
    pub ports: Ports,
    /// The proxy that all connections go through.
    pub proxy: Option<ProxySettings>,
    /// The proxies of the environment, which count if there is no `proxy`.
    pub environment: EnvironmentProxies,
    /// Headers and credentials for single hosts, by [`PageUrl::origin`] (`https://example.org`).
    /// The scheme is part of the key, so that credentials for `https` are never sent in the
    /// clear.
    pub hosts: HashMap<String, HostSettings>,
    /// Whether cookies are kept and sent back.
    pub cookies: bool,
    /// Certificate authorities to trust in addition to Mozilla's.
    pub extra_roots: Vec<CertificateDer<'static>>,
    /// Where this program itself listens. The fetcher never connects there, whatever else is
    /// allowed.
    pub own_listeners: Vec<SocketAddr>,
    /// The name servers to use; the system's if empty.
    pub name_servers: Vec<SocketAddr>,
    /// The transport that connections use.
    pub network: NetworkTransport,
}

impl FetchOptions {
    /// Returns the proxy for a page; `None`: its server is asked directly.
    pub fn proxy_of(&self, url: &PageUrl) -> Option<&ProxySettings> {
        let proxy = self.proxy.as_ref();
        proxy.or_else(|| self.environment.of(url))
    }

    /// Returns whether there is a proxy for any page.
    pub fn has_proxy(&self) -> bool {
        self.proxy.is_some() || self.environment.is_set()
    }
}

/// The HTTP version to use, and how many requests may be in flight at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpMode {
    /// HTTP/2 where a server selects it in the TLS handshake, else HTTP/1.1 with one request at
    /// a time.
    #[default]
    Auto,
    /// HTTP/1.0, with a new connection for every request.
    Http10,
    /// HTTP/1.1 with one request at a time over a kept connection.
    Http11,
    /// HTTP/1.1 with several requests in flight. The number is reduced, down to one, for a
    /// server that cannot handle it.
    Pipelined(PipelineDepth),
    /// HTTP/2 only.
    ///
    /// Over TLS nothing else is offered. Without TLS the server is assumed to speak HTTP/2 (prior
    /// knowledge, RFC 9113, 3.3). If a server does not speak HTTP/2, the connection fails with
    /// [`NotHttp2`](crate::Trouble::NotHttp2). The next connection to that server uses HTTP/1.1, so
    /// that its pages are delayed and not lost. Over an HTTP proxy, pages without TLS are requested
    /// in HTTP/1.1, because such proxies speak only that.
    Http2,
}

/// The number of requests that may be pipelined: 2 to 32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PipelineDepth(u8);

/// Headers and credentials for one host.
#[derive(Debug, Clone, Default)]
pub struct HostSettings {
    /// Headers to add to every request. They replace default headers of the same name.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// User and password for basic authentication.
    pub basic_auth: Option<(String, String)>,
}

/// Limits on what one server may cost: time, bytes and counts. Each is a maximum, except
/// [`FetchLimits::slow_for`], [`FetchLimits::bytes_per_second`] and [`FetchLimits::ratio_from`].
#[derive(Debug, Clone)]
pub struct FetchLimits {
    /// Time for one DNS lookup.
    pub dns: Duration,
    /// Time to connect, over all addresses of the server.
    pub connect: Duration,
    /// Time for the TLS handshake.
    pub tls: Duration,
    /// Time from the request to the end of the response head.
    pub first_byte: Duration,
    /// Time from the request to the end of the body.
    pub total: Duration,
    /// Interval at which the mean rate of a body is checked against
    /// [`FetchLimits::bytes_per_second`].
    pub slow_for: Duration,
    /// Mean rate in bytes per second below which reading a body is abandoned.
    pub bytes_per_second: u64,
    /// Size of a body as transferred, in bytes.
    pub body: usize,
    /// Size of a body after decompression, in bytes.
    pub decoded: usize,
    /// Ratio of decompressed to compressed size, enforced beyond [`FetchLimits::ratio_from`].
    pub ratio: usize,
    /// Decompressed size in bytes up to which any ratio is accepted: a short page of spaces is
    /// not a bomb.
    pub ratio_from: usize,
    /// Size of all heads of one response in bytes, informational ones included.
    pub head: usize,
    /// Number of header fields in a head.
    pub headers: usize,
    /// Number of informational (1xx) responses before the final one.
    pub informational: u32,
    /// Number of addresses of one name that are used; further ones are ignored.
    pub addresses: usize,
}

/// Why a fetcher could not be created.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The user agent cannot be sent in a header.
    #[error("the user agent {0:?} cannot be sent in a header")]
    UserAgent(String),
    /// A root certificate that the user added cannot be used.
    #[error("a root certificate that the user added cannot be used")]
    Root(#[source] tokio_rustls::rustls::Error),
    /// The TLS library rejected its configuration.
    #[error("TLS cannot be set up")]
    Tls(#[source] tokio_rustls::rustls::Error),
    /// The resolver rejected its configuration.
    #[error("the resolver cannot be set up")]
    Resolver(#[source] hickory_resolver::net::NetError),
    /// The credentials of a host cannot be sent in a header.
    #[error("the credentials for {0} cannot be sent in a header")]
    Credentials(String),
}

impl Default for FetchOptions {
    fn default() -> Self {
        Self {
            user_agent: concat!("avocet/", env!("CARGO_PKG_VERSION")).to_owned(),
            http: HttpMode::default(),
            limits: FetchLimits::default(),
            allow_private: AllowPrivate::default(),
            ports: Ports::default(),
            proxy: None,
            environment: EnvironmentProxies::default(),
            hosts: HashMap::new(),
            cookies: false,
            extra_roots: Vec::new(),
            own_listeners: Vec::new(),
            name_servers: Vec::new(),
            network: NetworkTransport::default(),
        }
    }
}

impl FetchOptions {
    /// Allows private addresses of every server and every port if `private`, else private
    /// addresses of the seeds, their ports, and ports 80 and 443.
    pub fn open_gate(&mut self, private: bool, seeds: &[PageUrl]) {
        (self.allow_private, self.ports) = if private {
            (AllowPrivate::Always, Ports::Any)
        } else {
            (AllowPrivate::of_seeds(seeds), Ports::of_seeds(seeds))
        };
    }

    pub(crate) fn gate(&self) -> AddressGate {
        AddressGate::new(&self.allow_private, &self.ports, &self.own_listeners)
    }

    /// Checks what the URL alone tells: its port, and a host written as an IP address.
    ///
    /// A name that resolves to a private address is refused later, when it is looked up.
    pub fn check_url(&self, url: &PageUrl) -> Result<(), Trouble> {
        self.gate().check_url(url).map(|_| ())
    }
}

impl PipelineDepth {
    /// Returns the depth if it is 2 to 32. One request is not pipelining, and servers' buffers
    /// are not made for more than 32.
    pub fn new(requests: u8) -> Option<Self> {
        (2..=32).contains(&requests).then_some(Self(requests))
    }

    /// Returns the number of requests.
    pub fn requests(self) -> usize {
        usize::from(self.0)
    }
}

impl Default for PipelineDepth {
    /// Eight: this saves most round trips, and few requests are lost when a server closes early.
    fn default() -> Self {
        Self(8)
    }
}

impl Default for FetchLimits {
    /// The limits of `hostile-web.md`.
    fn default() -> Self {
        Self {
            dns: Duration::from_secs(5),
            connect: Duration::from_secs(10),
            tls: Duration::from_secs(10),
            first_byte: Duration::from_secs(30),
            total: Duration::from_secs(120),
            slow_for: Duration::from_secs(10),
            // Slower than any real link, but far above the one byte per second of a slow-drip
            // attack.
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
