//! Schools of fish follow the food, and die without it.
//!
//! De Bra & Post, "Information retrieval in the World-Wide Web" (1994), as Hersovici et al. (1998) give it: links of a page
//! on the topic get the full depth [`DEPTH`], others one less than their parent had. Of a page on the topic the
//! first ⌊1.5 · [`WIDTH`]⌋ links are worth 1, of another page the first [`WIDTH`] are worth ½, all others 0. At depth 0 a
//! fish is dead, and its links are worth 0: here they come last, by their order of discovery.

use super::best_first::{Method, Sighting};
use crate::estimate::Column;
use crate::focus::judge::ON_TOPIC;

/// Steps away from the topic that a school survives.
const DEPTH: u8 = 3;
/// Children of a fish.
const WIDTH: usize = 10;

/// Worth is 1, ½ or nothing.
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
            // A seed was heard of and never seen behind a link.
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
