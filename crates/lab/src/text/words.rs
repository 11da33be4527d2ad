//! Counting of the words of a text that are in a vocabulary.
//!
//! There is no stemming and no stop-word list.
//!
//! **Invariant:** pages and queries are split in the same way, by [`policy::words`].

use std::collections::HashMap;

use policy::words::each_lower;

/// The words that are counted, each with its number.
#[derive(Debug, Clone, Default)]
pub(crate) struct QueryVocabulary(HashMap<Box<str>, u32>);

impl QueryVocabulary {
    /// Creates a vocabulary of these words, numbered in the order of their first appearance.
    #[cfg(test)]
    pub fn of<'w>(words: impl Iterator<Item = &'w str>) -> Self {
        let mut all = Self::default();
        for word in words {
            all.number(word);
        }
        all
    }

    /// Returns the number of a word, and adds the word if it is new.
    pub fn number(&mut self, word: &str) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(word.into()).or_insert(next)
    }

    /// Returns the words, by their numbers.
    pub fn words(&self) -> Vec<Box<str>> {
        let mut words = vec![Box::default(); self.0.len()];
        for (word, number) in &self.0 {
            words[*number as usize] = word.clone();
        }
        words
    }

    /// Returns the number of words.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// Counts the vocabulary's words in a text. Returns the counts by ascending word number, and the
/// number of all words of the text.
pub(crate) fn count(text: &str, vocabulary: &QueryVocabulary) -> (Box<[(u32, u32)]>, u32) {
    let mut length = 0;
    let mut found = Vec::new();
    each_lower(text, |word| {
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
    fn words_of_the_vocabulary_are_counted() {
        let vocabulary = QueryVocabulary::of(["b", "a", "b"].into_iter());
        let (counts, length) = count("A, b c; B", &vocabulary);
        assert_eq!((&*counts, length), (&[(0, 2), (1, 1)][..], 4));
    }
}
