//! Proxy settings.
//!
//! **Invariant:** a proxy comes from the user's settings or from the environment, never from a
//! page. The proxy resolves names itself. Behind one, only hosts written as an IP address can be
//! checked against the private ranges; filtering the rest is up to the operator of the proxy.

mod environment;

use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::HeaderValue;
use page::url::PageUrl;
use percent_encoding::percent_decode_str;

pub use environment::{EnvironmentProxies, EnvironmentProxyError};

/// A proxy, as in `http://user:password@proxy.example:3128` or `socks5://127.0.0.1:9050`.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxySettings {
    /// The protocol it speaks.
    pub kind: ProxyKind,
    /// Its host name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// User and password, where the proxy requires them.
    pub credentials: Option<(String, String)>,
}

/// The protocol of a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyKind {
    /// HTTP: absolute URLs for `http`, `CONNECT` for `https`.
    Http,
    /// SOCKS 5. The proxy receives the name and resolves it.
    Socks5,
}

/// Why a text does not name a proxy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProxyError {
    /// It is not a URL with a host.
    #[error("the proxy is not a URL such as http://proxy.example:3128")]
    Malformed,
    /// Its scheme is not supported.
    #[error("the proxy scheme {0} is not http, socks5 or socks5h")]
    Scheme(String),
}

impl ProxySettings {
    /// Parses a proxy URL.
    pub fn parse(text: &str) -> Result<Self, ProxyError> {
        let (scheme, rest) = text.split_once("://").ok_or(ProxyError::Malformed)?;
        let (kind, default_port) = match scheme.to_ascii_lowercase().as_str() {
            "http" => (ProxyKind::Http, 8080),
            "socks5" | "socks5h" => (ProxyKind::Socks5, 1080),
            other => return Err(ProxyError::Scheme(other.to_owned())),
        };
        let (credentials, place) = match rest.rsplit_once('@') {
            Some((credentials, place)) => (Some(credentials), place),
            None => (None, rest),
        };
        let place = place.trim_end_matches('/');
        let (host, port) = match place.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                (host, port.parse().map_err(|_| ProxyError::Malformed)?)
            }
            _ => (place, default_port),
        };
        // The host is normalized like the host of a link. Nothing but a host and a port may be
        // given.
        let url = PageUrl::parse(&format!("http://{host}/")).map_err(|_| ProxyError::Malformed)?;
        if url.path_and_query() != "/" || host.contains(['/', '?', '#', '\\']) {
            return Err(ProxyError::Malformed);
        }
        Ok(Self {
            kind,
            host: url.host_name().to_owned(),
            port,
            credentials: credentials.map(split_credentials),
        })
    }

    /// Returns the value of `Proxy-Authorization`, where the proxy has credentials.
    pub(crate) fn authorization(&self) -> Option<HeaderValue> {
        let (user, password) = self.credentials.as_ref()?;
        basic(user, password)
    }
}

/// Returns the value of an `Authorization` header for basic authentication (RFC 7617).
///
/// The value is marked sensitive, so that it is neither logged nor indexed by HTTP/2 header
/// compression. Returns `None` when it cannot be sent in a header.
pub(crate) fn basic(user: &str, password: &str) -> Option<HeaderValue> {
    let token = BASE64_STANDARD.encode(format!("{user}:{password}"));
    let mut value = HeaderValue::try_from(format!("Basic {token}")).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Splits `user:password` and decodes percent escapes: a password in a URL holds `@` and `:` as
/// `%40` and `%3A`.
fn split_credentials(text: &str) -> (String, String) {
    let decoded = |part| percent_decode_str(part).decode_utf8_lossy().into_owned();
    let (user, password) = text.split_once(':').unwrap_or((text, ""));
    (decoded(user), decoded(password))
}

impl fmt::Debug for ProxySettings {
    /// Omits the credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}({}:{})", self.kind, self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_read_from_urls() {
        use ProxyKind::{Http, Socks5};
        let check = |text: &str, kind, host: &str, port, credentials: Option<(&str, &str)>| {
            let wanted = ProxySettings {
                kind,
                host: host.to_owned(),
                port,
                credentials: credentials.map(|(u, p)| (u.to_owned(), p.to_owned())),
            };
            assert_eq!(ProxySettings::parse(text), Ok(wanted), "{text}");
        };
        check("http://a.example", Http, "a.example", 8080, None);
        check("http://a.example:3128/", Http, "a.example", 3128, None);
        check("socks5://127.0.0.1:9050", Socks5, "127.0.0.1", 9050, None);
        check("socks5h://[::1]", Socks5, "[::1]", 1080, None);
        check("HTTP://[::1]:8", Http, "[::1]", 8, None);
        check("http://u:p%40%3a@h:1", Http, "h", 1, Some(("u", "p@:")));
        check("http://u@h", Http, "h", 8080, Some(("u", "")));
    }

    #[test]
    fn invalid_proxy_urls_are_refused() {
        for text in [
            "",
            "proxy:3128",
            "http://",
            "http://:80",
            "http://h:99999",
            "http://h/path",
            "http://h?q",
        ] {
            assert_eq!(
                ProxySettings::parse(text),
                Err(ProxyError::Malformed),
                "{text}"
            );
        }
        assert_eq!(
            ProxySettings::parse("https://h"),
            Err(ProxyError::Scheme("https".to_owned()))
        );
    }

    #[test]
    fn a_password_is_not_printed() {
        let proxy = ProxySettings::parse("http://user:secret@h").unwrap();
        assert!(!format!("{proxy:?}").contains("secret"));
    }
}
