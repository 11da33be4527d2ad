//! What went wrong, before there was an answer?
//!
//! **Invariant:** every way in which a server, a name or the network can fail us is one of these values,
//! with a short name that is counted and stored. Names are stable: the ledger keeps them.

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
    /// The name servers did not answer in time.
    #[error("the name {0} was not resolved in time")]
    DnsTimeout(String),
    /// The name servers failed.
    #[error("the name {name} could not be resolved: {reason}")]
    DnsFailed {
        /// The name that was asked for.
        name: String,
        /// What the resolver says.
        reason: String,
    },
    /// The address is private, loopback, link-local or otherwise not of the public internet.
    #[error("the address {0} is not public")]
    PrivateAddress(IpAddr),
    /// The port is not among those allowed.
    #[error("the port {0} is not allowed")]
    Port(u16),
    /// The address is one where this program itself listens.
    #[error("{0} is this program itself")]
    Ourselves(std::net::SocketAddr),
    /// A route or a connection was asked for a page of another server.
    #[error("the page of {0} is asked for at another server")]
    OtherServer(String),
    /// The URL cannot be written into a request.
    #[error("the URL cannot be sent in a request")]
    Unsendable,
    /// Nobody listens there.
    #[error("the connection was refused")]
    ConnectRefused,
    /// No connection in time.
    #[error("no connection in time")]
    ConnectTimeout,
    /// No way there.
    #[error("the server could not be connected to: {0}")]
    Unreachable(std::io::ErrorKind),
    /// The proxy could not be used.
    #[error("the proxy failed: {0}")]
    Proxy(String),
    /// The server's certificate is not valid.
    #[error("the certificate is not valid: {0}")]
    Certificate(CertificateFault),
    /// No TLS handshake in time.
    #[error("no TLS handshake in time")]
    TlsTimeout,
    /// The TLS handshake failed.
    #[error("the TLS handshake failed: {0}")]
    Tls(String),
    /// No complete head in time.
    #[error("no response in time")]
    FirstByteTimeout,
    /// The kept connection was closed before a byte of the answer came. The request may not have been
    /// seen and can be repeated over a new connection.
    #[error("the kept connection was already closed")]
    Stale,
    /// The server sent bytes over a kept connection before the request was sent: they answer nothing.
    /// The request can be repeated over a new connection.
    #[error("the server sent bytes before it was asked")]
    Unasked,
    /// The page was asked for together with others, and the connection ended, or could not be understood
    /// any more, before its answer. Nothing is known against the page: it can be asked for again, best
    /// alone.
    #[error("the connection was given up before the response")]
    Unanswered,
    /// The connection ended before the head did.
    #[error("the connection was closed before the response")]
    Reset,
    /// What came is not HTTP.
    #[error("the response is not HTTP: {0}")]
    Protocol(String),
    /// The head has too many bytes or fields.
    #[error("the head of the response is too large")]
    HeadTooLarge,
    /// Informational responses without end.
    #[error("too many informational responses")]
    Informational,
    /// The server reset the stream of this request, or broke the rules of HTTP/2. After the latter the
    /// next connection to it will speak HTTP/1.1.
    #[error("the server broke HTTP/2: {0}")]
    Http2(String),
    /// The server does not speak HTTP/2, which alone was asked for. The next connection to it will speak
    /// HTTP/1.1.
    #[error("the server does not speak HTTP/2")]
    NotHttp2,
    /// The server does not speak HTTP/1.1, which alone was offered. The next connection to it will speak
    /// HTTP/2, if the settings allow it.
    #[error("the server does not speak HTTP/1.1")]
    NotHttp1,
}

/// What is wrong with a certificate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CertificateFault {
    /// Its time is over.
    #[error("it has expired")]
    Expired,
    /// Its time has not come.
    #[error("it is not valid yet")]
    NotYetValid,
    /// It is for another name.
    #[error("it is for another name")]
    WrongName,
    /// It is self-signed, or signed by an authority that is not trusted.
    #[error("its issuer is not trusted")]
    Untrusted,
    /// Something else.
    #[error("{0}")]
    Other(String),
}

impl Trouble {
    /// The short name that is counted and stored.
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
            Self::Protocol(_) | Self::Unasked => "protocol-error",
            Self::HeadTooLarge => "headers:too-large",
            Self::Informational => "headers:informational",
            Self::Http2(_) => "http2",
            Self::NotHttp2 => "http2:not-spoken",
            Self::NotHttp1 => "http1:not-spoken",
        }
    }

    /// Whether the same request may well succeed later, with nothing changed on our side.
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
            | Self::Unasked
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

    /// Whether the same request can be sent again at once, over a new connection: the server has not dealt
    /// with it, or will be spoken to in another HTTP.
    pub fn is_repeatable(&self) -> bool {
        matches!(
            self,
            Self::Stale | Self::Unasked | Self::Unanswered | Self::NotHttp2
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
