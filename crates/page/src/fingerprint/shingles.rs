//! Estimates how much of two texts is the same, from a sketch of at most 256 bytes each.
//!
//! Broder, "On the resemblance and containment of documents" (1997). The smallest hashes of a
//! text's shingles (runs of four words) are a uniform sample of them. The share of common hashes
//! among the smallest of both texts estimates the share of common shingles. With 64 values the
//! standard error is at most 0.0625.
//!
//! **Invariant:** the values are strictly ascending, and there are at most [`Shingles::SIZE`].

use serde::{Deserialize, Serialize};

use super::mix;

/// A min-hash sketch: the smallest hashes of the shingles of a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(from = "Vec<u32>", into = "Vec<u32>")]
pub struct Shingles(Vec<u32>);

/// Words in a shingle. With fewer, common phrases make unrelated texts alike; with more, one
/// edit weighs too much.
const WORDS: usize = 4;

/// Bits to rotate per word, so that a word is back in its place after one shingle.
const TURN: u32 = 64 / WORDS as u32;

impl Shingles {
    /// Maximum number of values in a sketch.
    pub const SIZE: usize = 64;

    /// Estimates the Jaccard resemblance of two texts: their common shingles as a share of all.
    ///
    /// The estimate is 1 for equal texts, also for two empty ones, and 0 for texts without common
    /// shingles.
    pub fn resemblance(&self, other: &Self) -> f64 {
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        let (mut both, mut either) = (0u32, 0u32);
        while (either as usize) < Self::SIZE {
            let (next_a, next_b) = (a.peek().copied(), b.peek().copied());
            let smallest = match (next_a, next_b) {
                (None, None) => break,
                (Some(x), Some(y)) => x.min(y),
                (Some(x), None) | (None, Some(x)) => x,
            };
            let (in_a, in_b) = (next_a == Some(smallest), next_b == Some(smallest));
            both += u32::from(in_a && in_b);
            either += 1;
            if in_a {
                a.next();
            }
            if in_b {
                b.next();
            }
        }
        if either == 0 {
            1.0
        } else {
            f64::from(both) / f64::from(either)
        }
    }

    /// Returns the values, ascending.
    pub fn values(&self) -> &[u32] {
        &self.0
    }
}

impl From<Vec<u32>> for Shingles {
    /// Accepts values in any order, so that a sketch from a damaged store is still valid.
    fn from(mut values: Vec<u32>) -> Self {
        values.sort_unstable();
        values.dedup();
        values.truncate(Self::SIZE);
        Self(values)
    }
}

impl From<Shingles> for Vec<u32> {
    fn from(shingles: Shingles) -> Self {
        shingles.0
    }
}

/// Builds a sketch word by word.
#[derive(Default)]
pub(super) struct Sketch {
    /// The last words, as a ring buffer.
    window: [u64; WORDS],
    /// Rolling hash of the window. Each new word rotates the hash. After four words, the oldest
    /// word is in its first place again and is removed by XOR.
    run: u64,
    words: usize,
    smallest: Vec<u32>,
}

impl Sketch {
    /// Adds the hash of the next word.
    #[inline]
    pub(super) fn add(&mut self, word: u64) {
        let oldest = std::mem::replace(&mut self.window[self.words % WORDS], word);
        self.run = self.run.rotate_left(TURN) ^ oldest ^ word;
        self.words += 1;
        if self.words >= WORDS {
            self.keep();
        }
    }

    /// Returns the sketch. A text with fewer words than a shingle counts as one shingle.
    pub(super) fn finish(mut self) -> Shingles {
        if (1..WORDS).contains(&self.words) {
            self.keep();
        }
        Shingles(self.smallest)
    }

    #[inline]
    fn keep(&mut self) {
        let value = (mix(self.run, 0) >> 32) as u32;
        if self.smallest.len() == Shingles::SIZE {
            if self
                .smallest
                .last()
                .is_some_and(|&largest| value >= largest)
            {
                return;
            }
            if self.insert(value) {
                self.smallest.pop();
            }
        } else {
            self.insert(value);
        }
    }

    /// Inserts a value. Returns whether it was new.
    fn insert(&mut self, value: u32) -> bool {
        match self.smallest.binary_search(&value) {
            Ok(_) => false,
            Err(place) => {
                self.smallest.insert(place, value);
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::super::TextDigest;
    use super::*;

    fn sketch(words: &[String]) -> Shingles {
        TextDigest::of(&words.join(" ")).shingles
    }

    fn numbered(range: std::ops::Range<usize>) -> Vec<String> {
        range.map(|i| format!("word{i}")).collect()
    }

    #[test]
    fn the_estimate_follows_the_true_share() {
        // Two texts of 1,000 distinct words that share a part, so that the true share is known.
        let first = numbered(0..1_000);
        for shift in [0, 50, 200, 500, 800, 1_000] {
            let second = numbered(shift..1_000 + shift);
            let common = (997 - shift as i64).max(0) as f64;
            let truth = common / (2.0 * 997.0 - common);
            let estimate = sketch(&first).resemblance(&sketch(&second));
            // Three standard errors of a sample of 64.
            let tolerance = 3.0 * (truth * (1.0 - truth) / 64.0).sqrt();
            assert!(
                (estimate - truth).abs() <= tolerance,
                "shift {shift}: {estimate}, in truth {truth}"
            );
        }
    }

    #[test]
    fn short_texts_have_a_sketch() {
        assert_eq!(sketch(&[]).values(), &[] as &[u32]);
        for words in 1..=4 {
            assert_eq!(
                sketch(&numbered(0..words)).values().len(),
                1,
                "{words} words"
            );
        }
        assert_ne!(sketch(&numbered(0..2)), sketch(&numbered(1..3)));
        assert_eq!(sketch(&[]).resemblance(&sketch(&[])), 1.0);
        assert_eq!(sketch(&[]).resemblance(&sketch(&numbered(0..9))), 0.0);
    }

    #[test]
    fn a_sketch_survives_storage() {
        let sketch = sketch(&numbered(0..500));
        let stored = serde_json::to_string(&sketch).unwrap();
        assert_eq!(serde_json::from_str::<Shingles>(&stored).unwrap(), sketch);
        let damaged: Shingles = serde_json::from_str("[3,1,2,1]").unwrap();
        assert_eq!(damaged.values(), &[1, 2, 3]);
    }

    proptest! {
        #[test]
        fn a_sketch_keeps_the_smallest_hashes(words in prop::collection::vec("[a-f]", 0..400)) {
            // A sketch of each shingle alone gives its value.
            let values: HashSet<u32> = words.windows(WORDS).map(|run| sketch(run).values()[0]).collect();
            let mut expected: Vec<u32> = values.into_iter().collect();
            expected.sort_unstable();
            expected.truncate(Shingles::SIZE);
            if words.len() >= WORDS {
                let sketch = sketch(&words);
                prop_assert_eq!(sketch.values(), expected);
            }
        }

        #[test]
        fn resemblance_is_symmetric_bounded_and_one_for_equals(a in prop::collection::vec("[a-c]", 0..60), b in prop::collection::vec("[a-c]", 0..60)) {
            let (x, y) = (sketch(&a), sketch(&b));
            let resemblance = x.resemblance(&y);
            prop_assert_eq!(resemblance, y.resemblance(&x));
            prop_assert!((0.0..=1.0).contains(&resemblance));
            prop_assert_eq!(x.resemblance(&x), 1.0);
        }
    }
}
