//! Links of pages that are few steps from the topic first.
//!
//! Diligenti et al., "Focused crawling using context graphs" (VLDB 2000): layer 0 is the topic, layer i the pages from which
//! i links lead there; a classifier a layer, learned from back-links. Links of a page of layer i wait in queue i, the
//! best first, and those of pages of no layer in a last one, which the seeds begin in. The first queue that is not
//! empty is next: so worth = (layers − i) + P(layer | page), and below one for the last queue.

use super::best_first::{Method, Sighting};
use crate::focus::bayes::Bayes;
use crate::focus::judge::ON_TOPIC;
use crate::focus::word_counts::Written;
use crate::{Read, Text};

/// A page of a layer is so much likelier one than any page is.
const LIFT: f32 = 1.5;

/// Worth is the queue and the place in it.
#[derive(Debug, Clone)]
pub struct ContextGraph {
    /// A classifier for each layer from the first on.
    layers: Vec<Bayes>,
    /// The worth of links of the page that is being read.
    worth: f32,
}

impl ContextGraph {
    /// With these layers around the topic.
    pub fn new(layers: Vec<Bayes>) -> Self {
        Self { layers, worth: 0.0 }
    }

    /// The queue and the place in it for links of a page.
    fn queue(&self, text: Text<'_>, relevance: f32) -> f32 {
        let count = self.layers.len() as f32;
        if relevance >= ON_TOPIC {
            return count + 1.0 + relevance;
        }
        if !matches!(text, Text::Whole { .. }) {
            return relevance;
        }
        let written = Written::of(text);
        // The layer that is most above its share of all pages; "other" if none is.
        let mut best = (LIFT, relevance);
        for (layer, bayes) in self.layers.iter().enumerate() {
            let probability = bayes.written(&written) as f32;
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
