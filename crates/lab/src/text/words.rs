//! Which words does a text have?
//!
//! Runs of letters and digits, as Unicode knows them, lower-cased. No stems, no stop words. **Invariant:** pages and
//! queries are split alike.

use std::collections::HashMap;

/// Words that matter, by number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Vocabulary(HashMap<Box<str>, u32>);

impl Vocabulary {
    /// These words, each once, numbered in the order in which they first come.
    #[cfg(test)]
    pub fn of<'w>(words: impl Iterator<Item = &'w str>) -> Self {
        let mut all = Self::default();
        for word in words {
            all.number(word);
        }
        all
    }

    /// The number of a word, which becomes known.
    pub fn number(&mut self, word: &str) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(word.into()).or_insert(next)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// Shows each word of a text.
pub(crate) fn for_each_word(text: &str, mut see: impl FnMut(&str)) {
    let mut word = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            word.push(c.to_ascii_lowercase());
        } else if !c.is_ascii() && c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        } else if !word.is_empty() {
            see(&word);
            word.clear();
        }
    }
    if !word.is_empty() {
        see(&word);
    }
}

/// How often a text has the words of a vocabulary, by rising word, and how many words it has in all.
pub(crate) fn count(text: &str, vocabulary: &Vocabulary) -> (Box<[(u32, u32)]>, u32) {
    let mut length = 0;
    let mut found = Vec::new();
    for_each_word(text, |word| {
        length += 1;
        found.extend(vocabulary.0.get(word));
    });
    found.sort_unstable();
    let runs = found.chunk_by(|one, next| one == next);
    let counts = runs.map(|run| (run[0], run.len() as u32)).collect();
    (counts, length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_letters_and_digits_lower_cased() {
        let split = |text: &str| {
            let mut words = Vec::new();
            for_each_word(text, |word| words.push(word.to_owned()));
            words
        };
        assert_eq!(
            split("MTProto 2.0: don't, ÉCLAIR-42"),
            ["mtproto", "2", "0", "don", "t", "éclair", "42"]
        );
        assert_eq!(split(" -- "), [""; 0]);
        let vocabulary = Vocabulary::of(["b", "a", "b"].into_iter());
        let (counts, length) = count("A, b c; B", &vocabulary);
        assert_eq!((&*counts, length), (&[(0, 2), (1, 1)][..], 4));
    }
}
