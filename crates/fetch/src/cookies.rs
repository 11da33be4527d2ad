//! The cookie jar.
//!
//! **Invariant:** a cookie is sent only to the host, or the domain and its subdomains, that it was
//! set for. It is never set for the subdomains of a public suffix. A cookie received over `https`
//! is never sent over `http`. A domain has at most 50 cookies of 4 KiB each, and at most 100,000
//! domains have cookies.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use cookie::{Cookie, Expiration};
use http::header::SET_COOKIE;
use http::{HeaderMap, HeaderValue};
use page::url::PageUrl;

/// Maximum number of cookies of a domain (hostile-web.md, row 64). A further one replaces the
/// oldest.
const PER_DOMAIN: usize = 50;
/// Maximum bytes of name and value, counted as in RFC 6265bis (hostile-web.md, row 64). A longer
/// cookie is ignored.
const LONGEST: usize = 4096;
/// Maximum number of domains with cookies. Cookies of further domains are ignored.
const DOMAINS: usize = 100_000;

/// The cookies of a crawl, by domain.
#[derive(Debug, Default)]
pub(crate) struct Jar(Mutex<HashMap<String, Vec<StoredCookie>>>);

#[derive(Debug)]
struct StoredCookie {
    name: String,
    value: String,
    path: String,
    /// Whether it is sent only to the host itself, not to its subdomains.
    host_only: bool,
    /// Whether it is sent only over `https`.
    secure: bool,
    expires: Option<SystemTime>,
}

impl Jar {
    /// Stores the cookies that a response sets.
    pub(crate) fn keep(&self, url: &PageUrl, headers: &HeaderMap, now: SystemTime) {
        for value in headers.get_all(SET_COOKIE) {
            let Ok(text) = value.to_str() else { continue };
            let Ok(cookie) = Cookie::parse(text) else {
                continue;
            };
            let Some((domain, host_only)) = domain_of(&cookie, url) else {
                continue;
            };
            let kept = StoredCookie {
                name: cookie.name().to_owned(),
                value: cookie.value().to_owned(),
                path: path_of(&cookie, url).to_owned(),
                host_only,
                secure: cookie.secure().unwrap_or(false) || url.is_secure(),
                expires: expiry_of(&cookie, now),
            };
            if kept.name.len() + kept.value.len() <= LONGEST {
                self.put(domain, kept, now);
            }
        }
    }

    /// Returns the value of the `Cookie` header for a request, if any cookie applies.
    pub(crate) fn header(&self, url: &PageUrl, now: SystemTime) -> Option<HeaderValue> {
        let jar = self.lock();
        let host = url.host_name();
        let mut line = String::new();
        let mut domain = Some(host);
        while let Some(name) = domain {
            for kept in jar.get(name).into_iter().flatten() {
                if kept.goes_to(url, name.len() == host.len(), now) {
                    let separator = if line.is_empty() { "" } else { "; " };
                    line.extend([separator, &kept.name, "=", &kept.value]);
                }
            }
            domain = name.split_once('.').map(|(_, parent)| parent);
        }
        let mut value = HeaderValue::try_from(line)
            .ok()
            .filter(|value| !value.is_empty())?;
        value.set_sensitive(true);
        Some(value)
    }

    fn put(&self, domain: String, kept: StoredCookie, now: SystemTime) {
        let mut jar = self.lock();
        if jar.len() >= DOMAINS && !jar.contains_key(&domain) {
            return;
        }
        let cookies = jar.entry(domain).or_default();
        cookies.retain(|old| {
            let replaced =
                old.name == kept.name && old.path == kept.path && old.host_only == kept.host_only;
            !replaced && old.is_alive(now)
        });
        if !kept.is_alive(now) {
            return;
        }
        if cookies.len() == PER_DOMAIN {
            cookies.remove(0);
        }
        cookies.push(kept);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Vec<StoredCookie>>> {
        self.0
            .lock()
            .expect("another task panicked while it held this lock")
    }
}

impl StoredCookie {
    fn is_alive(&self, now: SystemTime) -> bool {
        self.expires.is_none_or(|expires| expires > now)
    }

    fn goes_to(&self, url: &PageUrl, same_host: bool, now: SystemTime) -> bool {
        (same_host || !self.host_only)
            && (url.is_secure() || !self.secure)
            && self.is_alive(now)
            && is_below(url.path(), &self.path)
    }
}

/// Returns the domain of a cookie and whether it is for that host alone; `None` when it may not
/// be set.
fn domain_of(cookie: &Cookie<'_>, url: &PageUrl) -> Option<(String, bool)> {
    let host = url.host_name();
    let Some(domain) = cookie.domain() else {
        return Some((host.to_owned(), true));
    };
    let domain = domain.trim_start_matches('.').to_ascii_lowercase();
    if domain == host {
        return Some((domain, psl::domain_str(host).is_none()));
    }
    let below = host
        .strip_suffix(&domain)
        .is_some_and(|front| front.ends_with('.'));
    // `psl::domain_str` of a public suffix is `None`. An IP address has no parent domain.
    let registrable = psl::domain_str(&domain).is_some() && url.registrable_domain() != host;
    (below && registrable).then_some((domain, false))
}

/// RFC 6265, 5.1.4: without a path attribute, a cookie is for the directory of the page.
fn path_of<'a>(cookie: &'a Cookie<'_>, url: &'a PageUrl) -> &'a str {
    match cookie.path() {
        Some(path) if path.starts_with('/') => path,
        _ => {
            let path = url.path();
            path.rfind('/')
                .filter(|&end| end > 0)
                .map_or("/", |end| &path[..end])
        }
    }
}

