//! Which methods of focused crawling come with the program?

use std::sync::Arc;

use super::{CatalogError, Order, Wish, Wishes};
use crate::Policy;
use crate::focus::{Bandit, Focus, Focused, Learned, Topic};
use crate::published::focus::{
    Agents, Anchor, BestFirst, ContextGraph, Fish, Hard, Intelligent, Laser, Reinforcement, Shark,
    Soft,
};

/// The methods: ours, then the published baselines.
pub const METHODS: &[Order] = &[
    Order {
        name: "learned",
        summary: "links that look like those which led to the topic",
        scale: "0 to 2.1",
        published: false,
        build: |wishes, _| about(wishes, Learned::new),
        ..METHOD
    },
    Order {
        name: "bandit",
        summary: "links under tags that led to the topic before",
        scale: "0 to 1, and what is not known yet",
        published: false,
        build: |wishes, _| about(wishes, Bandit::new),
        ..METHOD
    },
    Order {
        name: "soft",
        summary: "links of pages on the topic first",
        scale: "0 to 1: P(topic | best parent)",
        build: |wishes, _| about(wishes, |topic| BestFirst::new(topic, Soft)),
        ..METHOD
    },
    Order {
        name: "hard",
        summary: "links of pages on the topic, and no others",
        scale: "nothing, or one half to 1",
        build: |wishes, _| about(wishes, |topic| BestFirst::new(topic, Hard)),
        ..METHOD
    },
    Order {
        name: "anchor",
        summary: "links by anchor, words around it, and URL",
        scale: "0 to 1: P(topic | anchor)",
        build: |wishes, _| about(wishes, |topic| BestFirst::new(topic, Anchor)),
        ..METHOD
    },
    Order {
        name: "context-graph",
        summary: "links of pages few steps from the topic first",
        scale: "0 to 2 + layers of the topic",
        build: |wishes, _| {
            about(wishes, |topic| {
                BestFirst::new(topic, ContextGraph::new(topic.layers.clone()))
            })
        },
        ..METHOD
    },
    Order {
        name: "reinforcement",
        summary: "links whose words led to the topic, or near it",
        scale: "0 to 1",
        build: |wishes, _| {
            about(wishes, |topic| {
                BestFirst::new(topic, Reinforcement::new(topic))
            })
        },
        ..METHOD
    },
    Order {
        name: "laser",
        summary: "pages that relevance flows to along links",
        scale: "0 to 3.3",
        build: |wishes, _| about(wishes, Laser::new),
        ..METHOD
    },
    Order {
        name: "fish",
        summary: "schools that die three links from the topic",
        scale: "0, one half or 1",
        build: |wishes, _| about(wishes, |topic| BestFirst::new(topic, Fish::default())),
        ..METHOD
    },
    Order {
        name: "shark",
        summary: "links by anchor, words around it and ancestors",
        scale: "0 to 1",
        build: |wishes, _| about(wishes, |topic| BestFirst::new(topic, Shark::default())),
        ..METHOD
    },
    Order {
        name: "agents",
        summary: "a population that lives on the topic and dies off it",
        scale: "0 to 1",
        build: |wishes, _| about(wishes, Agents::new),
        ..METHOD
    },
    Order {
        name: "intelligent",
        summary: "links with signs that pages of the topic had",
        scale: "0 to 1",
        build: |wishes, _| about(wishes, Intelligent::new),
        ..METHOD
    },
];

/// What all methods have in common.
const METHOD: Order = Order {
    name: "",
    argument: None,
    summary: "",
    scale: "",
    wish: Some(Wish::Topic),
    published: true,
    build: |wishes, _| about(wishes, |topic| BestFirst::new(topic, Soft)),
};

fn about<F: Focus + 'static>(
    wishes: &Wishes,
    build: impl FnOnce(&Topic) -> F,
) -> Result<Box<dyn Policy>, CatalogError> {
    let Some(topic) = wishes.topic.as_ref().map(Arc::as_ref) else {
        return Err(CatalogError::Missing {
            kind: super::ORDERING,
            name: "focus",
            wish: Wish::Topic,
        });
    };
    Ok(Box::new(Focused(build(topic))))
}
