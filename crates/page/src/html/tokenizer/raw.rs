//! Where does the content of a `script`, `style`, `title` … end?
//!
//! **Invariant:** each byte is looked at once; content without an end tag runs to the end of the page.

use memchr::{memchr, memchr2};

use super::{Model, Tokenizer};
use crate::html::tag::{Name, SCRIPT};

/// Where a script stands with respect to the comments it may hold (WHATWG 13.2.5.20 to 13.2.5.31).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escape {
    None,
    /// After `<!--`, whose dashes stand at this position or later.
    Comment(usize),
    /// After `<script` in a comment: its end tag does not end the script.
    Nested(usize),
}

impl Tokenizer<'_> {
    /// The position of the end tag that ends the raw text starting here, or the end.
    pub(super) fn raw_end(&self) -> usize {
        match self.model {
            Model::PlainText | Model::Data => self.html.len(),
            Model::RcData | Model::RawText => self.plain_raw_end(),
            Model::Script => self.script_end(),
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

/// Whether `rest` starts with the name of that element, and the name ends there.
fn names(rest: &[u8], element: Name) -> bool {
    // The longest raw element is `textarea` or `noframes`, eight bytes; one more ends the name.
    let window = &rest[..rest.len().min(9)];
    let end = window
        .iter()
        .position(|b| matches!(b, b' ' | b'\n' | b'\t' | b'\r' | 0x0c | b'/' | b'>'));
    end.is_some_and(|end| end > 0 && Name::of(&window[..end]) == element)
}
