//! Normalization that the `url` crate does not do.
//!
//! **Invariant:** only equivalent URLs are made equal: those that differ in the case of escapes, in
//! escapes of unreserved characters (RFC 3986, 6.2.2), in the final dot of a host name, which
//! stands for the DNS root, or in slashes before a host that the WHATWG standard ignores.
//! Normalization is idempotent.

use std::borrow::Cow;

use memchr::memchr;
use url::{Host, Url};

use super::Refusal;

/// Reduces three or more slashes at the start of a link to two; `None` if there are fewer.
///
/// The WHATWG standard reads such links that way ("special authority ignore slashes state"), but
/// the `url` crate does not.
pub(super) fn without_extra_slashes(link: &str) -> Option<String> {
    let is_slash = |c: char| c == '/' || c == '\\';
    let link = link.trim_start_matches(|c: char| c <= ' ');
    let rest = link.trim_start_matches(is_slash);
    (link.len() - rest.len() > 2).then(|| format!("//{rest}"))
}

/// Removes the final dot of a host name.
///
/// `example.org.` and `example.org` are the same name in DNS. A site that answers to both would
/// be crawled twice.
pub(super) fn drop_root_dot(url: &mut Url) -> Result<(), Refusal> {
    let Some(Host::Domain(name)) = url.host() else {
        return Ok(());
    };
    let Some(short) = name.strip_suffix('.') else {
        return Ok(());
    };
    if short.is_empty() {
        return Err(Refusal::Malformed);
    }
    if short.ends_with('.') {
        return Ok(()); // `a..` is not a DNS name, so it is kept as it is.
    }
    let short = short.to_owned();
    url.set_host(Some(&short)).map_err(|_| Refusal::Malformed)
}

/// Writes escapes in upper case, and unescapes unreserved characters.
pub(super) fn normalise_escapes(url: &mut Url) {
    if let Cow::Owned(path) = normal_escapes(url.path()) {
        url.set_path(&path);
    }
    if let Some(Cow::Owned(query)) = url.query().map(normal_escapes) {
        url.set_query(Some(&query));
    }
}

/// Normalizes the escapes in a text. The result is borrowed where nothing changes.
fn normal_escapes(text: &str) -> Cow<'_, str> {
    let Some(first) = memchr(b'%', text.as_bytes()) else {
        return Cow::Borrowed(text);
    };
    let mut normal = String::with_capacity(text.len());
    normal.push_str(&text[..first]);
    let mut rest = &text[first..];
    // Offset of the last percent sign that begins no escape.
    let mut bare = None;
    while let Some(after) = rest.strip_prefix('%') {
        match escaped(after.as_bytes()) {
            Some(byte) if is_unreserved(byte) && !completes_escape(&normal, bare, byte) => {
                normal.push(char::from(byte));
                rest = &after[2..];
            }
            Some(byte) => {
                normal.push_str(&format!("%{byte:02X}"));
                rest = &after[2..];
            }
            None => {
                bare = Some(normal.len());
                normal.push('%');
                rest = after;
            }
        }
        let plain = memchr(b'%', rest.as_bytes()).unwrap_or(rest.len());
        normal.push_str(&rest[..plain]);
        rest = &rest[plain..];
    }
    if normal == text {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(normal)
    }
}

/// Returns whether this byte, unescaped after `normal`, would complete an escape that begins
/// with the percent sign at `bare`.
///
/// For example, `%%34%31` would become `%41`. That is another URL, and the next normalization
/// would turn it into `A`.
fn completes_escape(normal: &str, bare: Option<usize>, byte: u8) -> bool {
    let between = bare.and_then(|bare| normal.as_bytes().get(bare + 1..));
    byte.is_ascii_hexdigit()
        && between
            .is_some_and(|digits| digits.len() < 2 && digits.iter().all(u8::is_ascii_hexdigit))
}

/// Returns the byte that the two digits after a percent sign encode.
pub(crate) fn escaped(after: &[u8]) -> Option<u8> {
    let digits = after.get(..2)?;
    let value = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    Some(value(digits[0])? << 4 | value(digits[1])?)
}

/// Returns whether a character means the same with and without an escape (RFC 3986, 2.3).
pub(crate) fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}
