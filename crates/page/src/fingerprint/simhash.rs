//! A 64-bit simhash for finding near-duplicates.
//!
//! Charikar, "Similarity estimation techniques from rounding algorithms" (STOC 2002), over pairs
//! of words. Manku, Jain and Das Sarma, "Detecting near-duplicates for web crawling" (WWW 2007),
//! found that 3 of 64 bits is a good bound for web pages.
//!
//! **Invariant:** each bit is the majority of that bit over the features of the text; a tie is
//! 0.

use serde::{Deserialize, Serialize};

use super::{for_each_word, mix};

/// Maximum number of bits in which near-duplicates differ: the bound of Manku, Jain & Das Sarma
/// (WWW 2007).
const NEAR: u32 = 3;

/// For each of 64 bits, the majority over the pairs of words of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Simhash(pub u64);

impl Simhash {
    /// Computes the simhash of a text.
    pub fn of(text: &str) -> Self {
        let mut counters = BitCounters::default();
        for_each_word(text, |word| counters.add(word));
        counters.finish()
    }

    /// Returns in how many of 64 bits two texts differ (Hamming distance).
    pub fn distance(self, other: Self) -> u32 {
        (self.0 ^ other.0).count_ones()
    }

    /// Returns whether two texts differ in at most 3 bits, so that they may be near-duplicates.
    pub fn is_near(self, other: Self) -> bool {
        self.distance(other) <= NEAR
    }
}

/// Counts the set bits of 64-bit features, in 64 counters that are stored bit-sliced.
///
/// Plane `i` holds bit `i` of each counter, so that a few word operations add a feature to all
/// of them. Eight features are first added to each other (carry-save, as in the population count
/// of Harley and Seal), which saves most carries.
#[derive(Default)]
pub(super) struct BitCounters {
    planes: [u64; PLANES],
    buffered: [u64; 8],
    features: u64,
    last: u64,
}

/// Bits of a counter, enough for 2^24 - 1 words; further words are ignored. By default a text has
/// at most 2^20 bytes.
const PLANES: usize = 24;

impl BitCounters {
    /// Adds the hash of the next word.
    #[inline]
    pub(super) fn add(&mut self, word: u64) {
        if self.features >= (1 << PLANES) - 1 {
            return;
        }
        self.buffered[(self.features % 8) as usize] = mix(self.last, word);
        self.last = word;
        self.features += 1;
        if self.features.is_multiple_of(8) {
            self.settle();
        }
    }

    /// Adds the eight buffered features to the counters.
    #[inline]
    fn settle(&mut self) {
        let [a, b, c, d, e, f, g, h] = std::mem::take(&mut self.buffered);
        let (ones, twos_a) = full_add(self.planes[0], a, b);
        let (ones, twos_b) = full_add(ones, c, d);
        let (twos, fours_a) = full_add(self.planes[1], twos_a, twos_b);
        let (ones, twos_a) = full_add(ones, e, f);
        let (ones, twos_b) = full_add(ones, g, h);
        let (twos, fours_b) = full_add(twos, twos_a, twos_b);
        let (fours, mut carry) = full_add(self.planes[2], fours_a, fours_b);
        (self.planes[0], self.planes[1], self.planes[2]) = (ones, twos, fours);
        for plane in &mut self.planes[3..] {
            let next = *plane & carry;
            *plane ^= carry;
            carry = next;
            if carry == 0 {
                break;
            }
        }
    }

    /// Returns the bits that are set in more than half of the features.
    pub(super) fn finish(mut self) -> Simhash {
        self.settle(); // Empty places are zero and add nothing.
        let half = self.features / 2;
        let mut more = 0u64;
        let mut equal = u64::MAX;
        for (bit, plane) in self.planes.iter().enumerate().rev() {
            if half >> bit & 1 == 1 {
                equal &= plane;
            } else {
                more |= equal & plane;
                equal &= !plane;
            }
        }
        Simhash(more)
    }
}

/// Adds three bits in each of 64 positions. Returns the sum and the carry.
#[inline]
fn full_add(a: u64, b: u64, c: u64) -> (u64, u64) {
    (a ^ b ^ c, a & b | (a ^ b) & c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{TextDigest, for_each_word};
    use super::*;

    /// Computes the same with 64 plain counters.
    fn counted(text: &str) -> Simhash {
        let (mut counters, mut features, mut last) = ([0u64; 64], 0, 0);
        for_each_word(text, |word| {
            let feature = mix(last, word);
            last = word;
            features += 1;
            for (bit, counter) in counters.iter_mut().enumerate() {
                *counter += feature >> bit & 1;
            }
        });
        Simhash(
            (0..64)
                .filter(|&bit| counters[bit] > features / 2)
                .map(|bit| 1 << bit)
                .sum(),
        )
    }

    #[test]
    fn near_texts_are_near_and_others_are_far() {
        let words: Vec<String> = (0..400).map(|i| format!("w{}", i * i % 997)).collect();
        let mut edited = words.clone();
        edited[200] = "edited".into();
        let other: Vec<String> = (0..400).map(|i| format!("v{}", i * i % 997)).collect();
        let simhash = |words: &[String]| TextDigest::of(&words.join(" ")).simhash;
        assert!(simhash(&words).is_near(simhash(&edited)));
        assert!(simhash(&words).distance(simhash(&other)) > 16);
    }

    proptest! {
        #[test]
        fn bit_sliced_counters_agree_with_plain_ones(words in prop::collection::vec("[a-c]{1,2}", 0..200)) {
            let text = words.join(" ");
            prop_assert_eq!(TextDigest::of(&text).simhash, counted(&text));
        }

        #[test]
        fn distance_is_a_metric(a: u64, b: u64, c: u64) {
            let (a, b, c) = (Simhash(a), Simhash(b), Simhash(c));
            prop_assert_eq!(a.distance(a), 0);
            prop_assert_eq!(a.distance(b), b.distance(a));
            prop_assert!(a.distance(c) <= a.distance(b) + b.distance(c));
        }
    }
}
