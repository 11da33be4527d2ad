//! Finds the end of raw text such as the content of `script`, `style` or `title`.
//!
//! **Invariant:** each byte is examined a bounded number of times. Content without an end tag
//! extends to the end of the page.

use memchr::{memchr, memchr2};

use super::{ContentModel, Tokenizer};
use crate::html::tag::{NameKey, SCRIPT};

/// The escape state of a script (WHATWG 13.2.5.20 to 13.2.5.31).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escape {
    None,
    /// After `<!--`; the dashes that end the comment are at this position or later.
    Comment(usize),
    /// After `<script` in a comment: the next end tag does not end the script.
    Nested(usize),
}

impl Tokenizer<'_> {
    /// Returns the position of the end tag of the raw text that starts here, or the end of the
    /// page.
    pub(super) fn raw_end(&self) -> usize {
        match self.model {
            ContentModel::PlainText | ContentModel::Data => self.html.len(),
            ContentModel::RcData | ContentModel::RawText => self.plain_raw_end(),
            ContentModel::Script => self.script_end(),
        }
    }

    fn plain_raw_end(&self) -> usize {
        let bytes = self.html.as_bytes();
        let mut from = self.at;
        while let Some(found) = memchr(b'<', &bytes[from..]) {
            let open = from + found;
            if bytes.get(open + 1) == Some(&b'/') && names(&bytes[open + 2..], self.last_start) {
                return open;
            }
            from = open + 1;
        }
        bytes.len()
    }

    fn script_end(&self) -> usize {
        let bytes = self.html.as_bytes();
        let mut escape = Escape::None;
        let mut from = self.at;
        loop {
            let rest = &bytes[from..];
            let found = match escape {
                Escape::None => memchr(b'<', rest),
                Escape::Comment(_) | Escape::Nested(_) => memchr2(b'<', b'>', rest),
            };
            let Some(found) = found else {
                return bytes.len();
            };
            let at = from + found;
            from = at + 1;
            let rest = &bytes[from..];
            match escape {
                Escape::None if rest.starts_with(b"!--") => escape = Escape::Comment(from + 1),
                Escape::Comment(dashes) | Escape::Nested(dashes) if bytes[at] == b'>' => {
                    if bytes[dashes..at].ends_with(b"--") {
                        escape = Escape::None;
                    }
                }
                Escape::Comment(dashes) if names(rest, SCRIPT) => escape = Escape::Nested(dashes),
                Escape::Nested(dashes) if rest.first() == Some(&b'/') => {
                    if names(&rest[1..], SCRIPT) {
                        escape = Escape::Comment(dashes);
                    }
                }
                Escape::None | Escape::Comment(_) => {
                    if rest.first() == Some(&b'/') && names(&rest[1..], self.last_start) {
                        return at;
                    }
                }
                Escape::Nested(_) => {}
            }
        }
    }
}

/// Returns whether `rest` starts with the complete name of that element.
fn names(rest: &[u8], element: NameKey) -> bool {
    // The longest raw elements, `textarea` and `noframes`, have eight bytes; one more ends the
    // name.
    let window = &rest[..rest.len().min(9)];
    let end = window
        .iter()
        .position(|b| b.is_ascii_whitespace() || matches!(b, b'/' | b'>'));
    end.is_some_and(|end| end > 0 && NameKey::of(&window[..end]) == element)
}
