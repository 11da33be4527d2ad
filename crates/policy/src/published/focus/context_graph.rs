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

/// Minimum ratio of posterior to prior probability of a layer for a page to belong to it.
const LIFT: f32 = 1.5;

/// A method by the queue of a link and its position in it.
#[derive(Debug, Clone)]
pub struct ContextGraph {
    /// A classifier for each layer, from layer 1 on.
    layers: Vec<Bayes>,
    /// Value of the links on the page that is being read.
    worth: f32,
}

impl ContextGraph {
    /// Creates the method with these layers around the topic.
    pub fn new(layers: Vec<Bayes>) -> Self {
        Self { layers, worth: 0.0 }
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
        // reaches `LIFT`.
        let mut best = (LIFT, relevance);
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
