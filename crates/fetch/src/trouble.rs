//! The failures that leave a request without a response.
//!
//! **Invariant:** every way in which a server, a name or the network can fail is one of these
//! values. Each has a short name for metrics and the ledger. The ledger stores these names, so
//! they must not change.

use std::net::IpAddr;

/// Why there is no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The name does not exist.
    #[error("the name {0} does not exist")]
    NoSuchName(String),
    /// The name exists and has no address.
    #[error("the name {0} has no address")]
    NoAddress(String),
    /// The name servers did not answer before the deadline.
    #[error("the name {0} was not resolved before the deadline")]
    DnsTimeout(String),
    /// The name servers failed.
    #[error("the name {name} could not be resolved: {reason}")]
    DnsFailed {
        /// The name that was looked up.
        name: String,
        /// The message of the resolver.
        reason: String,
    },
    /// The address is private, loopback, link-local or otherwise outside the public internet.
    #[error("the address {0} is not public")]
    PrivateAddress(IpAddr),
    /// The port is not among the allowed ones.
    #[error("the port {0} is not allowed")]
    Port(u16),
    /// The address is one where this program itself listens.
    #[error("{0} is an address where this program itself listens")]
    Ourselves(std::net::SocketAddr),
    /// A route or a connection was used for a page of another server.
    #[error("a page of {0} was requested from another server")]
    OtherServer(String),
    /// The URL cannot be written into a request.
    #[error("the URL cannot be sent in a request")]
    Unsendable,
    /// The server refused the connection: the port is closed.
    #[error("the connection was refused")]
    ConnectRefused,
    /// The connection was not established before the deadline.
    #[error("the connection was not established before the deadline")]
    ConnectTimeout,
    /// The network has no route, or connecting failed otherwise.
    #[error("the server could not be connected to: {0}")]
    Unreachable(std::io::ErrorKind),
    /// The proxy failed or refused the connection.
    #[error("the proxy failed: {0}")]
    Proxy(String),
    /// The server's certificate is not valid.
    #[error("the certificate is not valid: {0}")]
    Certificate(CertificateFault),
    /// The TLS handshake was not complete before the deadline.
    #[error("the TLS handshake was not complete before the deadline")]
    TlsTimeout,
    /// The TLS handshake failed.
    #[error("the TLS handshake failed: {0}")]
    Tls(String),
    /// The head of the response was not complete before the deadline.
    #[error("the server sent no complete response head before the deadline")]
    FirstByteTimeout,
    /// The server closed the kept connection before it sent a byte of the answer. It may not
    /// have seen the request, which can be repeated over a new connection.
    #[error("the server had closed the kept connection")]
    Stale,
    /// The server sent bytes over a kept connection before the request was sent. They answer no
    /// request. The request can be repeated over a new connection.
    #[error("the server sent bytes before the request")]
    Unsolicited,
    /// The page was requested together with others, and the connection failed before its answer.
    /// This says nothing about the page. The page can be requested again, preferably alone.
    #[error("the connection failed before the response")]
    Unanswered,
    /// The connection ended before the head was complete.
    #[error("the connection was closed before the response")]
    Reset,
    /// The bytes received are not a valid HTTP response.
    #[error("the response is not HTTP: {0}")]
    Protocol(String),
    /// The head exceeds the limit of bytes or fields.
    #[error("the head of the response is too large")]
    HeadTooLarge,
    /// The server sent more informational (1xx) responses than allowed.
    #[error("too many informational responses")]
    Informational,
    /// The server reset the stream of this request, or violated HTTP/2. After a violation the
    /// next connection to the server uses HTTP/1.1.
    #[error("the request failed over HTTP/2: {0}")]
    Http2(String),
    /// The server does not speak HTTP/2, which the settings require. The next connection to it
    /// uses HTTP/1.1.
    #[error("the server does not speak HTTP/2")]
    NotHttp2,
    /// The server does not speak HTTP/1.1, the only version that was offered. The next
    /// connection to it uses HTTP/2, if the settings allow it.
    #[error("the server does not speak HTTP/1.1")]
    NotHttp1,
}

