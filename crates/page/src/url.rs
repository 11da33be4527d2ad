//! Normalized URLs, and the ids made from them.
//!
//! **Invariant:** a [`PageUrl`] is absolute, has the scheme `http` or `https`, and has neither
//! user info nor fragment. Two of them are equal only if RFC 3986 and the WHATWG standard let a
//! client treat them as the same resource. What a site *might* treat as equal stays distinct: a
//! trailing slash, the case of a path, the order of parameters. Merging such URLs could lose a
//! page; fetching one page twice cannot.

mod fragment;
pub(crate) mod normal;
mod quick;
mod session;
mod shape;
#[cfg(test)]
mod tests;
pub mod traps;

pub use fragment::with_fragment;

use std::fmt;
use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

/// A normalized URL: its text, and where its parts end.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PageUrl {
    text: Box<str>,
    /// The end of the host name, which begins after the scheme.
    host_end: u32,
    /// Where the path begins.
    path: u32,
    /// Where the query begins, with its question mark; the length of the text if there is none.
    query: u32,
}

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
        quick::parse(text).map_or_else(|| Self::accept(Url::parse(text)), Ok)
    }

    /// Resolves a link found on this page.
    pub fn join(&self, link: &str) -> Result<Self, Refusal> {
        if let Some(url) = quick::join(self, link) {
            return Ok(url);
        }
        let base = self.to_url();
        match normal::without_extra_slashes(link) {
            Some(link) => Self::accept(base.join(&link)),
            None => Self::accept(base.join(link)),
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
        Self::of(url)
    }

    fn of(url: Url) -> Result<Self, Refusal> {
        let to = |end: url::Position| url[..end].len() as u32;
        let (host_end, path) = (to(url::Position::AfterHost), to(url::Position::BeforePath));
        let query = to(url::Position::AfterPath);
        if url.as_str().len() > u32::MAX as usize {
            return Err(Refusal::Malformed);
        }
        Ok(Self {
            text: String::from(url).into_boxed_str(),
            host_end,
            path,
            query,
        })
    }

    /// Returns the URL as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Parses the text again, for callers that need the general type.
    pub fn to_url(&self) -> Url {
        Url::parse(&self.text).expect("the text of a normalized URL is a URL")
    }

    /// Returns scheme, host and port, such as `https://example.org:8443`; a default port is
    /// omitted.
    pub fn origin(&self) -> &str {
        &self.text[..self.path as usize]
    }

    /// Returns the normalized host name or IP address, an IPv6 address in brackets.
    pub fn host_name(&self) -> &str {
        let scheme = if self.is_secure() { 8 } else { 7 };
        &self.text[scheme..self.host_end as usize]
    }

    /// Returns the port, by default that of the scheme.
    pub fn port(&self) -> u16 {
        let default = if self.is_secure() { 443 } else { 80 };
        self.other_port().unwrap_or(default)
    }

    /// Returns the port, if it is not that of the scheme.
    pub fn other_port(&self) -> Option<u16> {
        let port = &self.text[self.host_end as usize..self.path as usize];
        port.strip_prefix(':')?.parse().ok()
    }

    /// Returns whether the scheme is `https`.
    pub fn is_secure(&self) -> bool {
        self.text.as_bytes()[4] == b's'
    }

    /// Returns the path, which starts with a slash.
    pub fn path(&self) -> &str {
        &self.text[self.path as usize..self.query as usize]
    }

    /// Returns the part after the question mark. An empty query differs from none.
    pub fn query(&self) -> Option<&str> {
        self.text[self.query as usize..].strip_prefix('?')
    }

    /// Returns path and query, as they appear in a request line.
    pub fn path_and_query(&self) -> &str {
        &self.text[self.path as usize..]
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
        let is_address = host.starts_with('[') || host.parse::<Ipv4Addr>().is_ok();
        match is_address {
            true => host,
            false => psl::domain_str(host).unwrap_or(host),
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
