//! The CDXJ index of an archive file: one line per capture, sorted by the key of its URL.
//!
//! **Invariant:** lines are sorted by their bytes, so that tools can merge the indexes and
//! search them by bisection. No text from the web can break a line or shift its fields: the key
//! is derived from a normalized URL, which has no spaces and no control characters, and all other
//! text from the web is in the JSON part, escaped.

use page::PageUrl;
use serde::Serialize;

use super::digest::PayloadDigest;
use super::{RecordKind, WarcRecord};

/// The content of a line, without the location of the record.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CdxjEntry {
    pub(super) url: Box<str>,
    /// When the page was fetched, in Unix milliseconds.
    pub(super) millis: i64,
    pub(super) status: Option<u16>,
    /// The media type; `warc/revisit` for a revisit, as other tools write it.
    pub(super) mime: Option<Box<str>>,
    pub(super) digest: Option<PayloadDigest>,
}

impl CdxjEntry {
    /// Returns the content of a record's line; `None` if the record is not a capture of a page, or
    /// lacks a valid URL or date.
    pub(super) fn of(record: &WarcRecord) -> Option<Self> {
        let mime = match record.kind() {
            RecordKind::Response => record.media_type(),
            RecordKind::Revisit => Some(REVISIT.to_owned()),
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

/// Returns the text of an index. Each entry comes with the offset and the length of its record.
pub(super) fn render(entries: &[(CdxjEntry, u64, u32)], filename: &str) -> String {
    let mut lines: Vec<String> = entries
        .iter()
        .filter_map(|entry| line(entry, filename))
        .collect();
    lines.sort_unstable();
    lines.concat()
}

/// The JSON part of a line. Numbers are strings, as pywb writes them.
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

fn line((entry, offset, length): &(CdxjEntry, u64, u32), filename: &str) -> Option<String> {
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

/// Formats the time of a capture to the second, as in `20231114221320`.
pub(super) fn time(millis: i64) -> Option<String> {
    let at = jiff::Timestamp::from_millisecond(millis).ok()?;
    Some(at.strftime("%Y%m%d%H%M%S").to_string())
}

/// Returns the sortable key of a URL, such as `org,example)/path?query`.
///
/// The key is that of the Python package `surt`, which the Wayback tools use. It has no scheme and
/// no leading `www`, `www1`, …. It is in lower case, and its parameters are sorted. A path other
/// than the root has no slash at its end. Unlike `surt`, this function neither decodes
/// percent-encoding nor removes session ids. Several URLs may have the same key, so a line also
/// contains the URL.
pub(super) fn key(url: &PageUrl) -> String {
    let mut key = match url.host_name().strip_prefix('[') {
        Some(address) => address.trim_end_matches(']').to_owned(),
        None => reversed(url.host_name()),
    };
    if let Some(port) = url.other_port() {
        key.push_str(&format!(":{port}"));
    }
    key.push(')');
    let path = url.path().trim_end_matches('/');
    key.push_str(if path.is_empty() { "/" } else { path });
    if let Some(query) = url.query().filter(|query| !query.is_empty()) {
        let query = query.to_ascii_lowercase();
        let mut parameters: Vec<&str> = query.split('&').collect();
        parameters.sort_unstable();
        key.push('?');
        key.push_str(&parameters.join("&"));
    }
    key.make_ascii_lowercase();
    key
}

/// Reverses the labels of a host name, without a leading `www`, `www1`, …: `www.example.org`
/// becomes `org,example`.
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
    fn keys_equal_those_of_surt() {
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
    fn line_ends_and_quotes_from_the_web_do_not_break_a_line() {
        let entry = CdxjEntry {
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
