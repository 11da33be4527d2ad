//! A vocabulary and topics, from which texts and queries are drawn.
//!
//! Word frequencies follow Zipf's law, and each topic prefers words of its own. A word of a text
//! comes from its topic with some probability, and otherwise from the shared background. This is
//! a mixture of two unigram language models (Zhai & Lafferty, SIGIR 2001).
//!
//! **Invariant:** different word numbers give different words. A topic's words depend only on
//! the seed, the topic and the size of the vocabulary.

use rand::{Rng, RngExt};
use testweb::chance::{For, stream};

use super::draw::{Zipf, chance};

/// Number of draws for the words that a topic prefers; a word can be drawn twice.
const PREFERRED: usize = 200;

/// Zipf's exponent of word frequencies, roughly that of natural languages.
const EXPONENT: f64 = 1.0;

const CONSONANTS: &[u8; 16] = b"bdfghjklmnprstvz";
const VOWELS: &[u8; 5] = b"aeiou";

/// A vocabulary and its topics.
#[derive(Debug)]
pub(super) struct Language {
    background: Zipf,
    preferred: Zipf,
    topics: Vec<Vec<u32>>,
    words: u32,
}

impl Language {
    /// Creates a vocabulary of `words` words with `topics` topics.
    pub fn new(words: u32, topics: u32, seed: u64) -> Self {
        let prefers = |topic| {
            let mut rng = stream(seed, For::Topics, u64::from(topic), 0);
            let drawn = (0..PREFERRED).map(|_| rng.random_range(0..words));
            drawn.collect()
        };
        Self {
            background: Zipf::new(words as usize, EXPONENT),
            preferred: Zipf::new(PREFERRED, EXPONENT),
            topics: (0..topics).map(prefers).collect(),
            words,
        }
    }

    /// Draws a word of a text; it is one of the topic's own with probability `share`.
    pub fn word(&self, topic: u32, share: f64, rng: &mut impl Rng) -> u32 {
        match chance(rng, share) {
            true => self.of_topic(topic, rng),
            false => self.background.draw(rng) as u32,
        }
    }

    /// Draws a word that a topic prefers.
    pub fn of_topic(&self, topic: u32, rng: &mut impl Rng) -> u32 {
        self.topics[topic as usize][self.preferred.draw(rng)]
    }

    /// Draws any word, uniformly.
    pub fn any(&self, rng: &mut impl Rng) -> u32 {
        rng.random_range(0..self.words)
    }

    /// Returns the size of the vocabulary. Neither topics nor the background use word numbers from
    /// this one on.
    pub fn words(&self) -> u32 {
        self.words
    }
}

/// Appends a word to a text, after a space unless the text is empty or ends with a line break or
/// a tag.
pub(super) fn write(word: u32, text: &mut String) {
    if !text.is_empty() && !text.ends_with(['\n', '>']) {
        text.push(' ');
    }
    // At least two syllables, and more for large numbers, so that frequent words are short.
    let mut rest = u64::from(word);
    let mut range = 80 * 80;
    let mut syllables = 2;
    while rest >= range {
        rest -= range;
        range *= 80;
        syllables += 1;
    }
    for _ in 0..syllables {
        let syllable = (rest % 80) as usize;
        rest /= 80;
        text.push(char::from(CONSONANTS[syllable / 5]));
        text.push(char::from(VOWELS[syllable % 5]));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn spelt(word: u32) -> String {
        let mut text = String::new();
        write(word, &mut text);
        text
    }

    #[test]
    fn words_differ_and_the_frequent_are_short() {
        let words: HashSet<String> = (0..20_000).map(spelt).collect();
        assert_eq!(words.len(), 20_000);
        assert_eq!(
            (spelt(0).len(), spelt(6_399).len(), spelt(6_400).len()),
            (4, 4, 6)
        );
        assert!(spelt(u32::MAX).len() < 20);
        let mut line = spelt(3);
        write(4, &mut line);
        assert_eq!(line, format!("{} {}", spelt(3), spelt(4)));
    }

    #[test]
    fn a_text_draws_the_set_share_of_its_words_from_its_topic() {
        let language = Language::new(5_000, 4, 1);
        let mut rng = stream(1, For::Prose, 0, 0);
        let own: HashSet<u32> = language.topics[2].iter().copied().collect();
        let among = |share, rng: &mut _| {
            let drawn = (0..10_000).filter(|_| own.contains(&language.word(2, share, rng)));
            drawn.count() as f64 / 10_000.0
        };
        let (none, half) = (among(0.0, &mut rng), among(0.5, &mut rng));
        // The background has these words as well, but most are not among its frequent ones.
        assert!(
            none < 0.3 && half > 0.5 + none / 2.0 - 0.03,
            "{none}, {half}"
        );
        assert_ne!(language.topics[1], language.topics[2]);
        assert!((0..100).all(|_| language.any(&mut rng) < 5_000));
    }

    #[test]
    fn background_words_follow_zipfs_law() {
        let language = Language::new(1_000, 1, 1);
        let mut rng = stream(2, For::Prose, 0, 0);
        let mut counts = vec![0.0; 1_000];
        (0..50_000).for_each(|_| counts[language.word(0, 0.0, &mut rng) as usize] += 1.0);
        // Harmonic number 1,000: 7.485.
        for place in [1, 2, 10] {
            let expected = 50_000.0 / 7.485 / place as f64;
            let found: f64 = counts[place - 1];
            assert!(
                (found - expected).abs() < 4.0 * expected.sqrt(),
                "{place}: {found}"
            );
        }
    }
}
