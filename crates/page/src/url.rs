//! Normalized URLs, and the ids made from them.
//!
//! **Invariant:** a [`PageUrl`] is absolute, has the scheme `http` or `https`, and has neither
//! user info nor fragment. Two of them are equal only if RFC 3986 and the WHATWG standard let a
//! client treat them as the same resource. What a site *might* treat as equal stays distinct: a
//! trailing slash, the case of a path, the order of parameters. Merging such URLs could lose a
//! page; fetching one page twice cannot.

mod fragment;
pub(crate) mod normal;
mod session;
mod shape;
#[cfg(test)]
mod tests;
pub mod traps;

pub use fragment::with_fragment;

use std::fmt;

use serde::{Deserialize, Serialize};
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

/// A normalized URL.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PageUrl(Url);

/// Why a string is not the URL of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// It is not a URL, or not one with a host.
    #[error("not a URL")]
    Malformed,
    /// It is `mailto:`, `javascript:`, `data:` or another scheme that is not fetched over HTTP.
    #[error("not http or https")]
    Scheme,
}

/// A hash of scheme, host and port.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HostId(pub u64);

/// The id of a page: the host in the upper half, a hash of the URL in the lower half.
///
/// The pages of a host are therefore adjacent in sorted order. Within one host the id has 64
/// bits. For a host of a million pages, the probability of any collision is 3 in 10^8.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PageId(pub u128);

impl PageUrl {
    /// Parses an absolute URL.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        Self::accept(Url::parse(text))
    }

    /// Resolves a link found on this page.
    pub fn join(&self, link: &str) -> Result<Self, Refusal> {
        match normal::without_extra_slashes(link) {
            Some(link) => Self::accept(self.0.join(&link)),
            None => Self::accept(self.0.join(link)),
        }
    }

    fn accept(parsed: Result<Url, url::ParseError>) -> Result<Self, Refusal> {
        let mut url = parsed.map_err(|_| Refusal::Malformed)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Refusal::Scheme);
        }
        if url.host_str().is_none_or(str::is_empty) {
            return Err(Refusal::Malformed);
        }
        if url.fragment().is_some() {
            url.set_fragment(None);
        }
        normal::drop_root_dot(&mut url)?;
        normal::normalise_escapes(&mut url);
        if !url.username().is_empty() || url.password().is_some() {
            url.set_username("").map_err(|()| Refusal::Malformed)?;
            url.set_password(None).map_err(|()| Refusal::Malformed)?;
        }
        Ok(Self(url))
    }

    /// Returns the URL as text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the parsed URL.
    pub fn as_url(&self) -> &Url {
        &self.0
    }

    /// Returns scheme, host and port, such as `https://example.org:8443`; a default port is
    /// omitted.
    pub fn origin(&self) -> &str {
        &self.0[..url::Position::BeforePath]
    }

    /// Returns the normalized host name or IP address, an IPv6 address in brackets.
    pub fn host_name(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// Returns the port, by default that of the scheme.
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or(80)
    }

    /// Returns whether the scheme is `https`.
    pub fn is_secure(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// Returns the path, which starts with a slash.
    pub fn path(&self) -> &str {
        self.0.path()
    }

    /// Returns the part after the question mark. An empty query differs from none.
    pub fn query(&self) -> Option<&str> {
        self.0.query()
    }

    /// Returns path and query, as they appear in a request line.
    pub fn path_and_query(&self) -> &str {
        &self.0[url::Position::BeforePath..url::Position::AfterQuery]
    }

    /// Returns a hash of the URL's pattern, which pages of one template usually share.
    ///
    /// The pattern consists of host, path and the sorted keys of the query. Numbers, dates and
    /// long hexadecimal runs become placeholders. The last segment becomes one placeholder, for a
    /// number or a name, and its extension. A pattern that keeps yielding near-duplicates is a
    /// spider trap.
    pub fn pattern(&self) -> u64 {
        shape::pattern(self)
    }

    /// Returns the id of its host.
    pub fn host(&self) -> HostId {
        HostId(xxh3_64(self.origin().as_bytes()))
    }

    /// Returns the id of the page.
    pub fn id(&self) -> PageId {
        PageId::new(self.host(), xxh3_64(self.as_str().as_bytes()))
    }

    /// Returns the registrable domain by the public suffix list: `example.co.uk` for
    /// `a.b.example.co.uk`.
    ///
    /// For an IP address or a bare suffix it returns the host itself.
    pub fn registrable_domain(&self) -> &str {
        let host = self.host_name();
        match self.0.host() {
            Some(url::Host::Domain(name)) => psl::domain_str(name).unwrap_or(name),
            _ => host,
        }
    }
}

impl PageId {
    /// Combines the halves.
    pub fn new(host: HostId, page: u64) -> Self {
        Self(u128::from(host.0) << 64 | u128::from(page))
    }

    /// Returns the host of the page.
    pub fn host(self) -> HostId {
        HostId((self.0 >> 64) as u64)
    }

    /// Returns the half that identifies the page within its host.
    pub fn within_host(self) -> u64 {
        self.0 as u64
    }
}

impl fmt::Display for PageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for PageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for HostId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "host:{:016x}", self.0)
    }
}

impl fmt::Debug for PageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "page:{:032x}", self.0)
    }
}
