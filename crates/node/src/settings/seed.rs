//! The URL of a seed that may lack a scheme.

use std::net::IpAddr;

use page::PageUrl;
use page::url::Refusal;

/// Parses a seed. A host name or address without a scheme gets one: `http` on loopback, `https`
/// otherwise.
pub fn seed_url(text: &str) -> Result<PageUrl, Refusal> {
    PageUrl::parse(text).or_else(|refusal| {
        let completed = with_scheme(text).and_then(|url| PageUrl::parse(&url).ok());
        completed.ok_or(refusal)
    })
}

/// Adds a scheme to a host name or address with an optional port and path: `http` on loopback,
/// `https` otherwise. Returns `None` for any other text, and for a name without a dot other than
/// `localhost`.
fn with_scheme(text: &str) -> Option<String> {
    let authority = text.split(['/', '?', '#']).next()?;
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let good_port = port.is_none_or(|port| port.parse::<u16>().is_ok());
    let address = host.trim_start_matches('[').trim_end_matches(']').parse();
    let is_name = host.contains('.') && !host.contains(['@', ' ', ':', '\\']);
    let loopback =
        host == "localhost" || address.is_ok_and(|address: IpAddr| address.is_loopback());
    let scheme = if loopback { "http" } else { "https" };
    (good_port && (loopback || is_name)).then(|| format!("{scheme}://{text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_without_a_scheme_gets_http_on_loopback_and_https_elsewhere() {
        for (text, url) in [
            ("example.org", Some("https://example.org")),
            (
                "example.org:8443/docs?a=b:c",
                Some("https://example.org:8443/docs?a=b:c"),
            ),
            ("localhost", Some("http://localhost")),
            ("localhost:8080/docs", Some("http://localhost:8080/docs")),
            ("127.1.2.3/a", Some("http://127.1.2.3/a")),
            ("[::1]:80", Some("http://[::1]:80")),
            ("10.0.0.1", Some("https://10.0.0.1")),
            ("docs", None),
            ("mailto:you@example.org", None),
            ("you@example.org", None),
            ("example.org:port", None),
            ("a sentence. with words", None),
        ] {
            assert_eq!(with_scheme(text).as_deref(), url, "{text}");
        }
    }
}
