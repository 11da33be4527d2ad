//! Numbers that the user gives for URLs: scores of pages, or change rates.
//!
//! **Invariant:** a number costs a fixed number of bytes, however long its URL: the URL is kept as a hash
//! of 64 bits. Among a million URLs, two share one with a probability of 3·10⁻⁸.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::Worth;

/// The scores of URLs.
#[derive(Debug, Clone, Default)]
pub struct Scores(HashMap<u64, f32>);

impl Scores {
    /// The score of a URL, which must be in the normal form of the crawl. The last one holds; what is
    /// negative or not a number is none.
    pub fn insert(&mut self, url: &str, score: f64) {
        // The queue keeps worths as f32 as well. The largest stays finite.
        let score = Worth::new(score).value().min(f64::from(f32::MAX));
        self.0.insert(hash(url), score as f32);
    }

    /// URLs scored.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no URL is scored.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The score of a URL, if it has one.
    pub fn get(&self, url: &str) -> Option<f32> {
        self.0.get(&hash(url)).copied()
    }
}

fn hash(url: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    url.hash(&mut hasher);
    hasher.finish()
}
