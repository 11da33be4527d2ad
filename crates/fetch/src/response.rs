//! The response of a server and the meaning of its headers.
//!
//! **Invariant:** `head` and `body` are what the archive keeps; `content` is derived from `body`. A
//! header that cannot be parsed counts as absent; only an unusable redirect target is reported.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::{
    CONTENT_LANGUAGE, CONTENT_TYPE, DATE, ETAG, LAST_MODIFIED, LOCATION, RETRY_AFTER,
};
use http::{HeaderMap, HeaderName};
use page::Directives;
use page::url::{PageUrl, Refusal};

/// Upper bound of `Retry-After`: a server that asks for more is asked again after a day.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// A response, complete or truncated.
#[derive(Debug, Clone)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The header fields.
    pub headers: HeaderMap,
    /// Status line and header fields with the empty line that ends them.
    ///
    /// Over HTTP/1 these are the bytes as received, without informational responses before them.
    /// Over HTTP/2 the fields are written in the format of HTTP/1.1, which WARC readers expect.
    pub head: Bytes,
    /// The body without its transfer coding but with its content coding, as the archive keeps
    /// it.
    pub body: Bytes,
    /// The body without its content coding; shares `body` when there is none.
    pub content: Bytes,
    /// Whether the content is still encoded, because its coding is unknown or not the declared
    /// one, or because it has too many codings.
    pub undecoded: bool,
    /// Why the body or the content is incomplete; `None` when it is complete.
    pub truncated: Option<Truncation>,
}

/// Why a body was cut short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Truncation {
    /// It exceeds the size limit.
    Size,
    /// Its decompressed size exceeds the allowed ratio (decompression bomb).
    Ratio,
    /// It was not complete before the deadline.
    Time,
    /// It arrived more slowly than the minimum rate.
    Slow,
    /// The connection ended before the declared length was received.
    Length,
    /// The connection was reset, or a body without a declared length ended before its end
    /// marker.
    Reset,
    /// Its chunked framing is invalid.
    Malformed,
    /// Its content coding is corrupt.
    Coding,
}

impl Truncation {
    /// Returns the short name that metrics and the ledger use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Size => "truncated:size",
            Self::Ratio => "truncated:ratio",
            Self::Time => "truncated:time",
            Self::Slow => "truncated:slow",
            Self::Length => "truncated:length",
            Self::Reset => "truncated:reset",
            Self::Malformed => "truncated:malformed",
            Self::Coding => "truncated:coding",
        }
    }

    /// Returns the value for `WARC-Truncated` (WARC 1.1, 5.13).
    ///
    /// `None` where the archived body is complete and only its content could not be decoded.
    pub fn warc(self) -> Option<&'static str> {
        match self {
            Self::Size => Some("length"),
            Self::Time | Self::Slow => Some("time"),
            Self::Length | Self::Reset => Some("disconnect"),
            Self::Malformed => Some("unspecified"),
            Self::Ratio | Self::Coding => None,
        }
    }
}

impl Response {
    /// Returns the declared media type, parameters included.
    pub fn content_type(&self) -> Option<&str> {
        self.text(&CONTENT_TYPE)
    }

    /// Returns the declared language of the content.
    pub fn content_language(&self) -> Option<&str> {
        self.text(&CONTENT_LANGUAGE)
    }

    /// Returns the validator for `If-None-Match`.
    pub fn etag(&self) -> Option<&str> {
        self.text(&ETAG)
    }

    /// Returns the validator for `If-Modified-Since`.
    pub fn last_modified(&self) -> Option<&str> {
        self.text(&LAST_MODIFIED)
    }

    /// Returns the target of a redirect, or why the target is unusable; `None` when this is not
    /// a redirect or has no `Location`.
    ///
    /// Bytes beyond ASCII, which some servers send, are read as UTF-8.
    pub fn location(&self, url: &PageUrl) -> Option<Result<PageUrl, Refusal>> {
        if !matches!(self.status, 300..=303 | 305..=308) {
            return None;
        }
        let value = self.headers.get(LOCATION)?;
        Some(url.join(&String::from_utf8_lossy(value.as_bytes())))
    }

