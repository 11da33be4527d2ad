//! Splits HTML into tags, text and comments.
//!
//! Implements the tokenization stage of the WHATWG standard (13.2.5) over borrowed text. As in
//! the standard, it does not know elements. The caller says with [`Tokenizer::expect`] that the
//! content of a `script` or `title` follows.
//!
//! **Invariant:** every byte is examined a bounded number of times, whatever the input is.
//! Tokens borrow from the input; only resolving references (`&amp;`) copies. The characters that
//! the standard rewrites in text (NUL, CR LF) are left to the caller.

mod raw;
mod tag;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use super::tag::NameKey;
use crate::scan::{before_either, eight};
pub(crate) use tag::Attribute;

/// How the following text is tokenized.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ContentModel {
    /// As markup.
    Data,
    /// As text with references, up to the end tag.
    RcData,
    /// As text, up to the end tag.
    RawText,
    /// As a script: like raw text, but after `<!--` and `<script`, the next end tag is text.
    Script,
    /// As text, up to the end of the page.
    PlainText,
}

/// A token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HtmlToken<'a> {
    /// A run of text; several may follow each other.
    Text {
        /// The text as written.
        raw: &'a str,
        /// Whether it contains references (`&amp;`).
        references: bool,
    },
    /// A start tag; its attributes are in [`Tokenizer::attributes`] until the next token.
    Start {
        /// The element.
        tag: NameKey,
        /// Its name as written, in any case.
        name: &'a str,
        /// Whether it ends in `/>`.
        self_closing: bool,
    },
    /// An end tag.
    End {
        /// The element.
        tag: NameKey,
    },
    /// A comment, or what the standard reads as one (`<?php`, `<![CDATA[`, `</ >`).
    Comment(&'a str),
    /// A document type.
    Doctype,
}

/// Splits a page into tokens.
pub(crate) struct Tokenizer<'a> {
    html: &'a str,
    at: usize,
    model: ContentModel,
    last_start: NameKey,
    attributes: Vec<Attribute<'a>>,
    attribute_limit: usize,
    value_limit: usize,
    /// Number of attributes dropped because their tag has too many.
    pub(crate) attributes_cut: u32,
    /// Number of attributes dropped because their value is too long.
    pub(crate) values_cut: u32,
}

impl<'a> Tokenizer<'a> {
    pub(crate) fn new(html: &'a str, attribute_limit: usize, value_limit: usize) -> Self {
        Self {
            html,
            at: 0,
            model: ContentModel::Data,
            last_start: NameKey(0),
            attributes: Vec::with_capacity(16),
            attribute_limit,
            value_limit,
            attributes_cut: 0,
            values_cut: 0,
        }
    }

    /// Sets how the content of the element just started is tokenized.
    pub(crate) fn expect(&mut self, model: ContentModel, element: NameKey) {
        self.model = model;
        self.last_start = element;
    }

    /// Returns the attributes of the tag just read, in order. Of two with the same name the
    /// first counts.
    pub(crate) fn attributes(&self) -> &[Attribute<'a>] {
        &self.attributes
    }

