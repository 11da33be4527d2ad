//! The state that the clones of a fetcher and its connections share, and how they reach a
//! server.
//!
//! **Invariant:** a [`Route`] holds only addresses that passed the gate, and connections are
//! opened only to these or to the user's proxy. A name is resolved once and checked; it is not
//! resolved again before connecting, which prevents DNS rebinding.

use std::net::SocketAddr;

use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, HOST, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue};
use page::url::{HostId, PageUrl};

use crate::cookies::Jar;
use crate::dial;
use crate::dns::NameResolver;
use crate::gate::AddressGate;
use crate::network::{NetworkTransport, Pipes};
use crate::proxy::{ProxyKind, basic};
use crate::quirks::ServerQuirks;
use crate::settings::{FetchError, FetchOptions, HttpMode};
use crate::socket::Socket;
use crate::tls::{AlpnOffer, Tls};
use crate::trouble::Trouble;

/// The state that the clones of a fetcher and its connections share.
pub(crate) struct SharedState {
    pub(crate) settings: FetchOptions,
    pub(crate) cookies: Option<Jar>,
    names: NameResolver,
    gate: AddressGate,
    tls: Tls,
    /// The headers sent to every server.
    headers: HeaderMap,
    pub(crate) quirks: ServerQuirks,
}

/// The addresses of a server that passed the gate; none behind a proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    host: HostId,
    addresses: Vec<SocketAddr>,
}

impl Route {
    pub(crate) fn host(&self) -> HostId {
        self.host
    }

    /// Returns the address that is tried first; hosts that share it share one politeness delay.
    ///
    /// `None` behind a proxy, where only the proxy knows the address.
    pub fn address(&self) -> Option<SocketAddr> {
        self.addresses.first().copied()
    }
}

impl SharedState {
    pub(crate) fn new(settings: FetchOptions) -> Result<Self, FetchError> {
        let mut headers = HeaderMap::new();
        let agent = HeaderValue::try_from(&settings.user_agent)
            .map_err(|_| FetchError::UserAgent(settings.user_agent.clone()))?;
        headers.insert(USER_AGENT, agent);
        headers.insert(
            ACCEPT,
            HeaderValue::from_static("text/html,application/xhtml+xml,*/*;q=0.8"),
        );
        headers.insert(
            ACCEPT_ENCODING,
            HeaderValue::from_static("gzip, deflate, br, zstd"),
        );
        for (origin, host) in &settings.hosts {
            if host
                .basic_auth
                .as_ref()
                .is_some_and(|(user, password)| basic(user, password).is_none())
            {
                return Err(FetchError::Credentials(origin.clone()));
            }
        }
        Ok(Self {
            cookies: settings.cookies.then(Jar::default),
            names: NameResolver::new(&settings)?,
            gate: settings.gate(),
            tls: Tls::new(&settings)?,
            headers,
            quirks: ServerQuirks::default(),
            settings,
        })
    }

    /// Resolves the name of a page's server and checks its addresses at the gate.
    pub(crate) async fn route(&self, url: &PageUrl) -> Result<Route, Trouble> {
        let literal = self.gate.check_url(url)?;
        if self.settings.proxy_of(url).is_some() {
            return Ok(Route {
                host: url.host(),
                addresses: Vec::new(),
            });
        }
        let found = match literal {
            Some(ip) => vec![ip],
            None => self.names.lookup(url.host_name()).await?,
        };
        Ok(Route {
            host: url.host(),
            addresses: self.gate.admit(url, &found)?,
        })
    }

    /// Opens a socket or a pipe to the server of a page.
    pub(crate) async fn open(
        &self,
        url: &PageUrl,
        route: &Route,
    ) -> Result<(Socket, SocketAddr), Trouble> {
        match &self.settings.network {
            NetworkTransport::Sockets => self.socket(url, route).await,
            NetworkTransport::Memory(pipes) => self.pipe(url, route, pipes),
        }
    }

