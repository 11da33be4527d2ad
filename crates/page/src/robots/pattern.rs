//! Does a rule apply to a path?
//!
//! **Invariant:** time linear in pattern and path. Each part between two `*` is looked for once, at its
//! first occurrence after the one before, which leaves the most room for the rest: no way back is needed.

use std::borrow::Cow;

/// A rule's pattern in normal form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// Normal form, without the `$` at its end.
    text: Box<str>,
    /// It ended in `$`: nothing may follow.
    anchored: bool,
    wild: bool,
}

impl Pattern {
    /// Reads the value of a rule; `None` when it is empty and so applies to nothing.
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

    /// Its length, by which rules take precedence.
    pub(super) fn len(&self) -> usize {
        self.text.len() + usize::from(self.anchored)
    }

    /// Whether it applies to a path in normal form.
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

/// The normal form of a URL's path and query. `*` and `$` in it are themselves, and so are written as a
/// pattern has to write them to mean themselves (RFC 9309, 2.2.3).
pub(super) fn normal_path(path: &str) -> Cow<'_, str> {
    normal(path.as_bytes(), |_| false)
}

/// Escapes what is not plain ASCII, frees the unreserved characters from escapes that are not needed and
/// writes the others in capitals (RFC 9309, 2.2.2; RFC 3986, 6.2.2). `operator` bytes stay as they are.
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
        } else if let Some((byte, tail)) = escaped(tail) {
            rest = tail;
            if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
                out.push(char::from(byte));
            } else {
                escape(&mut out, byte);
            }
        } else {
            // A percent sign that escapes nothing stands for itself on both sides.
            out.push('%');
        }
    }
    Cow::Owned(out)
}

fn escaped(digits: &[u8]) -> Option<(u8, &[u8])> {
    let digit = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
    };
    match digits {
        [high, low, rest @ ..] => Some((digit(*high)? << 4 | digit(*low)?, rest)),
        _ => None,
    }
}

fn escape(out: &mut String, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.push('%');
    out.push(char::from(DIGITS[usize::from(byte >> 4)]));
    out.push(char::from(DIGITS[usize::from(byte & 15)]));
}
