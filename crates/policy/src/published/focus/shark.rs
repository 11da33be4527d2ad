//! Links by their own words, those around them, and what their ancestors were about.
//!
//! Hersovici et al., "The shark-search algorithm" (WWW 1998): a child inherits δ times the relevance of a page on the topic,
//! or δ times what its parent inherited. Its neighbourhood is β · anchor + (1−β) · context, where the context of an
//! anchor on the topic is 1. Potential = γ · inherited + (1−γ) · neighbourhood; δ = γ = ½, β = .8 as in the paper.
//! Similarity above 0 is there what probability of one half or more is here.

use super::best_first::{Method, Sighting};
use crate::estimate::Column;
use crate::focus::judge::ON_TOPIC;

/// How much of a relevance a child inherits.
const DELTA: f32 = 0.5;
/// What inheritance weighs against the neighbourhood.
const GAMMA: f32 = 0.5;
/// What the anchor weighs against its context.
const BETA: f32 = 0.8;

/// Worth is the potential score, from 0 to 1.
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
