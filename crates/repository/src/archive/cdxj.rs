//! The CDXJ index of a file: for each capture, where it is, sorted by the key of its URL.
//!
//! **Invariant:** lines are sorted by their bytes, one a capture, so that tools can merge them and
//! search them by bisection. Whatever a page said is in the JSON part, escaped.

use page::PageUrl;
use serde::Serialize;

use super::digest::Digest;
use super::{Kind, Record};

/// What a line says about a capture, but its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) url: Box<str>,
    pub(super) millis: i64,
    pub(super) status: Option<u16>,
    /// The media type; of a revisit `warc/revisit`, as the tools of the field expect.
    pub(super) mime: Option<Box<str>>,
    pub(super) digest: Option<Digest>,
}

impl Entry {
    /// Returns `None` for what is not a capture of a page.
    pub(super) fn of(record: &Record) -> Option<Self> {
        let mime = match record.kind() {
            Kind::Response => record.media_type(),
            Kind::Revisit => Some(REVISIT.to_owned()),
            _ => return None,
        };
        Some(Self {
            url: record.url()?.as_str().into(),
            millis: record.at()?.as_millisecond(),
            status: record.status(),
            mime: mime.map(String::into_boxed_str),
            digest: record.payload_digest(),
        })
    }
}

pub(super) const REVISIT: &str = "warc/revisit";

/// Writes the index of a file. Each entry comes with its offset and length.
pub(super) fn render(entries: &[(Entry, u64, u32)], filename: &str) -> String {
    let mut lines: Vec<String> = entries
        .iter()
        .filter_map(|entry| line(entry, filename))
        .collect();
    lines.sort_unstable();
    lines.concat()
}

/// The JSON part. Numbers are strings, as pywb writes them.
#[derive(Serialize)]
struct Json<'a> {
    url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    length: String,
    offset: String,
    filename: &'a str,
}

fn line((entry, offset, length): &(Entry, u64, u32), filename: &str) -> Option<String> {
    let key = key(&PageUrl::parse(&entry.url).ok()?);
    let at = time(entry.millis)?;
    let json = serde_json::to_string(&Json {
        url: &entry.url,
        mime: entry.mime.as_deref(),
        status: entry.status.map(|status| status.to_string()),
        digest: entry.digest.map(|digest| digest.to_string()),
        length: length.to_string(),
        offset: offset.to_string(),
        filename,
    });
    Some(format!("{key} {at} {}\n", json.ok()?))
}

/// The time of a capture, to the second: `20231114221320`.
pub(super) fn time(millis: i64) -> Option<String> {
    let at = jiff::Timestamp::from_millisecond(millis).ok()?;
    Some(at.strftime("%Y%m%d%H%M%S").to_string())
}

/// The sortable key of a URL: `org,example)/path?query`.
///
/// As the `surt` package makes it for the Wayback tools: without scheme and `www`, lower case, the
/// parameters sorted, no slash at the end. A key may stand for several URLs; the line has the one.
/// (What `surt` also does, and we do not: it undoes percent-encoding.)
pub(super) fn key(url: &PageUrl) -> String {
    let parts = url.as_url();
    let mut key = match parts.host_str().and_then(|host| host.strip_prefix('[')) {
        Some(address) => address.trim_end_matches(']').to_owned(),
        None => reversed(url.host_name()),
    };
    if let Some(port) = parts.port() {
        key.push_str(&format!(":{port}"));
    }
    key.push(')');
    let path = parts.path().trim_end_matches('/');
    key.push_str(if path.is_empty() { "/" } else { path });
    if let Some(query) = parts.query().filter(|query| !query.is_empty()) {
        let query = query.to_ascii_lowercase();
        let mut parameters: Vec<&str> = query.split('&').collect();
        parameters.sort_unstable();
        key.push('?');
        key.push_str(&parameters.join("&"));
    }
    key.make_ascii_lowercase();
    key
}

/// `org,example` of `www.example.org`.
fn reversed(host: &str) -> String {
    let mut labels: Vec<&str> = host.trim_end_matches('.').split('.').collect();
    let number = labels[0].strip_prefix("www");
    if labels.len() > 1 && number.is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit())) {
        labels.remove(0);
    }
    labels.reverse();
    labels.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys() {
        let check = |url: &str, expected: &str| {
            assert_eq!(key(&PageUrl::parse(url).unwrap()), expected, "{url}");
        };
        // Computed with `surt` 0.3.1.
        check("http://example.org/", "org,example)/");
        check(
            "https://www.example.org/A/b/?Z=1&a=2",
            "org,example)/a/b?a=2&z=1",
        );
        check("https://www2.Example.org:8443/x", "org,example:8443)/x");
        check("http://www.com/", "com)/");
        check("http://wwwx.example.org/?", "org,example,wwwx)/");
        check("http://127.0.0.1:8080/a//", "1,0,0,127:8080)/a");
        check("http://[::1]/?b&a", "::1)/?a&b");
    }

    #[test]
    fn nothing_a_page_says_breaks_a_line() {
        let entry = Entry {
            url: "http://a.example/%0A?q=\u{e9} \n".into(),
            millis: 1_700_000_000_123,
            status: None,
            mime: Some("text/\"html\n\r\u{2028}".into()),
            digest: None,
        };
        let text = render(&[(entry, 3, 4)], "f");
        assert_eq!(text.lines().count(), 1);
        let mut parts = text.trim_end().splitn(3, ' ');
        assert_eq!(parts.next(), Some("example,a)/%0a?q=%c3%a9"));
        assert_eq!(parts.next(), Some("20231114221320"));
        let json: serde_json::Value = serde_json::from_str(parts.next().unwrap()).unwrap();
        assert_eq!(json["offset"], "3");
        assert_eq!(json["mime"], "text/\"html\n\r\u{2028}");
        assert!(json.get("status").is_none());
    }
}
