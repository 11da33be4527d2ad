//! The catalog entries for methods of focused crawling.

use std::sync::Arc;

use super::{CatalogError, Order, Wish, Wishes};
use crate::Policy;
use crate::focus::{Bandit, Focus, Focused, Learned, Topic};
use crate::published::focus::{
    Agents, Anchor, BestFirst, ContextGraph, Fish, Hard, Intelligent, Laser, Reinforcement, Shark,
    Soft,
};

/// Our methods, then the published baselines.
pub const METHODS: &[Order] = &[
    Order {
        name: "learned",
        summary: "links that resemble links which led to the topic",
        scale: "0 to 2.1; 3 for a seed",
        published: false,
        build: |inputs, _| about(inputs, Learned::new),
        ..METHOD
    },
    Order {
        name: "bandit",
        summary: "links under tag paths that led to the topic",
        scale: "0 to 1.1, more if untried; 2 for a seed",
        published: false,
        build: |inputs, _| about(inputs, Bandit::new),
        ..METHOD
    },
    Order {
        name: "soft",
        summary: "links of on-topic pages first",
        scale: "0 to 1: P(topic | best parent)",
        build: |inputs, _| about(inputs, |topic| BestFirst::new(topic, Soft)),
        ..METHOD
    },
    Order {
        name: "hard",
        summary: "only links of on-topic pages",
        scale: "0, or 0.5 to 1",
        build: |inputs, _| about(inputs, |topic| BestFirst::new(topic, Hard)),
        ..METHOD
    },
    Order {
        name: "anchor",
        summary: "by anchor text, surrounding words and URL",
        scale: "0 to 1: P(topic | anchor)",
        build: |inputs, _| about(inputs, |topic| BestFirst::new(topic, Anchor)),
        ..METHOD
    },
    Order {
        name: "context-graph",
        summary: "links of pages that are few links from the topic",
        scale: "0 to 2 plus the topic's layers",
        build: |inputs, _| {
            about(inputs, |topic| {
                BestFirst::new(topic, ContextGraph::new(topic.layers.clone()))
            })
        },
        ..METHOD
    },
    Order {
        name: "reinforcement",
        summary: "links whose words led to the topic, or near it",
        scale: "0 to 1",
        build: |inputs, _| {
            about(inputs, |topic| {
                BestFirst::new(topic, Reinforcement::new(topic))
            })
        },
        ..METHOD
    },
    Order {
        name: "laser",
        summary: "pages that receive relevance along links",
        scale: "0 to 3.3",
        build: |inputs, _| about(inputs, Laser::new),
        ..METHOD
    },
    Order {
        name: "fish",
        summary: "links up to three links away from the topic",
        scale: "0, 0.5 or 1",
        build: |inputs, _| about(inputs, |topic| BestFirst::new(topic, Fish::default())),
        ..METHOD
    },
    Order {
        name: "shark",
        summary: "by anchor text, surrounding words and ancestors",
        scale: "0 to 1",
        build: |inputs, _| about(inputs, |topic| BestFirst::new(topic, Shark::default())),
        ..METHOD
    },
    Order {
        name: "agents",
        summary: "agents that multiply on topic pages, else die",
        scale: "0 to 1",
        build: |inputs, _| about(inputs, Agents::new),
        ..METHOD
    },
    Order {
        name: "intelligent",
        summary: "links with features that on-topic pages had",
        scale: "0 to 1; 2 for a seed",
        build: |inputs, _| about(inputs, Intelligent::new),
        ..METHOD
    },
];

/// The fields that all methods share.
const METHOD: Order = Order {
    name: "",
    argument: None,
    summary: "",
    scale: "",
    wish: Some(Wish::Topic),
    published: true,
    build: |inputs, _| about(inputs, |topic| BestFirst::new(topic, Soft)),
};

fn about<F: Focus + 'static>(
    inputs: &Wishes,
    build: impl FnOnce(&Topic) -> F,
) -> Result<Box<dyn Policy>, CatalogError> {
    let Some(topic) = inputs.topic.as_ref().map(Arc::as_ref) else {
        return Err(CatalogError::Missing {
            kind: super::ORDERING,
            name: "focus",
            wish: Wish::Topic,
        });
    };
    Ok(Box::new(Focused::new(build(topic))))
}
