//! Reinforcement learning: links by the expected discounted reward of their words.
//!
//! McCallum et al., "Automating the construction of internet portals with machine learning"
//! (2000). Links are valued by [`Rewards`] alone, without the page that has the link and without
//! the rates of the crawl so far.

use super::best_first::{Method, Sighting};
use crate::focus::Topic;
use crate::focus::rewards::Rewards;
use crate::{Discovered, Read};

/// A method by q, the normalized reward.
#[derive(Debug, Clone)]
pub struct Reinforcement(Rewards);

impl Reinforcement {
    /// Creates the method for this topic, with the discount factor γ.
    pub fn new(topic: &Topic, gamma: f32) -> Self {
        Self(Rewards::new(topic, gamma))
    }
}

impl Method for Reinforcement {
    const TERM: &'static str = "discounted reward, (1-gamma) Q";

    fn discover(&mut self, discovered: &Discovered<'_>) {
        self.0.discover(discovered);
    }

    fn learn(&mut self, read: &Read<'_>, relevance: f32) {
        self.0.learn(read, relevance);
    }

    fn value(&mut self, sighting: &Sighting<'_>) -> f32 {
        self.0
            .value(sighting.link.to, sighting.anchor, sighting.link_words)
    }
}