    /// Returns how long the server asks to wait: seconds or a date (RFC 9110, 10.2.3), at most a
    /// day.
    ///
    /// A date is compared with the server's own `Date` header, because our clock may be wrong.
    /// Without that header it is compared with `now`.
    pub fn retry_after(&self, now: SystemTime) -> Option<Duration> {
        let text = self.text(&RETRY_AFTER)?.trim();
        let wait = match text.parse() {
            Ok(seconds) => Duration::from_secs(seconds),
            // A number too large for `u64` is still a number.
            Err(_) if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => {
                LONGEST_WAIT
            }
            Err(_) => {
                let date = httpdate::parse_http_date(text).ok()?;
                let sent = self
                    .text(&DATE)
                    .and_then(|sent| httpdate::parse_http_date(sent).ok());
                date.duration_since(sent.unwrap_or(now)).unwrap_or_default()
            }
        };
        Some(wait.min(LONGEST_WAIT))
    }

    /// Returns the `X-Robots-Tag` directives for the crawler with this product token.
    pub fn x_robots_tag(&self, token: &str) -> Directives {
        let values = self.headers.get_all("x-robots-tag").iter();
        Directives::of(values.filter_map(|value| value.to_str().ok()), token)
    }

    /// Returns the `Link` header fields that are valid text.
    pub fn links(&self) -> impl Iterator<Item = &str> {
        let fields = self.headers.get_all(http::header::LINK).into_iter();
        fields.filter_map(|field| field.to_str().ok())
    }

    fn text(&self, name: &HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn response(status: u16, name: HeaderName, value: &[u8]) -> Response {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_bytes(value).unwrap());
        Response {
            status,
            headers,
            head: Bytes::new(),
            body: Bytes::new(),
            content: Bytes::new(),
            undecoded: false,
            truncated: None,
        }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date_and_bounded() {
        // Wed, 21 Oct 2015 07:28:00 GMT
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_445_412_480);
        let check = |value: &str, seconds: Option<u64>| {
            let wait = response(503, RETRY_AFTER, value.as_bytes()).retry_after(now);
            assert_eq!(wait, seconds.map(Duration::from_secs), "{value}");
        };
        check("120", Some(120));
        check(" 7 ", Some(7));
        check("0", Some(0));
        check("1000000000", Some(86_400));
        check("99999999999999999999999999", Some(86_400));
        check("Wed, 21 Oct 2015 07:30:00 GMT", Some(120));
        check("Wed, 21 Oct 2015 07:00:00 GMT", Some(0));
        check("Fri, 31 Dec 9999 23:59:59 GMT", Some(86_400));
        check("-1", None);
        check("1.5", None);
        check("soon", None);
        check("", None);
        // The server's clock is two hours behind ours.
        let mut dated = response(503, RETRY_AFTER, b"Wed, 21 Oct 2015 05:30:00 GMT");
        let sent = HeaderValue::from_static("Wed, 21 Oct 2015 05:28:00 GMT");
        dated.headers.insert(DATE, sent);
        assert_eq!(dated.retry_after(now), Some(Duration::from_secs(120)));
    }

    /// Row 21: a redirect target must be http or https.
    #[test]
    fn a_redirect_leads_to_a_page_or_nowhere() {
        let base = PageUrl::parse("https://a.example/x/y?z").unwrap();
        let check = |status, value: &[u8], wanted: Option<Result<&str, Refusal>>| {
            let found = response(status, LOCATION, value).location(&base);
            let found = found
                .as_ref()
                .map(|found| found.as_ref().map(PageUrl::as_str).map_err(|e| *e));
            assert_eq!(found, wanted, "{}", String::from_utf8_lossy(value));
        };
        check(301, b"/b", Some(Ok("https://a.example/b")));
        check(302, b"c#d", Some(Ok("https://a.example/x/c")));
        check(303, b"//b.example", Some(Ok("https://b.example/")));
        check(
            308,
            "/\u{e9}".as_bytes(),
            Some(Ok("https://a.example/%C3%A9")),
        );
        check(307, b"http://u:p@b.example/", Some(Ok("http://b.example/")));
        for value in [
            "file:///etc/passwd",
            "data:text/html,x",
            "ftp://a/",
            "s3://a/b",
            "javascript:1",
        ] {
            check(302, value.as_bytes(), Some(Err(Refusal::Scheme)));
        }
        check(302, b"http://", Some(Err(Refusal::Malformed)));
        check(200, b"/b", None);
        check(304, b"/b", None);
    }
}
