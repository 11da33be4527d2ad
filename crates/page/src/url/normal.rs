//! What does the normal form add to the WHATWG standard?
//!
//! **Invariant:** only what RFC 3986 calls equivalent (6.2.2) is made equal: the case of escapes, the
//! escapes of unreserved characters, and the dot of the DNS root. Applying it twice changes nothing.

use std::borrow::Cow;

use memchr::memchr;
use url::{Host, Url};

use super::Refusal;

/// The link with two slashes for the three or more it starts with, as the WHATWG standard reads it
/// ("special authority ignore slashes state") and the `url` crate does not.
pub(super) fn without_extra_slashes(link: &str) -> Option<String> {
    let is_slash = |c: char| c == '/' || c == '\\';
    let link = link.trim_start_matches(|c: char| c <= ' ');
    let rest = link.trim_start_matches(is_slash);
    (link.len() - rest.len() > 2).then(|| format!("//{rest}"))
}

/// Takes the final dot off a host name: `example.org.` and `example.org` are one name in DNS, and a
/// site that answers to both would be crawled twice.
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
        return Ok(()); // `a..` is not a name; what it is not the same as, nobody can tell.
    }
    let short = short.to_owned();
    url.set_host(Some(&short)).map_err(|_| Refusal::Malformed)
}

/// Writes escapes in upper case, and unreserved characters without.
pub(super) fn normalise_escapes(url: &mut Url) {
    if let Cow::Owned(path) = normal_escapes(url.path()) {
        url.set_path(&path);
    }
    if let Some(Cow::Owned(query)) = url.query().map(normal_escapes) {
        url.set_query(Some(&query));
    }
}

/// Borrowed where nothing changes.
fn normal_escapes(text: &str) -> Cow<'_, str> {
    let Some(first) = memchr(b'%', text.as_bytes()) else {
        return Cow::Borrowed(text);
    };
    let mut normal = String::with_capacity(text.len());
    normal.push_str(&text[..first]);
    let mut rest = &text[first..];
    // Where the last percent sign stands that begins no escape.
    let mut bare = None;
    while let Some(after) = rest.strip_prefix('%') {
        match escaped(after) {
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

/// Whether this byte, written plainly behind `normal`, is a digit of an escape that the percent sign at `bare` would
/// begin: of `%%34%31` that is `%41`, another URL, and the next reading would make `A` of it.
fn completes_escape(normal: &str, bare: Option<usize>, byte: u8) -> bool {
    let between = bare.and_then(|bare| normal.as_bytes().get(bare + 1..));
    byte.is_ascii_hexdigit()
        && between
            .is_some_and(|digits| digits.len() < 2 && digits.iter().all(u8::is_ascii_hexdigit))
}

/// The byte that the two digits after a percent sign stand for.
fn escaped(after: &str) -> Option<u8> {
    let digits = after.as_bytes().get(..2)?;
    let value = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    Some(value(digits[0])? << 4 | value(digits[1])?)
}

/// RFC 3986, 2.3.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}
