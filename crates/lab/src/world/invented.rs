//! The worlds that can be invented, by name, with their settings and generators.

use std::fmt::Write;

use super::World;
use crate::LabError;
use crate::invent::{Knob, Tuned, corpus, graph, pages, servers, sources, topics, town, tuned};

/// A kind of world that can be invented.
struct WorldKind {
    name: &'static str,
    about: &'static str,
    knobs: &'static [Knob],
    invent: Invent,
}

/// Creates a world from the user's settings and a seed.
type Invent = fn(&[(String, String)], u64) -> Result<World, LabError>;

const KINDS: &[WorldKind] = &[
    WorldKind {
        name: "graph",
        about: "hosts, pages and links with power laws",
        knobs: graph::GraphPlan::KNOBS,
        invent: |wishes, seed| {
            let plan: graph::GraphPlan = tuned("graph", wishes)?;
            Ok(World::Graph(plan.invent(seed)))
        },
    },
    WorldKind {
        name: "servers",
        about: "servers with latencies, and their pages",
        knobs: servers::ServersPlan::KNOBS,
        invent: |wishes, seed| {
            let plan: servers::ServersPlan = tuned("servers", wishes)?;
            Ok(World::Servers(Box::new(plan.invent(seed)?)))
        },
    },
    WorldKind {
        name: "pages",
        about: "pages that change, are born and die, without texts",
        knobs: pages::PagesPlan::KNOBS,
        invent: |wishes, seed| {
            let plan: pages::PagesPlan = tuned("pages", wishes)?;
            Ok(World::Histories(plan.invent(seed)?))
        },
    },
    WorldKind {
        name: "sources",
        about: "sources that publish articles, which are clicked for some days",
        knobs: sources::SourcesPlan::KNOBS,
        invent: |wishes, seed| {
            let plan: sources::SourcesPlan = tuned("sources", wishes)?;
            Ok(World::News(plan.invent(seed)))
        },
    },
    WorldKind {
        name: "corpus",
        about: "texts that change, and the queries that are asked of them",
        knobs: corpus::CorpusPlan::KNOBS,
        invent: |wishes, seed| {
            let plan: corpus::CorpusPlan = tuned("corpus", wishes)?;
            Ok(World::Corpus(plan.invent(seed)))
        },
    },
    WorldKind {
        name: "topics",
        about: "pages on topics, which link to their own topic more than to others",
        knobs: topics::TopicsPlan::KNOBS,
        invent: |wishes, seed| {
            let plan: topics::TopicsPlan = tuned("topics", wishes)?;
            Ok(World::Topic(plan.invent(seed)))
        },
    },
    WorldKind {
        name: "town",
        about: "pages that are born, change and are clicked, with sources and sitemaps",
        knobs: town::TownPlan::KNOBS,
        invent: |wishes, seed| {
            let plan: town::TownPlan = tuned("town", wishes)?;
            Ok(World::Town(Box::new(plan.invent(seed)?)))
        },
    },
];

/// Invents the world of this name, without the prefix `invented:`.
pub fn invent(name: &str, knobs: &[(String, String)], seed: u64) -> Result<World, LabError> {
    match KINDS.iter().find(|kind| kind.name == name) {
        Some(kind) => (kind.invent)(knobs, seed),
        None => Err(LabError::Wish(format!(
            "there is no invented world {name:?}; there are {}",
            names().collect::<Vec<_>>().join(", ")
        ))),
    }
}

/// Returns the true change rate of each page of `invented:pages`, in changes per day, with these
/// settings and this seed.
pub fn page_rates(knobs: &[(String, String)], seed: u64) -> Result<Vec<f64>, LabError> {
    let plan: pages::PagesPlan = tuned("pages", knobs)?;
    Ok(plan.rates(seed))
}

/// Returns the names of the worlds that can be invented.
pub fn names() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|kind| kind.name)
}

/// Lists every world that can be invented with its settings, for the help.
pub fn catalog() -> String {
    let mut text = String::new();
    for kind in KINDS {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "invented:{}  {}", kind.name, kind.about);
        for knob in kind.knobs {
            let set = format!("{}={}", knob.name, knob.default);
            let _ = writeln!(
                text,
                "  {set:26} {} [{} to {}]",
                knob.meaning, knob.least, knob.most
            );
        }
    }
    text
}

#[cfg(test)]
mod tests;
