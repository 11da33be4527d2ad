//! Reads a tag and its attributes.
//!
//! **Invariant:** a tag costs time linear in its length, however many attributes it has, and only
//! the first `attribute_limit` are kept. Duplicates are not searched for: a lookup takes the first
//! occurrence of a name.

use std::borrow::Cow;

use memchr::memchr;

use super::{Tokenizer, resolve_value};
use crate::html::tag::{LOWER, NameKey};
use crate::scan::{before_either, before_name_end, eight};

/// An attribute as written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Attribute<'a> {
    /// The key of its name.
    pub(crate) name: NameKey,
    /// The value without quotes, with unresolved references.
    pub(crate) raw: &'a str,
}

impl<'a> Attribute<'a> {
    /// Returns the value with its references resolved.
    pub(crate) fn value(&self) -> Cow<'a, str> {
        resolve_value(self.raw)
    }
}

impl<'a> Tokenizer<'a> {
    /// Reads a tag whose name starts at `start`. Returns the key of the element, its name, and
    /// whether it ends in `/>`.
    ///
    /// `None` if the page ends inside the tag; then nothing is left to read.
    #[inline]
    pub(super) fn tag(&mut self, start: usize) -> Option<(NameKey, &'a str, bool)> {
        let bytes = self.html.as_bytes();
        self.attributes.clear();
        // Until the end of the tag is found, the page counts as read.
        self.at = bytes.len();
        let mut at = start;
        let tag = self.name(&mut at, |byte| {
            byte.is_ascii_whitespace() || byte == b'/' || byte == b'>'
        })?;
        let name = &self.html[start..at];
        let mut slash = false;
        loop {
            match *bytes.get(at)? {
                b'>' => {
                    self.at = at + 1;
                    return Some((tag, name, slash));
                }
                b'/' => {
                    slash = true;
                    at += 1;
                }
                byte if byte.is_ascii_whitespace() => {
                    slash = false;
                    at += 1;
                }
                _ => {
                    slash = false;
                    at = self.attribute(at)?;
                }
            }
        }
    }

    /// Reads the name at `at`, and moves past it.
    #[inline]
    fn name(&self, at: &mut usize, ends: impl Fn(u8) -> bool) -> Option<NameKey> {
        let bytes = self.html.as_bytes();
        let eight = eight(bytes, *at);
        let length = before_name_end(eight);
        if (1..8).contains(&length) && ends(*bytes.get(*at + length)?) {
            *at += length;
            return Some(NameKey((eight | LOWER) & ((1 << (8 * length)) - 1)));
        }
        // A long or unusual name. Its first character belongs to it, even if it is `=`.
        let length = 1 + bytes[*at + 1..].iter().position(|&byte| ends(byte))?;
        let name = &bytes[*at..*at + length];
        *at += length;
        Some(NameKey::of(name))
    }

    /// Reads the attribute that starts at `start`. Returns where it ends.
    #[inline]
    fn attribute(&mut self, start: usize) -> Option<usize> {
        let bytes = self.html.as_bytes();
        let mut at = start;
        let name = self.name(&mut at, |byte| {
            byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>' | b'=')
        })?;
        let after_name = at;
        at = self.past_space(at)?;
        if bytes[at] != b'=' {
            self.keep(name, "");
            return Some(after_name);
        }
        at = self.past_space(at + 1)?;
        match bytes[at] {
            quote @ (b'"' | b'\'') => {
                let end = self.find(quote, at + 1)?;
                self.keep(name, &self.html[at + 1..end]);
                Some(end + 1)
            }
            b'>' => {
                self.keep(name, "");
                Some(at)
            }
            _ => {
                let length = bytes[at..]
                    .iter()
                    .position(|&b| b.is_ascii_whitespace() || b == b'>')?;
                self.keep(name, &self.html[at..at + length]);
                Some(at + length)
            }
        }
    }

    /// Returns the first position at or after `at` that is not white space.
    #[inline]
    fn past_space(&self, at: usize) -> Option<usize> {
        let bytes = self.html.as_bytes();
        if !bytes.get(at)?.is_ascii_whitespace() {
            return Some(at);
        }
        bytes[at..]
            .iter()
            .position(|&byte| !byte.is_ascii_whitespace())
            .map(|spaces| at + spaces)
    }

    /// Returns the next position of a byte. Values are short, so the first 24 bytes are searched
    /// without a call.
    #[inline]
    fn find(&self, byte: u8, at: usize) -> Option<usize> {
        let bytes = self.html.as_bytes();
        for step in [0, 8, 16] {
            let before = before_either(eight(bytes, at + step), byte, byte);
            if before < 8 {
                return Some(at + step + before);
            }
        }
        memchr(byte, bytes.get(at + 24..)?).map(|found| at + 24 + found)
    }

    #[inline]
    fn keep(&mut self, name: NameKey, raw: &'a str) {
        if raw.len() > self.value_limit {
            self.values_cut += 1;
        } else if self.attributes.len() >= self.attribute_limit {
            self.attributes_cut += 1;
        } else {
            self.attributes.push(Attribute { name, raw });
        }
    }
}