    async fn socket(&self, url: &PageUrl, route: &Route) -> Result<(Socket, SocketAddr), Trouble> {
        let limits = &self.settings.limits;
        let tcp = match self.settings.proxy_of(url) {
            Some(proxy) => dial::through(proxy, url, limits).await?,
            None => dial::direct(&route.addresses, &self.gate, limits).await?,
        };
        let address = tcp
            .peer_addr()
            .map_err(|error| Trouble::Unreachable(error.kind()))?;
        let socket = if url.is_secure() {
            let secured = dial::secure(tcp, &self.tls, self.offer(url.host()), url, limits);
            secured
                .await
                .inspect_err(|trouble| self.record_failure(url.host(), trouble))?
        } else {
            Socket::Plain(tcp)
        };
        Ok((socket, address))
    }

    /// Opens a pipe to the server, or to the proxy. The host of a proxy must be an IP address
    /// here.
    fn pipe(
        &self,
        url: &PageUrl,
        route: &Route,
        pipes: &Pipes,
    ) -> Result<(Socket, SocketAddr), Trouble> {
        let nowhere = || Trouble::NoAddress(url.host_name().to_owned());
        let address = match self.settings.proxy_of(url) {
            Some(proxy) => {
                let place = format!("{}:{}", proxy.host, proxy.port);
                place.parse().map_err(|_| nowhere())?
            }
            None => route.address().ok_or_else(nowhere)?,
        };
        Ok((Socket::Memory(pipes(address)), address))
    }

    /// Returns the headers that all requests to a server share.
    pub(crate) fn headers_for(&self, url: &PageUrl, http2: bool) -> HeaderMap {
        let mut headers = self.headers.clone();
        if !http2 {
            let place = url
                .origin()
                .split_once("://")
                .map_or("", |(_, place)| place);
            // A normalized host is plain ASCII, so this cannot fail.
            headers.extend(HeaderValue::try_from(place).ok().map(|value| (HOST, value)));
        }
        if let Some(host) = self.settings.hosts.get(url.origin()) {
            for (name, value) in &host.headers {
                headers.insert(name.clone(), value.clone());
            }
            let auth = host
                .basic_auth
                .as_ref()
                .and_then(|(user, password)| basic(user, password));
            headers.extend(auth.map(|value| (AUTHORIZATION, value)));
        }
        if self.sends_whole_urls(url) {
            let auth = self
                .settings
                .proxy_of(url)
                .and_then(|proxy| proxy.authorization());
            headers
                .extend(auth.map(|value| (HeaderName::from_static("proxy-authorization"), value)));
        }
        headers
    }

    /// Returns whether requests go to an HTTP proxy, which needs the absolute URL.
    pub(crate) fn sends_whole_urls(&self, url: &PageUrl) -> bool {
        let over_http = self
            .settings
            .proxy_of(url)
            .is_some_and(|proxy| proxy.kind == ProxyKind::Http);
        over_http && !url.is_secure()
    }

    /// Returns the protocols to offer to a server in the TLS handshake.
    fn offer(&self, host: HostId) -> AlpnOffer {
        let http2 = match self.settings.http {
            HttpMode::Auto => AlpnOffer::Both,
            HttpMode::Http2 => AlpnOffer::Http2,
            HttpMode::Http10 | HttpMode::Http11 | HttpMode::Pipelined(_) => {
                return AlpnOffer::Http1;
            }
        };
        if self.quirks.may_use_http2(host) {
            http2
        } else {
            AlpnOffer::Http1
        }
    }

    /// Records what a failure to connect says about the server.
    pub(crate) fn record_failure(&self, host: HostId, trouble: &Trouble) {
        match trouble {
            Trouble::NotHttp2 => self.quirks.avoid_http2(host),
            Trouble::NotHttp1 => self.quirks.avoid_http1(host),
            _ => {}
        }
    }
}
