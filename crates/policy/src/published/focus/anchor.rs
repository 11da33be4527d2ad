//! Anchor-based focusing: links whose words are of the topic come first.
//!
//! Baldi, Frasconi & Smyth, "Modeling the Internet and the Web" (2003), §6.2.1. The method judges
//! the link itself instead of the whole parent page: its words, the words around it, and its URL.
//! Davison (2000) found that an anchor resembles its target more than the parent page does.

use super::best_first::{Method, Sighting};

/// A method by the probability that the target is of the topic, by the best anchor and the URL.
#[derive(Debug, Clone, Copy, Default)]
pub struct Anchor;

impl Method for Anchor {
    const TERM: &'static str = "P(topic | anchor, words around it, URL)";

    fn value(&mut self, sighting: &Sighting<'_>) -> f32 {
        sighting.anchor
    }
}
