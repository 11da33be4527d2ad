//! What the clones of a fetcher and its connections share, and how one gets to a server.
//!
//! **Invariant:** a [`Route`] holds only addresses that passed the gate, and a connection is opened to
//! one of these and to nothing else: a name is looked up once, checked, and not looked up again.

use std::net::SocketAddr;

use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, HOST, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue};
use page::url::{HostId, PageUrl};

use crate::cookies::Jar;
use crate::dial;
use crate::dns::Names;
use crate::gate::Gate;
use crate::manners::Manners;
use crate::network::{Network, Pipes};
use crate::proxy::{ProxyKind, basic};
use crate::settings::{FetchError, Http, Settings};
use crate::socket::Socket;
use crate::tls::{Offer, Tls};
use crate::trouble::Trouble;

/// What the clones of a fetcher and its connections share.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) cookies: Option<Jar>,
    names: Names,
    gate: Gate,
    tls: Tls,
    /// What is said to every server.
    headers: HeaderMap,
    pub(crate) manners: Manners,
}

/// A way to a server that passed the gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    host: HostId,
    addresses: Vec<SocketAddr>,
}

impl Route {
    /// The host that it leads to.
    pub(crate) fn host(&self) -> HostId {
        self.host
    }

    /// The address that will be tried first; hosts that share it share its politeness. `None` behind a
    /// proxy, where only the proxy knows it.
    pub fn address(&self) -> Option<SocketAddr> {
        self.addresses.first().copied()
    }
}

impl Shared {
    pub(crate) fn new(settings: Settings) -> Result<Self, FetchError> {
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
            names: Names::new(&settings)?,
            gate: settings.gate(),
            tls: Tls::new(&settings)?,
            headers,
            manners: Manners::default(),
            settings,
        })
    }

    /// Looks the name of a page's server up and passes the gate.
    pub(crate) async fn route(&self, url: &PageUrl) -> Result<Route, Trouble> {
        let literal = self.gate.check_url(url)?;
        if self.settings.proxy.is_some() {
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
            Network::Sockets => self.socket(url, route).await,
            Network::Memory(pipes) => self.pipe(url, route, pipes),
        }
    }

    async fn socket(&self, url: &PageUrl, route: &Route) -> Result<(Socket, SocketAddr), Trouble> {
        let limits = &self.settings.limits;
        let tcp = match &self.settings.proxy {
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
                .inspect_err(|trouble| self.learn(url.host(), trouble))?
        } else {
            Socket::Plain(tcp)
        };
        Ok((socket, address))
    }

    /// A pipe to the server, or to the proxy, which has to be written as an address.
    fn pipe(
        &self,
        url: &PageUrl,
        route: &Route,
        pipes: &Pipes,
    ) -> Result<(Socket, SocketAddr), Trouble> {
        let nowhere = || Trouble::NoAddress(url.host_name().to_owned());
        let address = match &self.settings.proxy {
            Some(proxy) => {
                let place = format!("{}:{}", proxy.host, proxy.port);
                place.parse().map_err(|_| nowhere())?
            }
            None => route.address().ok_or_else(nowhere)?,
        };
        Ok((Socket::Memory(pipes(address)), address))
    }

    /// The headers of every request to a server, but for those of a single page.
    pub(crate) fn headers_for(&self, url: &PageUrl, http2: bool) -> HeaderMap {
        let mut headers = self.headers.clone();
        if !http2 {
            let place = url
                .origin()
                .split_once("://")
                .map_or("", |(_, place)| place);
            // A host in normal form is plain ASCII, so that this cannot fail.
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
                .proxy
                .as_ref()
                .and_then(|proxy| proxy.authorization());
            headers
                .extend(auth.map(|value| (HeaderName::from_static("proxy-authorization"), value)));
        }
        headers
    }

    /// Whether requests go to an HTTP proxy that must be told the whole URL.
    pub(crate) fn sends_whole_urls(&self, url: &PageUrl) -> bool {
        let over_http = self
            .settings
            .proxy
            .as_ref()
            .is_some_and(|proxy| proxy.kind == ProxyKind::Http);
        over_http && !url.is_secure()
    }

    /// What a server may choose from.
    fn offer(&self, host: HostId) -> Offer {
        let http2 = match self.settings.http {
            Http::Auto => Offer::Both,
            Http::Http2 => Offer::Http2,
            Http::Http10 | Http::Http11 | Http::Pipelined(_) => return Offer::Http1,
        };
        if self.manners.speaks_http2(host) {
            http2
        } else {
            Offer::Http1
        }
    }

    /// Remembers what a failure to connect says about the server.
    pub(crate) fn learn(&self, host: HostId, trouble: &Trouble) {
        match trouble {
            Trouble::NotHttp2 => self.manners.forget_http2(host),
            Trouble::NotHttp1 => self.manners.forget_http1(host),
            _ => {}
        }
    }
}
