//! Word counts of texts, titles, URLs and links.
//!
//! Words are those of [`each_word`], so they have at least two bytes. Escapes in a URL are
//! decoded first.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::Text;
use crate::words::{each_word, mix, unescape};

/// Bytes of text per word, a low estimate, to reserve memory.
const SPACING: usize = 5;

/// The part of a page that a word is in. The same word has a different weight in each part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Field {
    /// The text, and the anchors of links to the page.
    Text,
    /// The title.
    Title,
    /// The URL.
    Url,
}

impl Field {
    /// All fields, in the order of their index.
    pub const ALL: [Self; 3] = [Self::Text, Self::Title, Self::Url];

    /// Returns the index of the field in an array.
    pub fn index(self) -> usize {
        self as usize
    }

    /// Returns the name of the field.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Title => "title",
            Self::Url => "url",
        }
    }
}

/// A map keyed by the hash of a word.
pub type ByWord<T> = HashMap<u64, T, BuildHasherDefault<IdentityHasher>>;

/// A hasher that returns a `u64` key unchanged, because it is a hash already. Other keys are
/// hashed byte by byte.
#[derive(Debug, Clone, Copy, Default)]
pub struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
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

/// Returns how often a text has each of its words, ordered by their hashes.
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

/// Word counts of a page that was read.
#[derive(Debug, Clone, Default)]
pub struct PageWords {
    /// Of its title.
    pub title: Vec<(u64, u32)>,
    /// Of its text.
    pub body: Vec<(u64, u32)>,
}

impl PageWords {
    /// Counts the words of this text; empty if the text is not available.
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

/// Word counts of a link and of the text around it.
#[derive(Debug, Clone)]
pub struct LinkWords {
    /// Of the anchor.
    pub anchor: Vec<(u64, u32)>,
    /// Of the anchor and the words on either side.
    pub around: Vec<(u64, u32)>,
}

impl LinkWords {
    /// Counts the words of an anchor and its surroundings.
    pub fn of(anchor: &str, around: &str) -> Self {
        Self {
            anchor: counts(anchor, Field::Text),
            around: counts(around, Field::Text),
        }
    }
}

/// Returns the weight of a word that occurs this often in a text: log₂(1 + n), so that one
/// occurrence weighs 1.
///
/// A word that was used once is likely to be used again, so further occurrences say less. Rennie
/// et al., "Tackling the poor assumptions of naive Bayes" (ICML 2003), §4.1.
pub fn weight(occurrences: u32) -> f32 {
    (1.0 + occurrences as f32).log2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::hash;

    #[test]
    fn words_are_counted_regardless_of_case_and_url_escapes() {
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
