//! Online estimate of the discounted reward of following a link.
//!
//! McCallum et al., "Automating the construction of internet portals with machine learning"
//! (2000): the value Q of following a link is the relevance of the page behind it plus,
//! discounted, the best value that can be reached from there. Q depends only on the words of the
//! link and the words around it. The model is learned from completed crawls ([`Guide`]) and from
//! every page that is read: Q(link to u) ← r(u) + γ max Q(links of u). The model predicts
//! q = (1−γ)·Q, which lies in 0..1.
//!
//! Completed crawls were valued with the discount of [`Guide`], whatever the discount of the crawl.
//! Their prediction is only one input, whose weight is learned.
//!
//! We add one input to those of the paper: the classifier's probability for the words of the link
//! and its URL. Without a completed crawl, the model starts from this input alone.

use super::guide::Guide;
use super::link_model::LinkModel;
use super::logistic::{LogisticModel, log_odds, sigmoid};
use super::topic::Topic;
use super::unread::{url_features, word_features};
use super::word_counts::LinkWords;
use crate::{Discovered, Number, Read};

/// Dense inputs: the bias, the classifier's log odds, and the log odds from completed crawls.
const INPUTS: usize = 3;
/// Initial weights of the dense inputs.
const INITIAL: [f32; INPUTS] = [-1.0, 0.4, 1.0];
/// AdaGrad learning rates, for dense inputs and for words.
const STEPS: (f32, f32) = (0.1, 0.3);

/// An online model of q.
#[derive(Debug, Clone)]
pub struct Rewards {
    /// Discount factor γ of a reward, per link; at least 0 and below 1.
    gamma: f32,
    completed: Option<LinkModel>,
    model: LogisticModel<INPUTS>,
    /// Hashed words of each page's URL.
    url_words: Vec<Vec<u32>>,
    /// The first link seen to each page, as model inputs.
    first_links: Vec<Option<FirstLink>>,
    /// The page whose links are being valued: its index, its reward, and the best q of its links
    /// so far.
    reading: Option<(usize, f32, f32)>,
}

#[derive(Debug, Clone)]
struct FirstLink {
    inputs: [f32; INPUTS],
    words: Vec<u32>,
}

impl Rewards {
    /// Creates a model for this topic, with the discount factor γ. The model from completed crawls
    /// is one of its inputs, if the topic has one.
    pub fn new(topic: &Topic, gamma: f32) -> Self {
        let reward = |guide: &Guide| guide.reward.clone();
        Self {
            gamma,
            completed: topic.guide.as_ref().map(reward),
            model: LogisticModel::new(INITIAL, STEPS),
            url_words: Vec::new(),
            first_links: Vec::new(),
            reading: None,
        }
    }

    /// Trains the model on the last page that was read.
    ///
    /// Links that are valued afterwards belong to no training example until the next
    /// [`learn`](Self::learn).
    pub fn conclude(&mut self) {
        let Some((page, reward, best)) = self.reading.take() else {
            return;
        };
        if let Some(Some(seen)) = self.first_links.get(page) {
            let truth = (1.0 - self.gamma) * reward + self.gamma * best;
            self.model.learn(&seen.inputs, &seen.words, truth);
        }
    }

    /// Registers a discovered page. Must be called before any link to it is valued.
    pub fn discover(&mut self, discovered: &Discovered<'_>) {
        let index = discovered.page.index();
        if self.url_words.len() <= index {
            self.url_words.resize_with(index + 1, Vec::new);
            self.first_links.resize_with(index + 1, || None);
        }
        self.url_words[index] = url_features(discovered.url);
    }

    /// Starts a training example for a page that was read. Must be called before its links are
    /// valued.
    pub fn learn(&mut self, read: &Read<'_>, relevance: f32) {
        self.conclude();
        self.reading = Some((read.page.index(), relevance, 0.0));
    }

    /// Returns q of a link to this page.
    ///
    /// `anchor` is the probability that the page is of the topic, by the words of the link.
    pub fn value(&mut self, to: Number, anchor: f32, link_words: &LinkWords) -> f32 {
        let index = to.index();
        let url = self.url_words.get(index).map_or(&[][..], Vec::as_slice);
        let words = word_features(link_words, url);
        let completed = self
            .completed
            .as_ref()
            .map_or(0.0, |post| post.over(&words));
        let inputs = [1.0, log_odds(anchor), completed];
        let value = sigmoid(self.model.log_odds(&inputs, &words));
        if let Some((_, _, best)) = &mut self.reading {
            *best = best.max(value);
        }
        if let Some(seen) = self.first_links.get_mut(index) {
            seen.get_or_insert(FirstLink { inputs, words });
        }
        value
    }
}