fn is_below(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || prefix.ends_with('/'))
}

fn expiry_of(cookie: &Cookie<'_>, now: SystemTime) -> Option<SystemTime> {
    if let Some(age) = cookie.max_age() {
        let seconds = u64::try_from(age.whole_seconds()).unwrap_or(0);
        // A time beyond the range of the clock means no expiry.
        return now.checked_add(Duration::from_secs(seconds));
    }
    match cookie.expires() {
        Some(Expiration::DateTime(date)) => Some(date.into()),
        Some(Expiration::Session) | None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text).unwrap()
    }

    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
    }

    fn jar(at: &str, fields: &[&str]) -> Jar {
        let jar = Jar::default();
        let mut headers = HeaderMap::new();
        for field in fields {
            headers.append(SET_COOKIE, HeaderValue::from_str(field).unwrap());
        }
        jar.keep(&url(at), &headers, now());
        jar
    }

    #[test]
    fn a_cookie_goes_where_it_was_set_for() {
        // The page that sets the cookie `k=v`, the attributes of the cookie, the page that is
        // requested, and whether the cookie is sent.
        let table = "
            http://a.example.org/ | | http://a.example.org/ | yes
            http://a.example.org/ | | http://b.example.org/ | no
            http://a.example.org/ | | http://x.a.example.org/ | no
            http://a.example.org/ | ; Domain=example.org | http://b.example.org/ | yes
            http://a.example.org/ | ; Domain=.Example.org | http://example.org/ | yes
            http://a.example.org/ | ; Domain=other.org | http://other.org/ | no
            http://a.example.org/ | ; Domain=b.example.org | http://b.example.org/ | no
            http://a.example.org/ | ; Domain=org | http://else.org/ | no
            http://a.co.uk/ | ; Domain=co.uk | http://b.co.uk/ | no
            http://xexample.org/ | ; Domain=example.org | http://example.org/ | no
            http://10.0.0.1/ | ; Domain=0.0.1 | http://10.0.0.1/ | no
            http://10.0.0.1/ | ; Domain=10.0.0.1 | http://10.0.0.1/ | yes
            http://a.example.org/ | ; Secure | http://a.example.org/ | no
            https://a.example.org/ | | http://a.example.org/ | no
            https://a.example.org/ | | https://a.example.org/ | yes
            http://a.example.org/d/p | | http://a.example.org/d/q | yes
            http://a.example.org/d/p | | http://a.example.org/dd | no
            http://a.example.org/d/p | ; Path=/ | http://a.example.org/ | yes
            http://a.example.org/ | ; Path=/x/ | http://a.example.org/x/y | yes
            http://a.example.org/ | ; Max-Age=0 | http://a.example.org/ | no
            http://a.example.org/ | ; Max-Age=9999999999999999 | http://a.example.org/ | yes
            http://a.example.org/ | ; Expires=Wed, 21 Oct 2015 07:28:00 GMT | http://a.example.org/ | no
            http://a.example.org/ | ; Expires=Wed, 21 Oct 2099 07:28:00 GMT | http://a.example.org/ | yes";
        for line in table.lines().skip(1) {
            let [at, attributes, to, sent] = line.split('|').map(str::trim).collect::<Vec<_>>()[..]
            else {
                panic!("{line}");
            };
            let header = jar(at, &[&format!("k=v{attributes}")]).header(&url(to), now());
            assert_eq!(
                header.is_some_and(|value| value == "k=v"),
                sent == "yes",
                "{line}"
            );
        }
        let host = "http://a.example.org/";
        for field in ["k", &format!("k={}", "v".repeat(4096))] {
            assert_eq!(
                jar(host, &[field]).header(&url(host), now()),
                None,
                "{field}"
            );
        }
    }

    /// Row 64: of a site that sets cookies without end, the last fifty are kept.
    #[test]
    fn a_domain_keeps_its_last_fifty_cookies() {
        let fields: Vec<String> = (0..60).map(|n| format!("k{n}=v")).collect();
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        let jar = jar("http://a.example/", &fields);
        let sent = jar.header(&url("http://a.example/"), now()).unwrap();
        let sent: Vec<&str> = sent.to_str().unwrap().split("; ").collect();
        assert_eq!((sent.len(), sent[0], sent[49]), (50, "k10=v", "k59=v"));
    }

    #[test]
    fn a_cookie_is_replaced_and_deleted() {
        let host = url("http://a.example/");
        let replaced = jar("http://a.example/", &["k=1", "k=2"]);
        assert_eq!(replaced.header(&host, now()).unwrap(), "k=2");
        let deleted = jar("http://a.example/", &["k=1", "k=; Max-Age=0"]);
        assert_eq!(deleted.header(&host, now()), None);
    }
}
