//! Fish search: follows links for a limited number of steps away from the topic.
//!
//! De Bra & Post, "Information retrieval in the World-Wide Web" (1994), as described by
//! Hersovici et al. (1998). Links on a page of the topic get the full depth. Links on another page
//! get one less than that page had. On a page of the topic the first ⌊1.5 · width⌋ links have the
//! value 1, on another page the first `width` links have ½. All other links, and all links of
//! depth 0, have the value 0. Here such links are not dropped; they come last, by their order of
//! discovery. The first links are those to the lowest page numbers.

use super::best_first::{Method, Sighting};
use crate::estimate::Column;
use crate::focus::judge::ON_TOPIC;

/// A method with the values 1, ½ and 0.
#[derive(Debug, Clone)]
pub struct Fish {
    /// Number of links from the topic at which the links of a page off the topic have no value.
    depth: u8,
    /// Maximum number of links of a page off the topic that have a value.
    width: u32,
    depths: Column<u8>,
}

impl Fish {
    /// Default of the depth.
    pub const DEPTH: u8 = 3;
    /// Default of the width.
    pub const WIDTH: u32 = 10;

    /// Creates the method with this depth and width.
    pub fn new(depth: u8, width: u32) -> Self {
        Self {
            depth,
            width,
            depths: Column::default(),
        }
    }
}

impl Default for Fish {
    fn default() -> Self {
        Self::new(Self::DEPTH, Self::WIDTH)
    }
}

impl Method for Fish {
    const TERM: &'static str = "fish";

    fn value(&mut self, sighting: &Sighting<'_>) -> f32 {
        let on = sighting.relevance >= ON_TOPIC;
        let depth = match on {
            true => self.depth,
            // A seed has no depth, because no link led to it.
            false => self
                .depths
                .get(sighting.from)
                .unwrap_or(self.depth)
                .saturating_sub(1),
        };
        if !self.depths.add(sighting.link.to, depth)
            && let Some(known) = self.depths.get_mut(sighting.link.to)
        {
            *known = depth.max(*known);
        }
        let width = self.width as usize;
        match (on, sighting.place) {
            (_, _) if depth == 0 => 0.0,
            (true, place) if place < width * 3 / 2 => 1.0,
            (false, place) if place < width => 0.5,
            _ => 0.0,
        }
    }
}
