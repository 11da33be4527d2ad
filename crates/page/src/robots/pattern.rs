//! Matches a rule of robots.txt against a path.
//!
//! **Invariant:** time is linear in pattern and path. Each part between two `*` is matched at
//! its first occurrence after the previous part. This leaves the most room for the rest, so
//! backtracking is never needed.

use std::borrow::Cow;
use std::fmt::Write;

use crate::url::normal::{escaped, is_unreserved};

/// The pattern of a rule, normalized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// Without the `$` at its end.
    text: Box<str>,
    /// Whether it ended in `$`: nothing may follow the match.
    anchored: bool,
    wild: bool,
}

impl Pattern {
    /// Parses the value of a rule; `None` if it is empty and so matches nothing.
    pub(super) fn read(value: &[u8]) -> Option<Self> {
        if value.is_empty() {
            return None;
        }
        let (value, anchored) = match value {
            [front @ .., b'$'] => (front, true),
            _ => (value, false),
        };
        let text = normal(value, |byte| byte == b'*')
            .into_owned()
            .into_boxed_str();
        let wild = text.contains('*');
        Some(Self {
            text,
            anchored,
            wild,
        })
    }

    /// Returns the length, which decides the precedence of rules.
    pub(super) fn len(&self) -> usize {
        self.text.len() + usize::from(self.anchored)
    }

    /// Returns whether the pattern matches a normalized path.
    pub(super) fn matches(&self, path: &str) -> bool {
        if !self.wild {
            return if self.anchored {
                path == &*self.text
            } else {
                path.starts_with(&*self.text)
            };
        }
        let mut parts = self.text.split('*');
        let Some(mut rest) = parts.next().and_then(|first| path.strip_prefix(first)) else {
            return false;
        };
        let Some(last) = parts.next_back() else {
            return false;
        };
        for part in parts {
            let Some(at) = rest.find(part) else {
                return false;
            };
            rest = &rest[at + part.len()..];
        }
        if self.anchored {
            rest.ends_with(last)
        } else {
            rest.contains(last)
        }
    }
}

/// Normalizes the path and query of a URL.
///
/// `*` and `$` in it are literal and become `%2A` and `%24`, as a pattern must write them to
/// match literally (RFC 9309, 2.2.3).
pub(super) fn normal_path(path: &str) -> Cow<'_, str> {
    normal(path.as_bytes(), |_| false)
}

/// Normalizes escapes (RFC 9309, 2.2.2; RFC 3986, 6.2.2).
///
/// Escapes what is not visible ASCII, unescapes unreserved characters, and writes escapes in
/// upper case. Bytes for which `operator` is true stay as they are.
fn normal(text: &[u8], operator: fn(u8) -> bool) -> Cow<'_, str> {
    let plain = |byte: u8| {
        operator(byte) || (byte.is_ascii_graphic() && !matches!(byte, b'%' | b'*' | b'$'))
    };
    if text.iter().all(|&byte| plain(byte))
        && let Ok(text) = std::str::from_utf8(text)
    {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        if plain(first) {
            out.push(char::from(first));
        } else if first != b'%' {
            escape(&mut out, first);
        } else if let Some(byte) = escaped(tail) {
            rest = &tail[2..];
            if is_unreserved(byte) {
                out.push(char::from(byte));
            } else {
                escape(&mut out, byte);
            }
        } else {
            // An incomplete escape is a literal percent sign, in patterns and in paths.
            out.push('%');
        }
    }
    Cow::Owned(out)
}

fn escape(out: &mut String, byte: u8) {
    write!(out, "%{byte:02X}").expect("a string takes any text");
}
