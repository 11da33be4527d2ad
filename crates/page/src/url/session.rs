//! Removes session ids and tracking tags from URLs.
//!
//! **Invariant:** a parameter is removed only if its key is known to carry a session id or a
//! tracking tag. Where the key has other uses too (`sid`, `s`), its value must also look like a
//! session id. Of a path, only such parameters and the session segment of ASP.NET are removed.

use std::borrow::Cow;

use memchr::memchr2;

use super::PageUrl;
use crate::scan::starts_with;

/// Keys that frameworks use only for session ids.
const SESSION_KEYS: [&str; 9] = [
    "jsessionid",   // Java servlets
    "phpsessid",    // PHP
    "aspsessionid", // ASP (with a random suffix)
    "cfid",         // ColdFusion
    "cftoken",
    "oscsid", // osCommerce
    "zenid",  // Zen Cart
    "sessid",
    "sessionid",
];

/// Keys that carry a session id if their value is a long hexadecimal number: `sid` in phpBB, `s`
/// in vBulletin.
const AMBIGUOUS_KEYS: [&str; 4] = ["sid", "s", "session", "session_id"];

/// Minimum number of digits of a session id: half of an MD5 hash. Shorter numbers may name a
/// resource.
const SHORTEST_ID: usize = 16;

/// Keys that tell a site where a visitor came from.
const TRACKING_KEYS: [&str; 8] = [
    "gclid", "dclid", "fbclid", "msclkid", "yclid", "mc_cid", "mc_eid", "igshid",
];

/// Returns the URL without session ids if `sessions`, and without tracking tags if `tracking`.
pub(super) fn strip(url: PageUrl, sessions: bool, tracking: bool) -> PageUrl {
    let text = url.path_and_query();
    if memchr2(b'?', b';', text.as_bytes()).is_none() && !text.contains("/(S(") {
        return url;
    }
    let (path, query) = text
        .split_once('?')
        .map_or((text, None), |(path, query)| (path, Some(query)));
    let path = if sessions {
        strip_path(path)
    } else {
        Cow::Borrowed(path)
    };
    let goes =
        |parameter: &str| sessions && is_session(parameter) || tracking && is_tracking(parameter);
    if matches!(path, Cow::Borrowed(_)) && !query.is_some_and(|query| query.split('&').any(goes)) {
        return url;
    }
    let mut stripped = format!("{}{path}", url.origin());
    if let Some(query) = query {
        let kept: Vec<&str> = query
            .split('&')
            .filter(|parameter| !goes(parameter))
            .collect();
        if !kept.is_empty() {
            stripped.push('?');
            stripped.push_str(&kept.join("&"));
        }
    }
    PageUrl::parse(&stripped).unwrap_or(url)
}

/// Removes `;jsessionid=…` from segments, and the segment `/(S(…))` of ASP.NET.
fn strip_path(path: &str) -> Cow<'_, str> {
    let goes = |parameter: &str| is_session(parameter);
    let has_any = path.split(['/', ';']).any(goes) || path.split('/').any(is_asp_segment);
    if !has_any {
        return Cow::Borrowed(path);
    }
    let segments = path.split('/').filter(|segment| !is_asp_segment(segment));
    let stripped: Vec<String> = segments
        .map(|segment| {
            let mut parts = segment.split(';');
            let name = parts.next().unwrap_or_default().to_owned();
            parts
                .filter(|part| !goes(part))
                .fold(name, |kept, part| kept + ";" + part)
        })
        .collect();
    let stripped = stripped.join("/");
    Cow::Owned(if stripped.is_empty() {
        "/".into()
    } else {
        stripped
    })
}

fn is_session(parameter: &str) -> bool {
    let Some((key, value)) = parameter.split_once('=') else {
        return false;
    };
    let is = |known: &&str| key.eq_ignore_ascii_case(known);
    SESSION_KEYS.iter().any(|known| {
        is(known) || key.len() > 12 && *known == "aspsessionid" && starts_with(key, known)
    }) || AMBIGUOUS_KEYS.iter().any(is) && is_id(value)
}

fn is_tracking(parameter: &str) -> bool {
    let key = parameter.split('=').next().unwrap_or_default();
    starts_with(key, "utm_")
        || TRACKING_KEYS
            .iter()
            .any(|known| key.eq_ignore_ascii_case(known))
}

/// Recognizes the cookieless sessions of ASP.NET: `/(S(lit3py55t21z5v55vlm25s55))/`.
fn is_asp_segment(segment: &str) -> bool {
    let id = segment
        .strip_prefix("(S(")
        .and_then(|rest| rest.strip_suffix("))"));
    id.is_some_and(|id| id.len() == 24 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

fn is_id(value: &str) -> bool {
    value.len() >= SHORTEST_ID && value.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_session_ids_are_removed() {
        let check = |url: &str, expected: &str| {
            let stripped = strip(
                PageUrl::parse(&format!("http://a.example{url}")).unwrap(),
                true,
                false,
            );
            assert_eq!(
                stripped.as_str(),
                format!("http://a.example{expected}"),
                "{url}"
            );
        };
        check("/a;jsessionid=0A1B", "/a");
        check("/a;JSESSIONID=0A1B?x=1", "/a?x=1");
        check("/a;v=1;jsessionid=2;w=3/b", "/a;v=1;w=3/b");
        check("/a?PHPSESSID=abc", "/a");
        check("/a?x=1&phpsessid=abc&y=2", "/a?x=1&y=2");
        check("/a?ASPSESSIONIDQQABCDEF=xyz&x=1", "/a?x=1");
        check("/a?CFID=12&CFTOKEN=34", "/a");
        check("/t?sid=0123456789abcdef0123456789ABCDEF&t=5", "/t?t=5");
        check("/(S(lit3py55t21z5v55vlm25s55))/a.aspx", "/a.aspx");
        check("/(S(lit3py55t21z5v55vlm25s55))", "/");
        // A parameter that only looks like a session id stays.
        check("/t?sid=42", "/t?sid=42");
        check("/t?sid=station-of-the-cross", "/t?sid=station-of-the-cross");
        check("/t?s=search+words", "/t?s=search+words");
        check("/a?session=2024-spring", "/a?session=2024-spring");
        check("/jsessionid=1/a", "/jsessionid=1/a");
        check("/a?jsessionid", "/a?jsessionid");
        check("/a?b=;c", "/a?b=;c");
        check("/a?", "/a?");
        check("/a?x=1&&y=2", "/a?x=1&&y=2");
        check("/(S(short))/a", "/(S(short))/a");
        check("/a?utm_source=b", "/a?utm_source=b");
    }

    proptest! {
        #[test]
        fn stripping_twice_changes_nothing_more(path in "[/;=a-z()S]{0,20}", query in "[&=a-fsid0-9]{0,40}") {
            if let Ok(url) = PageUrl::parse(&format!("http://a.example/{path};jsessionid=1?{query}")) {
                let once = strip(url, true, true);
                prop_assert_eq!(strip(once.clone(), true, true), once);
            }
        }
    }
}
