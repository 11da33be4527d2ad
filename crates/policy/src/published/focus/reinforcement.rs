//! Links whose words promise a reward, at once or later.
//!
//! McCallum et al., "Automating the construction of internet portals with machine learning" (2000): links
//! by [`Rewards`] alone, whatever page has the link and whatever the crawl found so far.

use super::best_first::{Method, Sighting};
use crate::focus::Topic;
use crate::focus::rewards::Rewards;
use crate::{Discovered, Read};

/// Worth is q.
#[derive(Debug, Clone)]
pub struct Reinforcement(Rewards);

impl Reinforcement {
    /// For this topic, and with what was learned of it.
    pub fn new(topic: &Topic) -> Self {
        Self(Rewards::new(topic))
    }
}

impl Method for Reinforcement {
    const TERM: &'static str = "discounted reward, (1-gamma) Q";

    fn hear(&mut self, discovered: &Discovered<'_>) {
        self.0.hear(discovered);
    }

    fn learn(&mut self, read: &Read<'_>, relevance: f32) {
        self.0.learn(read, relevance);
    }

    fn value(&mut self, sighting: &Sighting<'_>) -> f32 {
        self.0
            .value(sighting.link.to, sighting.anchor, sighting.spoken)
    }
}
