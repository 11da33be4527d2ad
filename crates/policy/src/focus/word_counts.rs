//! How often texts, titles, URLs and links have each of their words.
//!
//! Words are those of [`each_word`], so of two bytes at least; in a URL, escapes are undone first.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::Text;
use crate::words::{each_word, mix, unescape};

/// Bytes of text to a word, at least in most texts.
const SPACING: usize = 5;
/// Where a word stands. The same word says other things in a title or a URL than in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Field {
    /// The text, and the anchors of links that lead to the page.
    Text,
    /// The title.
    Title,
    /// The URL.
    Url,
}

impl Field {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Text, Self::Title, Self::Url];

    /// The place in an array.
    pub fn index(self) -> usize {
        self as usize
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Title => "title",
            Self::Url => "url",
        }
    }
}

/// What is known of words, by their hash.
pub type ByWord<T> = HashMap<u64, T, BuildHasherDefault<Hashed>>;

/// Takes a hash for what it is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| mix(hash, *byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// How often a text has each of its words, by their hashes in order.
pub fn counts(text: &str, field: Field) -> Vec<(u64, u32)> {
    let unescaped;
    let text = match field {
        Field::Url => {
            unescaped = unescape(text);
            unescaped.as_ref()
        }
        Field::Text | Field::Title => text,
    };
    let mut counts = Vec::with_capacity(text.len() / SPACING);
    each_word(text, |hash, _| counts.push((hash, 1)));
    counts.sort_unstable_by_key(|(hash, _)| *hash);
    counts.dedup_by(|(hash, count), (kept, sum)| {
        let same = hash == kept;
        *sum += if same { *count } else { 0 };
        same
    });
    counts
}

/// The words of a page that was read, each with how often.
#[derive(Debug, Clone, Default)]
pub struct Written {
    /// Of its title.
    pub title: Vec<(u64, u32)>,
    /// Of its text.
    pub body: Vec<(u64, u32)>,
}

impl Written {
    /// Of this text; none if it is not at hand.
    pub fn of(text: Text<'_>) -> Self {
        match text {
            Text::Whole { title, body, .. } => Self {
                title: counts(title, Field::Title),
                body: counts(body, Field::Text),
            },
            Text::Nothing | Text::Counted { .. } => Self::default(),
        }
    }
}

/// The words of a link and those around it, each with how often.
#[derive(Debug, Clone)]
pub struct Spoken {
    /// Its own.
    pub anchor: Vec<(u64, u32)>,
    /// Its own and some on either side.
    pub around: Vec<(u64, u32)>,
}

impl Spoken {
    /// Of these texts.
    pub fn of(anchor: &str, around: &str) -> Self {
        Self {
            anchor: counts(anchor, Field::Text),
            around: counts(around, Field::Text),
        }
    }
}

/// What so many occurrences of a word weigh: log₂(1 + n), so that one weighs 1. A word that was used once is
/// likely to be used again; Rennie et al., "Tackling the poor assumptions of naive Bayes" (ICML 2003), §4.1.
pub fn weight(occurrences: u32) -> f32 {
    (1.0 + occurrences as f32).log2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::hash;

    #[test]
    fn words_are_counted_in_any_case() {
        let found = counts("A fox, the FOX & Füchse füchse fox", Field::Text);
        let mut expected = [("fox", 3), ("the", 1), ("füchse", 2)].map(|(w, n)| (hash(w), n));
        expected.sort_unstable();
        assert_eq!(found, expected);
        let url = counts("http://a.edu/M%C3%BCller?x=müller", Field::Url);
        assert!(url.contains(&(hash("müller"), 2)), "{url:?}");
    }

    #[test]
    fn a_word_weighs_less_each_time() {
        assert_eq!((weight(0), weight(1), weight(3)), (0.0, 1.0, 2.0));
    }
}
