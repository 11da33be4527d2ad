//! Links of pages on the topic, and no others.
//!
//! Hard focusing of Chakrabarti, van den Berg & Dom, "Focused crawling" (1999): what a page off the topic leads to is
//! dropped. It stays known and is counted; a parent on the topic, or another method, takes it up again.

use super::best_first::{Method, Sighting};
use crate::focus::judge::ON_TOPIC;

/// Worth is the probability that the best parent is of the topic; nothing below one half.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hard;

impl Method for Hard {
    const TERM: &'static str = "P(topic | best parent), if one half or more";
    const DROPS: bool = true;

    fn value(&mut self, sighting: &Sighting<'_>) -> f32 {
        match sighting.relevance >= ON_TOPIC {
            true => sighting.relevance,
            false => 0.0,
        }
    }
}
