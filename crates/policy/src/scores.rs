//! Numbers that the user gives for URLs: scores of pages, or change rates.
//!
//! **Invariant:** an entry has a fixed size, however long its URL: the map stores a 64-bit hash
//! of the URL. Among a million URLs, the probability that any two share a hash is 3·10⁻⁸.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::Worth;

/// The scores of URLs.
#[derive(Debug, Clone, Default)]
pub struct Scores(HashMap<u64, f32>);

impl Scores {
    /// Sets the score of a URL, which must be normalized. A later score replaces an earlier
    /// one. Negative values and NaN count as 0.
    pub fn insert(&mut self, url: &str, score: f64) {
        // The queue also keeps worths as f32. A score above `f32::MAX` would become infinite.
        let score = Worth::new(score).value().min(f64::from(f32::MAX));
        self.0.insert(hash(url), score as f32);
    }

    /// Returns the number of scored URLs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether no URL is scored.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the score of a URL, if it has one.
    pub fn get(&self, url: &str) -> Option<f32> {
        self.0.get(&hash(url)).copied()
    }
}

fn hash(url: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    url.hash(&mut hasher);
    hasher.finish()
}
