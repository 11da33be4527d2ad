//! Assembles the visible text from pieces of markup.
//!
//! **Invariant:** the text has no control or invisible characters. It has single spaces or
//! single line breaks between words and none at its ends. It never exceeds its limit.

use super::invisible::{Class, MARKS, class};
use crate::scan::{char_floor, plain_end};

/// Collects visible text.
pub(super) struct VisibleText {
    text: String,
    gap: Gap,
    limit: usize,
    /// Number of combining marks on the last character.
    marks: u32,
    anchor: AnchorStart,
    /// Number of open elements in which line breaks are kept (`pre`).
    lines: u32,
    /// Whether something did not fit.
    pub(super) is_cut: bool,
}

/// The separator between the last word and the next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Gap {
    None,
    Space,
    Line,
}

/// The start of the anchor text of the open link.
#[derive(Clone, Copy)]
enum AnchorStart {
    Closed,
    Waiting,
    From(usize),
}

impl VisibleText {
    /// Creates an empty text of at most `limit` bytes.
    pub(super) fn new(limit: usize, capacity: usize) -> Self {
        Self {
            text: String::with_capacity(capacity.min(limit)),
            gap: Gap::None,
            limit,
            marks: 0,
            anchor: AnchorStart::Closed,
            lines: 0,
            is_cut: false,
        }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn len(&self) -> u32 {
        self.text.len() as u32
    }

    /// Starts a new line before the next word.
    pub(super) fn line(&mut self) {
        self.gap = Gap::Line;
    }

    /// Separates the next word from the last by at least a space.
    pub(super) fn space(&mut self) {
        self.gap_at_least(Gap::Space);
    }

    /// Keeps line breaks of the markup from here on.
    pub(super) fn open_lines(&mut self) {
        self.lines += 1;
    }

    /// Treats line breaks as spaces again, unless an outer element keeps them.
    pub(super) fn close_lines(&mut self) {
        self.lines = self.lines.saturating_sub(1);
    }

    /// Begins the anchor text of a link.
    pub(super) fn open_anchor(&mut self) {
        self.anchor = AnchorStart::Waiting;
    }

    /// Returns the range of the text since [`Self::open_anchor`], at most `limit` bytes.
    pub(super) fn close_anchor(&mut self, limit: usize) -> std::ops::Range<u32> {
        let end = self.text.len();
        let start = match self.anchor {
            AnchorStart::From(start) => start,
            AnchorStart::Waiting | AnchorStart::Closed => end,
        };
        self.anchor = AnchorStart::Closed;
        let end = char_floor(&self.text, end.min(start + limit));
        start as u32..end as u32
    }

    /// Adds text whose references are resolved.
    pub(super) fn push(&mut self, piece: &str) {
        let bytes = piece.as_bytes();
        let mut at = 0;
        let mut start = 0;
        while let Some(&byte) = bytes.get(at) {
            if is_visible(byte) {
                at = plain_end(bytes, at);
                continue;
            }
            if byte < 0x80 {
                if byte == b' '
                    && at > start
                    && bytes.get(at + 1).is_some_and(|&next| is_visible(next))
                {
                    at += 1; // One space between two words is copied with them.
                    continue;
                }
                self.word(&piece[start..at]);
                let breaks = self.lines > 0 && byte == b'\n';
                self.gap_at_least(if breaks { Gap::Line } else { Gap::Space });
                at += 1;
                start = at;
                continue;
            }
            let Some(c) = piece[at..].chars().next() else {
                return;
            };
            let class = class(c);
            if class == Class::Letter {
                at += c.len_utf8();
                continue;
            }
            self.word(&piece[start..at]);
            self.special(c, class);
            at += c.len_utf8();
            start = at;
        }
        self.word(&piece[start..]);
    }

    fn special(&mut self, c: char, class: Class) {
        let keep = match class {
            Class::Letter => true,
            Class::Invisible => false,
            Class::Space => {
                self.gap_at_least(Gap::Space);
                false
            }
            Class::Joiner => {
                self.gap == Gap::None
                    && self
                        .text
                        .chars()
                        .next_back()
                        .is_some_and(|last| !last.is_ascii())
            }
            Class::Mark => self.marks < MARKS,
        };
        if keep {
            let marks = self.marks;
            self.word(c.encode_utf8(&mut [0; 4]));
            self.marks = if class == Class::Mark { marks + 1 } else { 0 };
        }
    }

    /// Writes characters that need no normalization.
    #[inline]
    fn word(&mut self, word: &str) {
        if word.is_empty() {
            return;
        }
        let gap = usize::from(self.gap != Gap::None && !self.text.is_empty());
        let room = self.limit.saturating_sub(self.text.len() + gap);
        if word.len() > room {
            return self.cut(word, room);
        }
        self.write(word);
    }

    /// Writes as much of a word as fits, and allows nothing after it.
    #[cold]
    fn cut(&mut self, word: &str, room: usize) {
        let fits = &word[..char_floor(word, room)];
        if !fits.is_empty() {
            self.write(fits);
        }
        self.limit = self.text.len();
        self.is_cut = true;
    }

    #[inline]
    fn write(&mut self, word: &str) {
        if self.gap != Gap::None {
            if !self.text.is_empty() {
                self.text
                    .push(if self.gap == Gap::Line { '\n' } else { ' ' });
            }
            self.gap = Gap::None;
        }
        if let AnchorStart::Waiting = self.anchor {
            self.anchor = AnchorStart::From(self.text.len());
        }
        self.text.push_str(word);
        self.marks = 0;
    }

    fn gap_at_least(&mut self, gap: Gap) {
        if self.gap < gap {
            self.gap = gap;
        }
    }
}

/// Returns whether a byte is a visible ASCII character.
#[inline]
fn is_visible(byte: u8) -> bool {
    byte > b' ' && byte < 0x7f
}
