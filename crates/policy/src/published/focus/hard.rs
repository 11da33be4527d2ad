//! Hard focusing: only links on pages of the topic are followed.
//!
//! Chakrabarti, van den Berg & Dom, "Focused crawling" (1999): links on a page off the topic are
//! dropped. Their targets stay known and are counted. A parent on the topic, or another method,
//! makes them eligible again.

use super::best_first::{Method, Sighting};
use crate::focus::judge::ON_TOPIC;

/// A method by the probability that the best parent is of the topic; 0 below one half.
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
