//! Soft focusing: links on pages of the topic come first.
//!
//! Chakrabarti, van den Berg & Dom, "Focused crawling" (1999), as equation 6.4 of Baldi, Frasconi
//! & Smyth, "Modeling the Internet and the Web" (2003): P(c | d(u)) ≈ P(c | d(v)) for a parent v.
//! If several pages link to u, the best of them counts. The worth of u rises when a better one
//! appears.

use super::best_first::{Method, Sighting};

/// A method by the probability that the best parent is of the topic.
#[derive(Debug, Clone, Copy, Default)]
pub struct Soft;

impl Method for Soft {
    const TERM: &'static str = "P(topic | best parent)";

    fn value(&mut self, sighting: &Sighting<'_>) -> f32 {
        sighting.relevance
    }
}
