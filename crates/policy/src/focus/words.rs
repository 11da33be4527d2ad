//! Which words does a text have, and how often?
//!
//! A word is a run of letters and digits in lower case, of two letters at least; in a URL, escapes are
//! undone first. **Invariant:** a word is known by a hash, the same on every machine and in every run, so
//! that looking it up allocates nothing.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::query::{lower, unescape, words};

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

/// Shows every word of a text with its hash.
pub fn each_word<'t>(text: &'t str, mut see: impl FnMut(u64, &'t str)) {
    for word in words(text).filter(|word| word.len() > 1) {
        see(hash(word), word);
    }
}

/// How often a text has each of its words, in the order in which they come.
pub fn counts(text: &str, field: Field) -> Vec<(u64, u32)> {
    let unescaped;
    let text = match field {
        Field::Url => {
            unescaped = unescape(text);
            unescaped.as_ref()
        }
        Field::Text | Field::Title => text,
    };
    let mut places: ByWord<usize> = ByWord::default();
    let mut counts: Vec<(u64, u32)> = Vec::new();
    each_word(text, |hash, _| {
        let place = *places.entry(hash).or_insert(counts.len());
        match counts.get_mut(place) {
            Some((_, count)) => *count += 1,
            None => counts.push((hash, 1)),
        }
    });
    counts
}

/// What so many occurrences of a word weigh: log₂(1 + n), so that one weighs 1. A word that was used once is
/// likely to be used again; Rennie et al., "Tackling the poor assumptions of naive Bayes" (ICML 2003), §4.1.
pub fn weight(occurrences: u32) -> f32 {
    (1.0 + occurrences as f32).log2()
}

/// FNV-1a of the word in lower case.
pub fn hash(word: &str) -> u64 {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    if word.is_ascii() {
        let bytes = word.bytes().map(|byte| byte.to_ascii_lowercase());
        return bytes.fold(START, mix);
    }
    let mut buffer = [0; 4];
    lower(word).fold(START, |hash, letter| {
        letter.encode_utf8(&mut buffer).bytes().fold(hash, mix)
    })
}

fn mix(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_in_any_case() {
        let found = counts("A fox, the FOX & Füchse füchse fox", Field::Text);
        let fox = (hash("fox"), 3);
        assert_eq!(found, [fox, (hash("the"), 1), (hash("füchse"), 2)]);
        let url = counts("http://a.edu/M%C3%BCller?x=müller", Field::Url);
        assert!(url.contains(&(hash("müller"), 2)), "{url:?}");
    }

    #[test]
    fn a_word_weighs_less_each_time() {
        assert_eq!((weight(0), weight(1), weight(3)), (0.0, 1.0, 2.0));
    }
}
