//! Links whose words are of the topic first.
//!
//! The anchor-based strategy of the chapter (§6.2.1): instead of the whole parent, the words of the link itself,
//! those around it, and its URL; Davison (2000) found anchors nearer to the page behind them than parents are.

use super::best_first::{Method, Sighting};

/// Worth is the probability by anchor and URL, for the best anchor.
#[derive(Debug, Clone, Copy, Default)]
pub struct Anchor;

impl Method for Anchor {
    const TERM: &'static str = "P(topic | anchor, words around it, URL)";

    fn value(&mut self, sighting: &Sighting<'_>) -> f32 {
        sighting.anchor
    }
}
