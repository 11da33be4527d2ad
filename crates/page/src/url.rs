//! The one normal form of a URL, and the ids made from it.
//!
//! **Invariant:** a [`PageUrl`] is absolute, `http` or `https`, without user info and fragment, and
//! two of them are equal only if RFC 3986 and the WHATWG standard let a client treat them as the
//! same resource. Whatever a site *might* treat as equal (a trailing slash, the case of a path, the
//! order of parameters) stays apart: merging it could lose a page, fetching it twice cannot.

mod fragment;
mod normal;
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

/// A URL in normal form.
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

/// A server as a URL names it: scheme, host and port.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HostId(pub u64);

/// A page: the host in the upper half, the URL within it in the lower, so that the pages of a host
/// are neighbours wherever ids are sorted.
///
/// Identity is 128 bits; within one host it is 64, so a host of a million pages has a chance of
/// 3 in 10^8 that two of its URLs are taken for one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PageId(pub u128);

impl PageUrl {
    /// Reads an absolute URL.
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

    /// The URL as text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The parsed URL.
    pub fn as_url(&self) -> &Url {
        &self.0
    }

    /// `https://example.org:8443`; a default port is left out.
    pub fn origin(&self) -> &str {
        &self.0[..url::Position::BeforePath]
    }

    /// The host name or address as written in the URL (an IPv6 address in brackets).
    pub fn host_name(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// The port, by default that of the scheme.
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or(80)
    }

    /// Whether the scheme is `https`.
    pub fn is_secure(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// The path, which starts with a slash.
    pub fn path(&self) -> &str {
        self.0.path()
    }

    /// What follows the question mark; empty is not the same as none.
    pub fn query(&self) -> Option<&str> {
        self.0.query()
    }

    /// Path and query, as they go into a request line.
    pub fn path_and_query(&self) -> &str {
        &self.0[url::Position::BeforePath..url::Position::AfterQuery]
    }

    /// The shape of the URL: equal for the pages that one template of a site is likely to have made.
    ///
    /// Host and path count, with numbers, dates and long hexadecimal runs taken for placeholders and
    /// the last segment for its extension; of the query the sorted keys. What keeps giving
    /// near-duplicates under one shape is a trap.
    pub fn pattern(&self) -> u64 {
        shape::pattern(self)
    }

    /// The server it is on.
    pub fn host(&self) -> HostId {
        HostId(xxh3_64(self.origin().as_bytes()))
    }

    /// The page it names.
    pub fn id(&self) -> PageId {
        PageId::new(self.host(), xxh3_64(self.as_str().as_bytes()))
    }

    /// The domain someone registered (`example.co.uk` of `a.b.example.co.uk`, by the public suffix
    /// list); of an address or a bare suffix, the host itself.
    pub fn registrable_domain(&self) -> &str {
        let host = self.host_name();
        match self.0.host() {
            Some(url::Host::Domain(name)) => psl::domain_str(name).unwrap_or(name),
            _ => host,
        }
    }
}

impl PageId {
    /// Joins the halves.
    pub fn new(host: HostId, page: u64) -> Self {
        Self(u128::from(host.0) << 64 | u128::from(page))
    }

    /// The server the page is on.
    pub fn host(self) -> HostId {
        HostId((self.0 >> 64) as u64)
    }

    /// The half that names the page within its host.
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
