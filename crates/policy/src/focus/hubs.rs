//! Which pages lead to the topic without being of it?
//!
//! An online classifier like that of the topic itself: its examples are pages that were read, each with the share of
//! promising links that nobody had named before. Where the topic has layers, the first of them, pages of which a link leads to
//! the topic, tells beforehand by anchor and URL what such pages are called.

use super::judge::Judge;
use super::linear::{Linear, log_odds, sigmoid};
use super::rates::{Rate, Rates, rate};
use super::seen::{Known, Parent};
use super::topic::Topic;
use crate::{Discovered, Link, Number};

/// Dense inputs: any page, layer by words, siblings, siblings under the same path, host.
const INPUTS: usize = 5;
/// What we believe before anything was seen.
const BELIEVED: [f32; INPUTS] = [1.0, 0.5, 0.3, 0.3, 0.1];
/// Steps of learning, for inputs and for words.
const STEPS: (f32, f32) = (0.1, 0.3);
/// What a page is expected to give before anything was seen.
const EXPECTED: f32 = 0.1;

/// Foretells what pages lead to.
#[derive(Debug, Clone)]
pub struct Hubs {
    layer: Option<(Judge, f32)>,
    model: Linear<INPUTS>,
    all: Rate,
    hosts: Rates<u32>,
    siblings: Rates<u32>,
    groups: Rates<u64>,
}

impl Hubs {
    /// For this topic.
    pub fn new(topic: &Topic) -> Self {
        let layer = topic.layers.first().map(|bayes| {
            let [off, on] = bayes.learned().examples.map(|count| count as f32);
            let judge = Judge::new(&Topic::taught(&topic.name, bayes.clone()));
            (judge, log_odds(on / (on + off)))
        });
        Self {
            layer,
            model: Linear::new(BELIEVED, STEPS),
            all: Rate::default(),
            hosts: Rates::default(),
            siblings: Rates::default(),
            groups: Rates::default(),
        }
    }

    /// Takes in a page that was heard of.
    pub fn discover(&mut self, discovered: &Discovered<'_>) {
        if let Some((judge, _)) = &mut self.layer {
            judge.discover(discovered);
        }
    }

    /// Takes in a link.
    pub fn follow(&mut self, link: &Link<'_>) {
        if let Some((judge, _)) = &mut self.layer {
            judge.follow(link);
        }
    }

    /// How much a page promises to lead to, from 0 to 1.
    pub fn value(&self, page: Number, pages: &[Known]) -> f32 {
        let (Some(inputs), Some(known)) = (self.inputs(page, pages), pages.get(page.index()))
        else {
            return 0.0;
        };
        sigmoid(self.model.log_odds(&inputs, &known.words))
    }

    /// What is known of a page.
    pub fn inputs(&self, page: Number, pages: &[Known]) -> Option<[f32; INPUTS]> {
        let known = pages.get(page.index())?;
        let base = self.all.towards(EXPECTED, 5.0);
        let from = log_odds(base);
        let over = |rate: f32| log_odds(rate) - from;
        let siblings = |parent: &Parent| over(rate(&self.siblings, &parent.page, base));
        let groups = |parent: &Parent| over(rate(&self.groups, &parent.group(), base));
        let layer = self
            .layer
            .as_ref()
            .map_or(0.0, |(judge, usual)| log_odds(judge.expected(page)) - usual);
        Some([
            from,
            layer,
            known.mean(siblings),
            known.mean(groups),
            over(rate(&self.hosts, &known.host, base)),
        ])
    }

    /// Learns what a page gave of which this was known.
    pub fn learn(
        &mut self,
        page: Number,
        pages: &[Known],
        inputs: Option<[f32; INPUTS]>,
        gain: f32,
    ) {
        let (Some(inputs), Some(known)) = (inputs, pages.get(page.index())) else {
            return;
        };
        self.model.learn(&inputs, &known.words, gain);
        self.all.add(gain);
        self.hosts.entry(known.host).or_default().add(gain);
        for parent in &known.parents {
            self.siblings.entry(parent.page).or_default().add(gain);
            self.groups.entry(parent.group()).or_default().add(gain);
        }
    }
}
