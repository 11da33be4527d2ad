//! What following a link is worth in all: the page behind it, and what can be reached from there.
//!
//! McCallum et al., "Automating the construction of internet portals with machine learning" (2000): the
//! value Q of following a link is the relevance of the page behind it and, discounted, the best that can
//! be reached from there. Q is a function of the words of the link and those around it alone. It is
//! learned from crawls that ended ([`Guide`]), and from every page that is read:
//! Q(link to u) ← r(u) + γ max Q(links of u). Kept as q = (1−γ)·Q, from 0 to 1. What the topic's
//! classifier says of these words and of the URL is one more input, ours; where no crawl has ended yet
//! the model begins with it alone.

use super::guide::{GAMMA, Guide};
use super::linear::{Linear, log_odds, sigmoid};
use super::seen::{named, near};
use super::signpost::Signpost;
use super::topic::Topic;
use super::word_counts::Spoken;
use crate::{Discovered, Number, Read};

/// Dense inputs: any link, its words by the topic, its words by crawls that ended.
const INPUTS: usize = 3;
/// What we believe before anything was seen.
const BELIEVED: [f32; INPUTS] = [-1.0, 0.4, 1.0];
/// Steps of learning, for inputs and for words.
const STEPS: (f32, f32) = (0.1, 0.3);

/// A model of q that learns as the crawl goes on.
#[derive(Debug, Clone)]
pub struct Rewards {
    taught: Option<Signpost>,
    model: Linear<INPUTS>,
    /// The words of each page's URL.
    named: Vec<Vec<u32>>,
    /// The link that each page was first seen behind.
    seen: Vec<Option<Seen>>,
    /// A page whose links are not all seen yet: itself, its reward, and the best q of its links so far.
    reading: Option<(usize, f32, f32)>,
}

#[derive(Debug, Clone)]
struct Seen {
    inputs: [f32; INPUTS],
    words: Vec<u32>,
}

impl Rewards {
    /// For this topic, and with what was learned of it.
    pub fn new(topic: &Topic) -> Self {
        let reward = |guide: &Guide| guide.reward.clone();
        Self {
            taught: topic.guide.as_ref().map(reward),
            model: Linear::new(BELIEVED, STEPS),
            named: Vec::new(),
            seen: Vec::new(),
            reading: None,
        }
    }

    /// Learns what the page whose links were seen last was worth. Links that are seen now are of no page that it is to learn of.
    pub fn conclude(&mut self) {
        let Some((page, reward, best)) = self.reading.take() else {
            return;
        };
        if let Some(Some(seen)) = self.seen.get(page) {
            let truth = (1.0 - GAMMA) * reward + GAMMA * best;
            self.model.learn(&seen.inputs, &seen.words, truth);
        }
    }

    /// Takes in a page that was discovered, before any link to it.
    pub fn hear(&mut self, discovered: &Discovered<'_>) {
        let index = discovered.page.index();
        if self.named.len() <= index {
            self.named.resize_with(index + 1, Vec::new);
            self.seen.resize_with(index + 1, || None);
        }
        self.named[index] = named(discovered.url);
    }

    /// Takes in a page that was read, before its links.
    pub fn learn(&mut self, read: &Read<'_>, relevance: f32) {
        self.conclude();
        self.reading = Some((read.page.index(), relevance, 0.0));
    }

    /// Returns q of a link to this page. `anchor` is how likely that page is of the topic, by the words
    /// of the link.
    pub fn value(&mut self, to: Number, anchor: f32, spoken: &Spoken) -> f32 {
        let index = to.index();
        let url = self.named.get(index).map_or(&[][..], Vec::as_slice);
        let words = near(spoken, url);
        let taught = self.taught.as_ref().map_or(0.0, |post| post.over(&words));
        let inputs = [1.0, log_odds(anchor), taught];
        let value = sigmoid(self.model.log_odds(&inputs, &words));
        if let Some((_, _, best)) = &mut self.reading {
            *best = best.max(value);
        }
        if let Some(seen) = self.seen.get_mut(index) {
            seen.get_or_insert(Seen { inputs, words });
        }
        value
    }
}
