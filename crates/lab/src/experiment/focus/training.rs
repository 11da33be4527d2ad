//! Training of the topic model that a focused crawler starts with.
//!
//! The classifier is trained on titles, texts and URLs of the training pages and on the anchor
//! texts of links between them. Context graphs also get classifiers for pages from which a topic
//! page is one or two links away. Methods that learn where links lead get a link classifier
//! ([`Guide`]) that is trained on the same pages and links.
//!
//! **Invariant:** training uses no target page, and no link of a page outside the training set.

use std::collections::HashMap;

use policy::focus::{Bayes, CrawledGraph, Guide, Pointer, Topic, Trainer, TrainingDocument};

use super::split::{TopicSplit, has};
use crate::LabError;
use crate::world::{Labels, Linked};

/// Number of layers of a context graph besides the topic itself, as many as a policy can use.
const LAYERS: u8 = 4;

pub(super) fn learn(
    world: &Linked,
    labels: &Labels,
    target: &str,
    split: &TopicSplit,
) -> Result<Topic, LabError> {
    if !world.has_texts() {
        let wrong = "this world has no texts to learn from";
        return Err(LabError::Wish(wrong.into()));
    }
    let training_set = TrainingSet {
        world,
        anchors: anchors(world, split),
        split,
    };
    let is_target = |page: usize| has(labels, page, target);
    let bayes = training_set.train_on(is_target);
    let bayes = bayes.map_err(|error| LabError::Wish(format!("{target:?}: {error}")))?;
    let mut topic = Topic::taught(target, bayes);
    let distances = distances(world, split, is_target);
    for layer in 1..=LAYERS {
        // The context graph ends before the first layer with too few pages.
        let Ok(bayes) = training_set.train_on(|page| distances[page] == Some(layer)) else {
            break;
        };
        topic.layers.push(bayes);
    }
    topic.guide = guide(world, split, is_target);
    Ok(topic)
}

/// Trains the link classifier on the links between training pages.
fn guide(world: &Linked, split: &TopicSplit, on: impl Fn(usize) -> bool) -> Option<Guide> {
    let graph = world.graph();
    let mut crawled = CrawledGraph::default();
    let training = (0..graph.pages()).filter(|page| split.training[*page]);
    let places: HashMap<usize, usize> = training
        .clone()
        .map(|page| (page, crawled.page(f32::from(u8::from(on(page))))))
        .collect();
    for from in training {
        for (nth, &to) in graph.links(from).iter().enumerate() {
            if let Some(&place) = places.get(&(to as usize)) {
                let pointer = Pointer {
                    url: graph.url(to as usize).as_str(),
                    anchor: world.anchor(from, nth),
                    around: world.place(from, nth).0,
                };
                crawled.link(places[&from], place, &pointer);
            }
        }
    }
    crawled.learn()
}

struct TrainingSet<'a> {
    world: &'a Linked,
    /// Anchor texts of the links to each page.
    anchors: Vec<String>,
    split: &'a TopicSplit,
}

impl TrainingSet<'_> {
    fn train_on(&self, on: impl Fn(usize) -> bool) -> Result<Bayes, policy::focus::TooFew> {
        let mut trainer = Trainer::default();
        for page in (0..self.anchors.len()).filter(|page| self.split.training[*page]) {
            let (title, text) = self.world.text(page).unwrap_or_default();
            let document = TrainingDocument {
                url: self.world.graph().url(page).as_str(),
                title,
                text,
                anchors: &self.anchors[page],
            };
            trainer.add(&document, on(page));
        }
        trainer.train().map(|trained| trained.bayes)
    }
}

/// Returns the anchor texts of links between training pages, joined for each page that is linked
/// to.
fn anchors(world: &Linked, split: &TopicSplit) -> Vec<String> {
    let graph = world.graph();
    let mut anchors = vec![String::new(); graph.pages()];
    for from in (0..graph.pages()).filter(|page| split.training[*page]) {
        for (nth, &to) in graph.links(from).iter().enumerate() {
            let words = world.anchor(from, nth);
            if split.training[to as usize] && !words.is_empty() {
                let known = &mut anchors[to as usize];
                known.push(' ');
                known.push_str(words);
            }
        }
    }
    anchors
}

/// Returns the number of links on the shortest path from each training page, over training pages,
/// to a topic page; `None` if it is more than [`LAYERS`].
fn distances(world: &Linked, split: &TopicSplit, on: impl Fn(usize) -> bool) -> Vec<Option<u8>> {
    let graph = world.graph();
    let training = |page: usize| split.training[page];
    let mut distances: Vec<Option<u8>> = (0..graph.pages())
        .map(|page| (training(page) && on(page)).then_some(0))
        .collect();
    for layer in 1..=LAYERS {
        for from in (0..graph.pages()).filter(|page| training(*page)) {
            let mut targets = graph.links(from).iter();
            let nearer = |to: &u32| distances[*to as usize] == Some(layer - 1);
            if distances[from].is_none() && targets.any(nearer) {
                distances[from] = Some(layer);
            }
        }
    }
    distances
}