    /// Returns the next token; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<HtmlToken<'a>> {
        loop {
            if self.at >= self.html.len() {
                return None;
            }
            if self.model != ContentModel::Data {
                let end = self.raw_end();
                let raw = &self.html[self.at..end];
                let references =
                    self.model == ContentModel::RcData && memchr(b'&', raw.as_bytes()).is_some();
                self.model = ContentModel::Data;
                self.at = end;
                if !raw.is_empty() {
                    return Some(HtmlToken::Text { raw, references });
                }
                continue;
            }
            let (open, references) = self.markup_start();
            if open > self.at {
                let raw = &self.html[self.at..open];
                self.at = open;
                return Some(HtmlToken::Text { raw, references });
            }
            if let Some(token) = self.markup() {
                return Some(token);
            }
        }
    }

    /// Returns the position of the next `<` that starts markup, or the end; and whether a `&`
    /// precedes it.
    #[inline]
    fn markup_start(&self) -> (usize, bool) {
        let bytes = self.html.as_bytes();
        let mut from = self.at;
        let mut references = false;
        loop {
            // Text between tags is short, so the first eight bytes are searched without a call.
            let near = before_either(eight(bytes, from), b'<', b'&');
            let found = match near {
                8 => match memchr2(b'<', b'&', bytes.get(from + 8..).unwrap_or_default()) {
                    Some(found) => 8 + found,
                    None => return (bytes.len(), references),
                },
                near => near,
            };
            let open = from + found;
            match bytes.get(open + 1) {
                _ if bytes[open] == b'&' => {
                    references = true;
                    from = open + 1;
                }
                Some(b'a'..=b'z' | b'A'..=b'Z' | b'!' | b'?') => return (open, references),
                Some(b'/') if open + 2 < bytes.len() => return (open, references),
                _ => from = open + 1,
            }
        }
    }

    /// Reads the markup that starts here; `None` if it yields no token.
    #[inline]
    fn markup(&mut self) -> Option<HtmlToken<'a>> {
        let bytes = self.html.as_bytes();
        match bytes[self.at + 1] {
            b'!' => Some(self.declaration()),
            b'?' => Some(self.bogus_comment(self.at + 1)),
            b'/' => match bytes[self.at + 2] {
                b'a'..=b'z' | b'A'..=b'Z' => {
                    let (tag, _, _) = self.tag(self.at + 2)?;
                    Some(HtmlToken::End { tag })
                }
                b'>' => {
                    self.at += 3;
                    None
                }
                _ => Some(self.bogus_comment(self.at + 2)),
            },
            _ => {
                let (tag, name, self_closing) = self.tag(self.at + 1)?;
                Some(HtmlToken::Start {
                    tag,
                    name,
                    self_closing,
                })
            }
        }
    }

    fn declaration(&mut self) -> HtmlToken<'a> {
        let rest = &self.html.as_bytes()[self.at..];
        if rest.starts_with(b"<!--") {
            return self.comment(self.at + 4);
        }
        if rest.len() >= 9 && rest[2..9].eq_ignore_ascii_case(b"doctype") {
            self.bogus_comment(self.at + 9);
            return HtmlToken::Doctype;
        }
        self.bogus_comment(self.at + 2)
    }

    fn bogus_comment(&mut self, start: usize) -> HtmlToken<'a> {
        let length = memchr(b'>', &self.html.as_bytes()[start..]);
        let end = length.map_or(self.html.len(), |length| start + length);
        self.at = (end + 1).min(self.html.len());
        HtmlToken::Comment(&self.html[start..end])
    }

    fn comment(&mut self, start: usize) -> HtmlToken<'a> {
        let body = &self.html[start..];
        let bytes = body.as_bytes();
        let mut from = 0;
        while let Some(found) = memchr(b'>', &bytes[from..]) {
            let close = from + found;
            let before = &body[..close];
            let text = match before {
                // `<!-->` and `<!--->` are comments too.
                "" | "-" => Some(""),
                _ => before
                    .strip_suffix("--")
                    .or_else(|| before.strip_suffix("--!")),
            };
            if let Some(text) = text {
                self.at = start + close + 1;
                return HtmlToken::Comment(text);
            }
            from = close + 1;
        }
        self.at = self.html.len();
        let unfinished = ["--!", "--", "-"]
            .iter()
            .find_map(|end| body.strip_suffix(end));
        HtmlToken::Comment(unfinished.unwrap_or(body))
    }
}

/// Resolves the references in an attribute value. NUL becomes U+FFFD, as in the standard.
pub(crate) fn resolve_value(raw: &str) -> Cow<'_, str> {
    if memchr2(b'&', 0, raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    if raw.contains('\0') {
        return Cow::Owned(htmlize::unescape_attribute(raw.replace('\0', "\u{fffd}")).into_owned());
    }
    htmlize::unescape_attribute(raw)
}
