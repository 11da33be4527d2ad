//! The catalog entries for methods of focused crawling.

use std::sync::Arc;

use super::argument::{Allowed, numbers};
use super::expression::ORDERING;
use super::{CatalogError, Order, PolicyArgument, Wish, Wishes};
use crate::Policy;
use crate::focus::guide::GAMMA;
use crate::focus::{Bandit, Focus, Focused, Learned, Topic};
use crate::published::focus::{
    AgentInputs, Agents, Anchor, BestFirst, ContextGraph, Fish, Hard, Intelligent, Laser,
    LaserParameters, Reinforcement, Shark, SharkParameters, Soft,
};

const CONTEXT_GRAPH: PolicyArgument = PolicyArgument::optional(
    "LAYERS, LIFT",
    "the most layers of the topic to use, 1 to 4 (2), and how many times as probable as usual a layer must be for a \
     page to belong to it, 1 to 100 (1.5): context-graph(3, 2)",
    "3, 2",
);
const REINFORCEMENT: PolicyArgument = PolicyArgument::optional(
    "GAMMA",
    "the discount of a reward per link, 0 to 0.99 (0.5): reinforcement(0.8)",
    "0.8",
);
const LASER: PolicyArgument = PolicyArgument::optional(
    "GAMMA, NU",
    "the discount of relevance per link, 0 to 0.95 (0.7), and the exponent of the number of parents, 1 to 10 (1): \
     laser(0.5, 2)",
    "0.5, 2",
);
const FISH: PolicyArgument = PolicyArgument::optional(
    "DEPTH, WIDTH",
    "how many links a path may leave the topic for, 1 to 255 (3), and how many links of a page off the topic count, \
     1 to 10000 (10): fish(2, 5)",
    "2, 5",
);
const SHARK: PolicyArgument = PolicyArgument::optional(
    "DELTA, GAMMA, BETA",
    "the inherited share of relevance (0.5), the weight of inheritance (0.5) and the weight of the anchor against its \
     context (0.8), 0 to 1 each: shark(0.7, 0.4, 0.6)",
    "0.7, 0.4, 0.6",
);
const AGENTS: PolicyArgument = PolicyArgument::optional(
    "words",
    "`words`, for agents that also learn which words of links are good, or nothing: agents(words)",
    "words",
);

/// Accepts a share.
const SHARE: Allowed = |share| (0.0..=1.0).contains(&share);

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
        scale: "0 to 1.1, more if untried; seed 2",
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
        argument: Some(CONTEXT_GRAPH),
        summary: "links of pages that are few links from the topic",
        scale: "0 to 2 plus the topic's layers",
        build: |inputs, argument| {
            let allowed: [Allowed; 2] = [
                |layers| {
                    (1.0..=f64::from(ContextGraph::MOST_LAYERS)).contains(&layers)
                        && layers.fract() == 0.0
                },
                |lift| (1.0..=100.0).contains(&lift),
            ];
            let defaults = [
                f64::from(ContextGraph::LAYERS),
                f64::from(ContextGraph::LIFT),
            ];
            let found = numbers(argument, defaults, allowed);
            let [most, lift] =
                found.ok_or_else(|| CONTEXT_GRAPH.wrong(ORDERING, "context-graph"))?;
            about(inputs, |topic| {
                let layers = topic.layers.iter().take(most as usize).cloned();
                BestFirst::new(topic, ContextGraph::new(layers.collect(), lift as f32))
            })
        },
        ..METHOD
    },
    Order {
        name: "reinforcement",
        argument: Some(REINFORCEMENT),
        summary: "links whose words led to the topic, or near it",
        scale: "0 to 1",
        build: |inputs, argument| {
            let found = numbers(
                argument,
                [f64::from(GAMMA)],
                [|gamma| (0.0..=0.99).contains(&gamma)],
            );
            let [gamma] = found.ok_or_else(|| REINFORCEMENT.wrong(ORDERING, "reinforcement"))?;
            about(inputs, |topic| {
                BestFirst::new(topic, Reinforcement::new(topic, gamma as f32))
            })
        },
        ..METHOD
    },
    Order {
        name: "laser",
        argument: Some(LASER),
        summary: "pages that receive relevance along links",
        scale: "0 to 1/(1 - GAMMA)",
        build: |inputs, argument| {
            let allowed: [Allowed; 2] = [
                |gamma| (0.0..=0.95).contains(&gamma),
                |nu| (1.0..=10.0).contains(&nu),
            ];
            let LaserParameters { gamma, nu } = LaserParameters::default();
            let found = numbers(argument, [gamma, nu].map(f64::from), allowed);
            let found = found.ok_or_else(|| LASER.wrong(ORDERING, "laser"))?;
            let [gamma, nu] = found.map(|number| number as f32);
            about(inputs, |topic| {
                Laser::new(topic, LaserParameters { gamma, nu })
            })
        },
        ..METHOD
    },
    Order {
        name: "fish",
        argument: Some(FISH),
        summary: "links up to DEPTH links away from the topic",
        scale: "0, 0.5 or 1",
        build: |inputs, argument| {
            let allowed: [Allowed; 2] = [
                |depth| (1.0..=255.0).contains(&depth) && depth.fract() == 0.0,
                |width| (1.0..=10_000.0).contains(&width) && width.fract() == 0.0,
            ];
            let defaults = [f64::from(Fish::DEPTH), f64::from(Fish::WIDTH)];
            let found = numbers(argument, defaults, allowed);
            let [depth, width] = found.ok_or_else(|| FISH.wrong(ORDERING, "fish"))?;
            about(inputs, |topic| {
                BestFirst::new(topic, Fish::new(depth as u8, width as u32))
            })
        },
        ..METHOD
    },
    Order {
        name: "shark",
        argument: Some(SHARK),
        summary: "by anchor text, surrounding words and ancestors",
        scale: "0 to 1",
        build: |inputs, argument| {
            let SharkParameters { delta, gamma, beta } = SharkParameters::default();
            let found = numbers(argument, [delta, gamma, beta].map(f64::from), [SHARE; 3]);
            let found = found.ok_or_else(|| SHARK.wrong(ORDERING, "shark"))?;
            let [delta, gamma, beta] = found.map(|number| number as f32);
            let parameters = SharkParameters { delta, gamma, beta };
            about(inputs, |topic| {
                BestFirst::new(topic, Shark::new(parameters))
            })
        },
        ..METHOD
    },
    Order {
        name: "agents",
        argument: Some(AGENTS),
        summary: "agents that multiply on topic pages, else die",
        scale: "0 to 1",
        build: |inputs, argument| match argument {
            None => about(inputs, |topic| Agents::new(topic, AgentInputs::Net)),
            Some("words") => about(inputs, |topic| Agents::new(topic, AgentInputs::NetAndWords)),
            Some(_) => Err(AGENTS.wrong(ORDERING, "agents")),
        },
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
