//! Context graphs: links on pages that are few links from the topic come first.
//!
//! Diligenti et al., "Focused crawling using context graphs" (VLDB 2000). Layer 0 is the topic;
//! layer i holds the pages that are i links from it. Each layer has a classifier, trained on
//! back-links. Links on a page of layer i wait in queue i, the best first. Links on pages of no
//! layer, and the seeds, wait in a last queue. The first queue that is not empty is served. So
//! worth = (layers − i) + 1 + P(layer | page), and at most 1 for the last queue.

use super::best_first::{Method, Sighting};
use crate::focus::bayes::Bayes;
use crate::focus::judge::ON_TOPIC;
use crate::focus::word_counts::PageWords;
use crate::{Read, Text};

/// A method by the queue of a link and its position in it.
#[derive(Debug, Clone)]
pub struct ContextGraph {
    /// A classifier for each layer, from layer 1 on.
    layers: Vec<Bayes>,
    /// Minimum ratio of posterior to prior probability of a layer for a page to belong to it.
    least_lift: f32,
    /// Value of the links on the page that is being read.
    worth: f32,
}

impl ContextGraph {
    /// Default of the maximum number of layers.
    pub const LAYERS: u8 = 2;
    /// Largest number of layers that can be used.
    pub const MOST_LAYERS: u8 = 4;
    /// Default of the minimum lift.
    pub const LIFT: f32 = 1.5;

    /// Creates the method with these layers around the topic. A page belongs to a layer only if
    /// that is at least `least_lift` times as probable as for any page.
    pub fn new(layers: Vec<Bayes>, least_lift: f32) -> Self {
        Self {
            layers,
            least_lift,
            worth: 0.0,
        }
    }

    /// Returns the value of all links on a page.
    fn queue(&self, text: Text<'_>, relevance: f32) -> f32 {
        let count = self.layers.len() as f32;
        if relevance >= ON_TOPIC {
            return count + 1.0 + relevance;
        }
        if !matches!(text, Text::Whole { .. }) {
            return relevance;
        }
        let page_words = PageWords::of(text);
        // Picks the layer with the highest lift over its prior, or the last queue if no lift
        // reaches the minimum.
        let mut best = (self.least_lift, relevance);
        for (layer, bayes) in self.layers.iter().enumerate() {
            let probability = bayes.judge_words(&page_words) as f32;
            let [off, on] = bayes.learned().examples.map(|count| count as f32);
            let lift = probability * (on + off) / on.max(1.0);
            if lift >= best.0 {
                best = (lift, count - layer as f32 + probability);
            }
        }
        best.1
    }
}

impl Method for ContextGraph {
    const TERM: &'static str = "queue of the layer + P(layer | parent)";

    fn learn(&mut self, read: &Read<'_>, relevance: f32) {
        self.worth = self.queue(read.text, relevance);
    }

    fn value(&mut self, _sighting: &Sighting<'_>) -> f32 {
        self.worth
    }
}
