//! Mean relevance of groups of pages, with shrinkage.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash};

use super::word_counts::IdentityHasher;

/// Rates by group key.
///
/// Keys are page numbers, host numbers, or hashes, which are not hashed again. An attacker could
/// choose texts whose hashes collide. That would only cost time.
pub type RelevanceRates<K> = HashMap<K, RelevanceRate, BuildHasherDefault<IdentityHasher>>;

/// A mean relevance of pages.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RelevanceRate {
    /// Sum of the relevance of the pages.
    pub sum: f32,
    /// Number of pages.
    pub count: f32,
}

impl RelevanceRate {
    /// Adds a page.
    pub fn add(&mut self, relevance: f32) {
        self.sum += relevance;
        self.count += 1.0;
    }

    /// Returns the mean, shrunk towards `expected` by a pseudo-count of `strength` pages.
    pub fn towards(self, expected: f32, strength: f32) -> f32 {
        (self.sum + strength * expected) / (self.count + strength)
    }
}

/// Returns the rate of a group, shrunk towards `expected` by a pseudo-count of two pages.
pub fn rate<K: Hash + Eq>(rates: &RelevanceRates<K>, kind: &K, expected: f32) -> f32 {
    let known = rates.get(kind).copied().unwrap_or_default();
    known.towards(expected, 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_shrunk_towards_the_expected_one_by_two_pages() {
        let mut rates: RelevanceRates<u8> = RelevanceRates::default();
        assert_eq!(rate(&rates, &1, 0.25), 0.25);
        for _ in 0..2 {
            rates.entry(1).or_default().add(1.0);
        }
        assert_eq!(rate(&rates, &1, 0.25), 0.625);
        assert_eq!(rate(&rates, &2, 0.25), 0.25);
    }
}
