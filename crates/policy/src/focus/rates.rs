//! How many of the pages of a kind turned out to be of the topic?

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash};

use super::word_counts::Hashed;

/// Rates by kind. Kinds are numbers and hashes: nobody can choose them so that they collide but by writing words that do, which
/// costs time and nothing else.
pub type Rates<K> = HashMap<K, Rate, BuildHasherDefault<Hashed>>;

/// A share, as far as it was seen.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rate {
    /// Relevance seen.
    pub sum: f32,
    /// Pages seen.
    pub count: f32,
}

impl Rate {
    /// One page more.
    pub fn add(&mut self, relevance: f32) {
        self.sum += relevance;
        self.count += 1.0;
    }

    /// The rate, drawn towards what is expected as if so many pages had shown that.
    pub fn towards(self, expected: f32, strength: f32) -> f32 {
        (self.sum + strength * expected) / (self.count + strength)
    }
}

/// The rate of a kind, drawn towards what is expected by two pages.
pub fn rate<K: Hash + Eq>(rates: &Rates<K>, kind: &K, expected: f32) -> f32 {
    let known = rates.get(kind).copied().unwrap_or_default();
    known.towards(expected, 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_outweighs_what_was_expected() {
        let mut rates: Rates<u8> = Rates::default();
        assert_eq!(rate(&rates, &1, 0.25), 0.25);
        for _ in 0..2 {
            rates.entry(1).or_default().add(1.0);
        }
        assert_eq!(rate(&rates, &1, 0.25), 0.625);
        assert_eq!(rate(&rates, &2, 0.25), 0.25);
    }
}
