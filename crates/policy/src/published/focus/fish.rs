//! Fish search: follows links for a limited number of steps away from the topic.
//!
//! De Bra & Post, "Information retrieval in the World-Wide Web" (1994), as described by
//! Hersovici et al. (1998). Links on a page of the topic get the full depth [`DEPTH`], others
//! one less than their parent had. On a page of the topic the first ⌊1.5 · [`WIDTH`]⌋ links have
//! the value 1. On another page the first [`WIDTH`] have ½, and all others 0. At depth 0 all
//! links have the value 0. Here such links are not dropped; they come last, by their order of
//! discovery. The first links are those with the lowest page numbers.

use super::best_first::{Method, Sighting};
use crate::estimate::Column;
use crate::focus::judge::ON_TOPIC;

/// Steps away from the topic after which links have no value.
const DEPTH: u8 = 3;
/// Links of a page off the topic that have a value.
const WIDTH: usize = 10;

/// A method with the values 1, ½ and 0.
#[derive(Debug, Clone, Default)]
pub struct Fish {
    depths: Column<u8>,
}

impl Method for Fish {
    const TERM: &'static str = "fish";

    fn value(&mut self, sighting: &Sighting<'_>) -> f32 {
        let on = sighting.relevance >= ON_TOPIC;
        let depth = match on {
            true => DEPTH,
            // A seed has no depth, because no link led to it.
            false => self
                .depths
                .get(sighting.from)
                .unwrap_or(DEPTH)
                .saturating_sub(1),
        };
        if !self.depths.add(sighting.link.to, depth)
            && let Some(known) = self.depths.get_mut(sighting.link.to)
        {
            *known = depth.max(*known);
        }
        match (on, sighting.place) {
            (_, _) if depth == 0 => 0.0,
            (true, place) if place < WIDTH * 3 / 2 => 1.0,
            (false, place) if place < WIDTH => 0.5,
            _ => 0.0,
        }
    }
}
