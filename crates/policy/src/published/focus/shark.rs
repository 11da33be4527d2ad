//! Shark search: links by their words, the words around them, and inherited relevance.
//!
//! Hersovici et al., "The shark-search algorithm" (WWW 1998). A child inherits δ times the
//! relevance of a parent on the topic. From another parent it inherits δ times what that parent
//! inherited, or, if the parent is a seed, δ times its relevance. The neighbourhood of a link is
//! β · anchor + (1−β) · context. The context is 1 for an anchor on the topic, and otherwise equal
//! to the anchor.
//! Potential = γ · inherited + (1−γ) · neighbourhood, by default with δ = γ = ½ and β = 0.8 as
//! in the paper.
//! The paper's condition "similarity above 0" is here "probability of at least one half".

use super::best_first::{Method, Sighting};
use crate::estimate::Column;
use crate::focus::judge::ON_TOPIC;

/// The weights of the potential score, each from 0 to 1.
#[derive(Debug, Clone, Copy)]
pub struct SharkParameters {
    /// δ: share of its parent's relevance that a child inherits.
    pub delta: f32,
    /// γ: weight of inheritance against the neighbourhood.
    pub gamma: f32,
    /// β: weight of the anchor against its context.
    pub beta: f32,
}

impl Default for SharkParameters {
    /// The values of the paper.
    fn default() -> Self {
        Self {
            delta: 0.5,
            gamma: 0.5,
            beta: 0.8,
        }
    }
}

/// A method by the potential score, from 0 to 1.
#[derive(Debug, Clone, Default)]
pub struct Shark {
    parameters: SharkParameters,
    inherited: Column<f32>,
}

impl Shark {
    /// Creates the method with these weights.
    pub fn new(parameters: SharkParameters) -> Self {
        Self {
            parameters,
            inherited: Column::default(),
        }
    }
}

impl Method for Shark {
    const TERM: &'static str = "shark: inherited and neighbourhood";

    fn value(&mut self, sighting: &Sighting<'_>) -> f32 {
        let SharkParameters { delta, gamma, beta } = self.parameters;
        let inherited = match sighting.relevance >= ON_TOPIC {
            true => delta * sighting.relevance,
            false => {
                delta
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
        let neighbourhood = beta * sighting.anchor + (1.0 - beta) * context;
        gamma * inherited + (1.0 - gamma) * neighbourhood
    }
}
