//! The cookie jar.
//!
//! **Invariant:** a cookie is sent only to the domain it was set for, and never set for a public
//! suffix. A cookie received over `https` is never sent over `http`. A domain has at most 50
//! cookies of 4 KB each.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use cookie::{Cookie, Expiration};
use http::header::SET_COOKIE;
use http::{HeaderMap, HeaderValue};
use page::url::PageUrl;

/// Cookies per domain (hostile-web.md, row 64).
const PER_DOMAIN: usize = 50;
/// Bytes of name and value, counted as in RFC 6265bis (hostile-web.md, row 64).
const LONGEST: usize = 4096;
/// Domains with cookies. Cookies of further domains are ignored.
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
        let jar = self
            .0
            .lock()
            .expect("another task panicked while it held this lock");
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
        let mut jar = self
            .0
            .lock()
            .expect("another task panicked while it held this lock");
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
}

impl StoredCookie {
    fn is_alive(&self, now: SystemTime) -> bool {
        self.expires.is_none_or(|expires| expires > now)
    }

    fn goes_to(&self, url: &PageUrl, same_host: bool, now: SystemTime) -> bool {
        (same_host || !self.host_only)
            && (url.is_secure() || !self.secure)
            && self.is_alive(now)
            && is_below(url.as_url().path(), &self.path)
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
            let path = url.as_url().path();
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
        let check = |at: &str, field: &str, to: &str, wanted: Option<&str>| {
            let sent = jar(at, &[field]).header(&url(to), now());
            let sent = sent.as_ref().map(|value| value.to_str().unwrap());
            assert_eq!(sent, wanted, "{field} set at {at}, asked for at {to}");
        };
        let host = "http://a.example.org/";
        check(host, "k=v", host, Some("k=v"));
        check(host, "k=v", "http://b.example.org/", None);
        check(host, "k=v", "http://x.a.example.org/", None);
        check(
            host,
            "k=v; Domain=example.org",
            "http://b.example.org/",
            Some("k=v"),
        );
        check(
            host,
            "k=v; Domain=.Example.org",
            "http://example.org/",
            Some("k=v"),
        );
        check(host, "k=v; Domain=other.org", "http://other.org/", None);
        check(
            host,
            "k=v; Domain=b.example.org",
            "http://b.example.org/",
            None,
        );
        check(host, "k=v; Domain=org", "http://else.org/", None);
        check(
            "http://a.co.uk/",
            "k=v; Domain=co.uk",
            "http://b.co.uk/",
            None,
        );
        check(
            "http://xexample.org/",
            "k=v; Domain=example.org",
            "http://example.org/",
            None,
        );
        check(
            "http://10.0.0.1/",
            "k=v; Domain=0.0.1",
            "http://10.0.0.1/",
            None,
        );
        check(
            "http://10.0.0.1/",
            "k=v; Domain=10.0.0.1",
            "http://10.0.0.1/",
            Some("k=v"),
        );
        check(host, "k=v; Secure", host, None);
        check("https://a.example.org/", "k=v", host, None);
        check(
            "https://a.example.org/",
            "k=v",
            "https://a.example.org/",
            Some("k=v"),
        );
        check(
            "http://a.example.org/d/p",
            "k=v",
            "http://a.example.org/d/q",
            Some("k=v"),
        );
        check(
            "http://a.example.org/d/p",
            "k=v",
            "http://a.example.org/dd",
            None,
        );
        check("http://a.example.org/d/p", "k=v; Path=/", host, Some("k=v"));
        check(
            host,
            "k=v; Path=/x/",
            "http://a.example.org/x/y",
            Some("k=v"),
        );
        check(host, "k=v; Max-Age=0", host, None);
        check(host, "k=v; Max-Age=9999999999999999", host, Some("k=v"));
        check(
            host,
            "k=v; Expires=Wed, 21 Oct 2015 07:28:00 GMT",
            host,
            None,
        );
        check(
            host,
            "k=v; Expires=Wed, 21 Oct 2099 07:28:00 GMT",
            host,
            Some("k=v"),
        );
        check(host, "k", host, None);
        check(host, &format!("k={}", "v".repeat(4096)), host, None);
    }

    /// Row 64: of a site that sets cookies without end, the last fifty are kept.
    #[test]
    fn fifty_cookies_are_enough() {
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