/// A fault of a certificate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CertificateFault {
    /// Its validity period is over.
    #[error("it has expired")]
    Expired,
    /// Its validity period has not begun.
    #[error("it is not valid yet")]
    NotYetValid,
    /// It is for another name.
    #[error("it is for another name")]
    WrongName,
    /// It is self-signed, or signed by an authority that is not trusted.
    #[error("its issuer is not trusted")]
    Untrusted,
    /// Any other fault, as rustls describes it.
    #[error("{0}")]
    Other(String),
}

impl Trouble {
    /// Returns the short name that metrics and the ledger use.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NoSuchName(_) => "dns:nxdomain",
            Self::NoAddress(_) => "dns:no-address",
            Self::DnsTimeout(_) => "dns:timeout",
            Self::DnsFailed { .. } => "dns:failed",
            Self::PrivateAddress(_) => "refused:private-address",
            Self::Port(_) => "refused:port",
            Self::Ourselves(_) => "refused:own-listener",
            Self::OtherServer(_) => "refused:other-server",
            Self::Unsendable => "refused:url",
            Self::ConnectRefused => "connect:refused",
            Self::ConnectTimeout => "connect:timeout",
            Self::Unreachable(_) => "connect:unreachable",
            Self::Proxy(_) => "proxy",
            Self::Certificate(fault) => fault.kind(),
            Self::TlsTimeout => "tls:timeout",
            Self::Tls(_) => "tls:handshake",
            Self::FirstByteTimeout => "timeout:first-byte",
            Self::Stale => "stale",
            Self::Unanswered => "unanswered",
            Self::Reset => "reset",
            Self::Protocol(_) | Self::Unsolicited => "protocol-error",
            Self::HeadTooLarge => "headers:too-large",
            Self::Informational => "headers:informational",
            Self::Http2(_) => "http2",
            Self::NotHttp2 => "http2:not-spoken",
            Self::NotHttp1 => "http1:not-spoken",
        }
    }

    /// Returns whether the same request may succeed later, without a change of settings.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::DnsTimeout(_)
            | Self::DnsFailed { .. }
            | Self::ConnectRefused
            | Self::ConnectTimeout
            | Self::Unreachable(_)
            | Self::Proxy(_)
            | Self::TlsTimeout
            | Self::FirstByteTimeout
            | Self::Stale
            | Self::Unsolicited
            | Self::Unanswered
            | Self::Reset
            | Self::Http2(_)
            | Self::NotHttp2
            | Self::NotHttp1 => true,
            Self::NoSuchName(_)
            | Self::NoAddress(_)
            | Self::PrivateAddress(_)
            | Self::Port(_)
            | Self::Ourselves(_)
            | Self::OtherServer(_)
            | Self::Unsendable
            | Self::Certificate(_)
            | Self::Tls(_)
            | Self::Protocol(_)
            | Self::HeadTooLarge
            | Self::Informational => false,
        }
    }

    /// Returns whether the same request can be sent again at once over a new connection.
    ///
    /// That is so when the failure says nothing about the page, or when the next connection uses
    /// HTTP/1.1 instead of HTTP/2.
    pub fn is_repeatable(&self) -> bool {
        matches!(
            self,
            Self::Stale | Self::Unsolicited | Self::Unanswered | Self::NotHttp2
        )
    }
}

impl CertificateFault {
    fn kind(&self) -> &'static str {
        match self {
            Self::Expired => "tls:expired",
            Self::NotYetValid => "tls:not-yet-valid",
            Self::WrongName => "tls:wrong-name",
            Self::Untrusted => "tls:untrusted",
            Self::Other(_) => "tls:certificate",
        }
    }
}
