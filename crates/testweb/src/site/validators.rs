//! Conditional requests: ETag and Last-Modified.
//!
//! **Invariant:** if the request has `If-None-Match`, it decides alone. The date is used only
//! without it (RFC 9110, section 13.2.2).

use std::time::SystemTime;

use hyper::header::{
    ETAG, HeaderMap, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED,
};

/// The validators of an answer.
#[derive(Debug, Clone, Default)]
pub(super) struct Validators {
    etag: Option<HeaderValue>,
    last_modified: Option<(SystemTime, HeaderValue)>,
}

impl Validators {
    /// Creates validators. The date is truncated to the second, as its format requires, and the
    /// truncated date is compared.
    pub fn new(etag: Option<&str>, last_modified: Option<SystemTime>) -> Self {
        let dated = |at: SystemTime| {
            let text = httpdate::fmt_http_date(at);
            let second = httpdate::parse_http_date(&text).ok()?;
            Some((second, HeaderValue::try_from(text).ok()?))
        };
        Self {
            etag: etag.and_then(|tag| HeaderValue::try_from(format!("\"{tag}\"")).ok()),
            last_modified: last_modified.and_then(dated),
        }
    }

    /// Returns whether the answer to this request is 304.
    pub fn matched_by(&self, request: &HeaderMap) -> bool {
        if let Some(tags) = request.get(IF_NONE_MATCH) {
            let (Some(tag), Ok(tags)) = (&self.etag, tags.to_str()) else {
                return false;
            };
            let same = |tag_sent: &str| {
                let sent = tag_sent.trim();
                sent == "*" || sent.trim_start_matches("W/").as_bytes() == tag.as_bytes()
            };
            return tags.split(',').any(same);
        }
        let date = request
            .get(IF_MODIFIED_SINCE)
            .and_then(|value| value.to_str().ok());
        match (date.map(httpdate::parse_http_date), &self.last_modified) {
            (Some(Ok(since)), Some((changed, _))) => *changed <= since,
            _ => false,
        }
    }

    /// Adds the validators to an answer.
    pub fn put(&self, headers: &mut HeaderMap) {
        if let Some(tag) = &self.etag {
            headers.insert(ETAG, tag.clone());
        }
        if let Some((_, date)) = &self.last_modified {
            headers.insert(LAST_MODIFIED, date.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_request_matches_by_entity_tag_or_else_by_date() {
        let date = "Wed, 01 Jan 2020 00:00:10 GMT";
        let (before, after) = (
            "Wed, 01 Jan 2020 00:00:09 GMT",
            "Thu, 02 Jan 2020 00:00:00 GMT",
        );
        let changed = httpdate::parse_http_date(date).unwrap() + Duration::from_millis(900);
        let ours = Validators::new(Some("a1"), Some(changed));
        for (tag, since, unchanged) in [
            (None, None, false),
            (Some("\"a1\""), None, true),
            (Some("W/\"a1\""), None, true),
            (Some("\"x\", \"a1\""), None, true),
            (Some("*"), None, true),
            (Some("\"a2\""), None, false),
            (Some("a1"), None, false),
            (Some("\"a2\""), Some(after), false),
            (None, Some(date), true),
            (None, Some(after), true),
            (None, Some(before), false),
            (None, Some("yesterday"), false),
        ] {
            let mut request = HeaderMap::new();
            for (name, value) in [(IF_NONE_MATCH, tag), (IF_MODIFIED_SINCE, since)] {
                if let Some(value) = value {
                    request.insert(name, value.parse().unwrap());
                }
            }
            assert_eq!(ours.matched_by(&request), unchanged, "{request:?}");
            assert!(!Validators::default().matched_by(&request), "{request:?}");
        }
    }
}
