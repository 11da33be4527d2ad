//! Links of pages on the topic first.
//!
//! Soft focusing of Chakrabarti, van den Berg & Dom, "Focused crawling" (1999): equation 6.4, P(c | d(u)) ≈ P(c | d(v)) for
//! a parent v. Where several pages lead to u, the best of them counts, and u is revised when a better one appears.

use super::best_first::{Method, Sighting};

/// Worth is the probability that the best parent is of the topic.
#[derive(Debug, Clone, Copy, Default)]
pub struct Soft;

impl Method for Soft {
    const TERM: &'static str = "P(topic | best parent)";

    fn value(&mut self, sighting: &Sighting<'_>) -> f32 {
        sighting.relevance
    }
}
