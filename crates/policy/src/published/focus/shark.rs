//! Shark search: links by their words, the words around them, and inherited relevance.
//!
//! Hersovici et al., "The shark-search algorithm" (WWW 1998). A child inherits δ times the
//! relevance of a parent on the topic. From another parent it inherits δ times what that parent
//! inherited, or, if the parent is a seed, δ times its relevance. The neighbourhood of a link is
//! β · anchor + (1−β) · context. The context is 1 for an anchor on the topic, and otherwise equal
//! to the anchor.
//! Potential = γ · inherited + (1−γ) · neighbourhood, with δ = γ = ½ and β = 0.8 as in the paper.
//! The paper's condition "similarity above 0" is here "probability of at least one half".

use super::best_first::{Method, Sighting};
use crate::estimate::Column;
use crate::focus::judge::ON_TOPIC;

/// Share of its parent's relevance that a child inherits.
const DELTA: f32 = 0.5;
/// Weight of inheritance against the neighbourhood.
const GAMMA: f32 = 0.5;
/// Weight of the anchor against its context.
const BETA: f32 = 0.8;

/// A method by the potential score, from 0 to 1.
#[derive(Debug, Clone, Default)]
pub struct Shark {
    inherited: Column<f32>,
}

impl Method for Shark {
    const TERM: &'static str = "shark: inherited and neighbourhood";

    fn value(&mut self, sighting: &Sighting<'_>) -> f32 {
        let inherited = match sighting.relevance >= ON_TOPIC {
            true => DELTA * sighting.relevance,
            false => {
                DELTA
                    * self
                        .inherited
                        .get(sighting.from)
                        .unwrap_or(sighting.relevance)
            }
        };
        if !self.inherited.add(sighting.link.to, inherited)
            && let Some(known) = self.inherited.get_mut(sighting.link.to)
        {
            *known = inherited.max(*known);
        }
        let context = match sighting.anchor >= ON_TOPIC {
            true => 1.0,
            false => sighting.anchor,
        };
        let neighbourhood = BETA * sighting.anchor + (1.0 - BETA) * context;
        GAMMA * inherited + (1.0 - GAMMA) * neighbourhood
    }
}
