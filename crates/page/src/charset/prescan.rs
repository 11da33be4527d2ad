//! Finds the encoding that a page itself declares.
//!
//! Implements the prescan of the WHATWG standard (13.2.3.2, "prescan a byte stream to determine
//! its encoding").
//!
//! **Invariant:** only the first 1,024 bytes count, so that the result does not depend on how
//! the page arrives.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use memchr::{memchr, memmem};

use super::known;

/// Length in bytes of the prefix that the standard recommends to examine.
const PRESCAN_BYTES: usize = 1_024;

/// Returns the encoding named by a `meta` element or the XML declaration.
pub(super) fn declared(body: &[u8]) -> Option<&'static Encoding> {
    let head = &body[..body.len().min(PRESCAN_BYTES)];
    let label = of_meta(head).or_else(|| of_xml(head))?;
    // A page whose declaration is readable as ASCII is not in UTF-16. The label x-user-defined is
    // for scripts that read binary data. The standard replaces both.
    match label {
        encoding if encoding == UTF_16BE || encoding == UTF_16LE => Some(UTF_8),
        encoding if encoding == X_USER_DEFINED => Some(WINDOWS_1252),
        encoding => Some(encoding),
    }
}

/// Parses `<?xml version="1.0" encoding="…"?>`.
fn of_xml(head: &[u8]) -> Option<&'static Encoding> {
    let declaration = head.strip_prefix(b"<?xml")?;
    let declaration = &declaration[..memchr(b'>', declaration)?];
    let rest = &declaration[memmem::find(declaration, b"encoding")? + b"encoding".len()..];
    let rest = rest
        .trim_ascii_start()
        .strip_prefix(b"=")?
        .trim_ascii_start();
    let (&quote, rest) = rest
        .split_first()
        .filter(|(quote, _)| matches!(quote, b'"' | b'\''))?;
    label(&rest[..memchr(quote, rest)?])
}

fn of_meta(head: &[u8]) -> Option<&'static Encoding> {
    let mut at = 0;
    while let Some(found) = memchr(b'<', &head[at..]) {
        at += found;
        let rest = &head[at..];
        if rest.starts_with(b"<!--") {
            // In `<!-->`, the dashes belong to the start and to the end of the comment.
            at += 2 + memmem::find(&rest[2..], b"-->")? + 3;
        } else if is_meta(rest) {
            let mut attributes = Attributes { rest: &rest[5..] };
            if let Some(encoding) = meta(&mut attributes) {
                return Some(encoding);
            }
            at = head.len() - attributes.rest.len();
        } else if is_tag(rest) {
            let name = rest
                .iter()
                .position(|&byte| byte.is_ascii_whitespace() || byte == b'>')?;
            let mut attributes = Attributes {
                rest: &rest[name..],
            };
            while attributes.next().is_some() {}
            at = head.len() - attributes.rest.len();
        } else if matches!(rest.get(1), Some(b'!' | b'/' | b'?')) {
            at += memchr(b'>', rest)? + 1;
        } else {
            at += 1;
        }
    }
    None
}

fn is_meta(rest: &[u8]) -> bool {
    rest.len() > 5
        && rest[1..5].eq_ignore_ascii_case(b"meta")
        && (rest[5].is_ascii_whitespace() || rest[5] == b'/')
}

fn is_tag(rest: &[u8]) -> bool {
    let name = if rest.get(1) == Some(&b'/') {
        rest.get(2)
    } else {
        rest.get(1)
    };
    name.is_some_and(u8::is_ascii_alphabetic)
}

/// Returns the encoding that one `meta` element declares.
fn meta(attributes: &mut Attributes<'_>) -> Option<&'static Encoding> {
    // Of two attributes with the same name the first counts.
    let (mut pragma, mut by_content, mut by_charset) = (None, None, None);
    while let Some((name, value)) = attributes.next() {
        let is = |known: &[u8]| name.eq_ignore_ascii_case(known);
        if is(b"http-equiv") {
            pragma.get_or_insert(value);
        } else if is(b"content") {
            by_content.get_or_insert(value);
        } else if is(b"charset") {
            by_charset.get_or_insert(value);
        }
    }
    if attributes.rest.first() != Some(&b'>') {
        return None; // The tag is truncated.
    }
    match by_charset {
        Some(charset) => label(charset),
        None if pragma.is_some_and(|pragma| pragma.eq_ignore_ascii_case(b"content-type")) => {
            of_content(by_content?)
        }
        None => None,
    }
}

/// Returns the encoding in `text/html; charset=…` ("extracting a character encoding from a meta
/// element").
fn of_content(content: &[u8]) -> Option<&'static Encoding> {
    let mut rest = content;
    loop {
        let at = rest
            .windows(7)
            .position(|window| window.eq_ignore_ascii_case(b"charset"))?;
        rest = rest[at + 7..].trim_ascii_start();
        if let Some(value) = rest.strip_prefix(b"=") {
            let value = value.trim_ascii_start();
            return match value.first()? {
                quote @ (b'"' | b'\'') => label(&value[1..1 + memchr(*quote, &value[1..])?]),
                _ => label(
                    value
                        .split(|&byte| byte.is_ascii_whitespace() || byte == b';')
                        .next()?,
                ),
            };
        }
    }
}

fn label(bytes: &[u8]) -> Option<&'static Encoding> {
    std::str::from_utf8(bytes).ok().and_then(known)
}

/// The attributes of one tag ("prescan: get an attribute").
struct Attributes<'a> {
    rest: &'a [u8],
}

impl<'a> Attributes<'a> {
    fn next(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        self.skip(|byte| byte.is_ascii_whitespace() || byte == b'/');
        if matches!(self.rest.first(), None | Some(b'>')) {
            return None;
        }
        let name = self.take(
            |byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>' | b'='),
            1,
        );
        self.skip(|byte| byte.is_ascii_whitespace());
        if self.rest.first() != Some(&b'=') {
            return Some((name, b""));
        }
        self.rest = &self.rest[1..];
        self.skip(|byte| byte.is_ascii_whitespace());
        match self.rest.first() {
            Some(&quote @ (b'"' | b'\'')) => {
                self.rest = &self.rest[1..];
                let value = self.take(|byte| byte == quote, 0);
                self.rest = self.rest.get(1..)?; // A truncated value is ignored.
                Some((name, value))
            }
            _ => Some((
                name,
                self.take(|byte| byte.is_ascii_whitespace() || byte == b'>', 0),
            )),
        }
    }

    fn skip(&mut self, is: impl Fn(u8) -> bool) {
        let end = self
            .rest
            .iter()
            .position(|&byte| !is(byte))
            .unwrap_or(self.rest.len());
        self.rest = &self.rest[end..];
    }

    fn take(&mut self, ends: impl Fn(u8) -> bool, at_least: usize) -> &'a [u8] {
        let found = self.rest.iter().skip(at_least).position(|&byte| ends(byte));
        let (taken, rest) = self
            .rest
            .split_at(found.map_or(self.rest.len(), |end| end + at_least));
        self.rest = rest;
        taken
    }
}
