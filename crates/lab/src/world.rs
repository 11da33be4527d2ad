//! Worlds: webs that policies are judged on, recorded or invented.
//!
//! A recorded world is a directory of tables, which `docs/reference/worlds.md` describes. An
//! invented world is generated from a seed. Experiments use both in the same way.
//!
//! **The wall:** only the runner and the judge of an experiment have access to a world. Policies
//! live in a crate that this one depends on, so they cannot name a world. They learn what was
//! fetched as a [`policy::Fact`].

mod invented;

pub use crate::kinds::{
    Bodies, Body, Clicked, Corpus, Graph, Histories, LabelledWorld, Labels, LinkPeriod, Linked,
    News, Queries, Town, Traffic, Version,
};
pub use invented::{catalog, page_rates};

use std::path::Path;

use testweb::site::Web;

use crate::LabError;
use crate::table::locate;
use invented::invent;

/// Prefix of the names of invented worlds.
const INVENTED: &str = "invented:";

/// The files that a world can have, without the ending of a compressed file.
const TABLES: [&str; 12] = [
    "nodes.tsv",
    "edges.tsv",
    "views.tsv",
    "labels.tsv",
    "bodies.ndjson",
    "pages.tsv",
    "versions.tsv",
    "queries.tsv",
    "sources.tsv",
    "articles.tsv",
    "links.tsv",
    "clicks.tsv",
];

/// A web to run experiments in.
#[derive(Debug)]
pub enum World {
    /// Pages and links.
    Graph(Graph),
    /// Pages, links, texts and labels.
    Topic(LabelledWorld),
    /// Pages, links and views.
    Traffic(Traffic),
    /// Pages and their versions.
    Histories(Histories),
    /// Sources, articles, links and clicks.
    News(News),
    /// Queries and their frequencies.
    Queries(Queries),
    /// Pages with their versions, and queries that search them.
    Corpus(Corpus),
    /// Servers with latencies and their pages: the web that [`site`](testweb::site) serves on
    /// loopback.
    Servers(Box<Web>),
    /// Pages that are born, change and are clicked, with sources and sitemaps.
    Town(Box<Town>),
}

impl World {
    /// Opens a directory, or invents the world of this name with these settings and this seed.
    pub fn open(name: &str, knobs: &[(String, String)], seed: u64) -> Result<Self, LabError> {
        match (name.strip_prefix(INVENTED), knobs.first()) {
            (Some(invented), _) => invent(invented, knobs, seed),
            (None, None) => Self::read(Path::new(name)),
            (None, Some((knob, _))) => Err(LabError::Wish(format!(
                "{knob:?} cannot be set: {name} is recorded, and only invented worlds have settings"
            ))),
        }
    }

    /// Returns whether the world of this name is generated from a seed.
    pub fn is_invented(name: &str) -> bool {
        name.starts_with(INVENTED)
    }

    /// Reads a directory. The tables in it determine the kind of world.
    pub fn read(directory: &Path) -> Result<Self, LabError> {
        let listed = std::fs::read_dir(directory);
        listed.map_err(|source| LabError::Read {
            path: directory.to_owned(),
            source,
        })?;
        let has = |name| locate(directory, name).map(|path| path.is_some());
        Ok(if has("versions.tsv")? {
            let histories = Histories::read(directory)?;
            match has("queries.tsv")? {
                true => Self::Corpus(Corpus {
                    histories,
                    queries: Queries::read(directory)?,
                }),
                false => Self::Histories(histories),
            }
        } else if has("clicks.tsv")? || has("sources.tsv")? {
            Self::News(News::read(directory)?)
        } else if has("edges.tsv")? && (has("labels.tsv")? || has("bodies.ndjson")?) {
            Self::Topic(LabelledWorld::read(directory)?)
        } else if has("edges.tsv")? && has("views.tsv")? {
            Self::Traffic(Traffic::read(directory)?)
        } else if has("edges.tsv")? {
            Self::Graph(Graph::read(directory)?)
        } else if has("queries.tsv")? {
            Self::Queries(Queries::read(directory)?)
        } else {
            return Err(LabError::Wish(format!(
                "{} is not a world: it has none of edges.tsv (a graph), versions.tsv (histories), \
                 clicks.tsv or sources.tsv (news) and queries.tsv (queries), plain, .gz or .zst",
                directory.display()
            )));
        })
    }

    /// Returns the name of the kind of world.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Graph(_) => "graph",
            Self::Topic(_) => "topic",
            Self::Traffic(_) => "traffic",
            Self::Histories(_) => "histories",
            Self::News(_) => "news",
            Self::Queries(_) => "queries",
            Self::Corpus(_) => "corpus",
            Self::Servers(_) => "servers",
            Self::Town(_) => "town",
        }
    }

    /// Converts the world to a web graph with the texts or views of its pages, if it has them.
    ///
    /// # Errors
    /// If the world has no links between pages: histories, news, queries or a corpus.
    pub fn linked(self) -> Result<Linked, LabError> {
        Ok(match self {
            Self::Graph(graph) => graph.into(),
            Self::Topic(topic) => {
                let (graph, bodies) = topic.into_parts();
                Linked::with_texts(graph, bodies)
            }
            Self::Traffic(traffic) => {
                let (graph, views) = traffic.into_parts();
                Linked::with_views(graph, views)
            }
            Self::Servers(web) => Linked::of_invented(&web),
            other => {
                return Err(LabError::Wish(format!(
                    "a world of the kind {:?} is not a web graph: take a graph, topic, traffic \
                     or servers world",
                    other.kind()
                )));
            }
        })
    }

    /// Converts the world to a web graph with texts, and the labels of its pages.
    ///
    /// # Errors
    /// If the world has no texts, or if none of its pages has a label.
    pub fn topical(self) -> Result<(Linked, Labels), LabError> {
        match self {
            Self::Topic(topic) if !topic.labels().names().is_empty() => {
                let labels = topic.labels().clone();
                let (graph, bodies) = topic.into_parts();
                Ok((Linked::with_texts(graph, bodies), labels))
            }
            Self::Topic(_) => Err(LabError::Wish(
                "no page of this world has a label: add labels.tsv (page, label), or take \
                 invented:topics"
                    .to_owned(),
            )),
            other => Err(LabError::Wish(format!(
                "a world of the kind {:?} has no labels: take one with edges.tsv, labels.tsv and \
                 bodies.ndjson, or invented:topics",
                other.kind()
            ))),
        }
    }

    /// Writes the tables into a directory, which is created if necessary and must not hold a
    /// world.
    ///
    /// The written world reads as the same world. A world of servers or a town cannot be written,
    /// since no table holds latencies or hints.
    pub fn write(&self, directory: &Path) -> Result<(), LabError> {
        match self {
            Self::Graph(graph) => graph.write(empty(directory)?, |_, _| true),
            Self::Topic(topic) => topic.write(empty(directory)?),
            Self::Traffic(traffic) => traffic.write(empty(directory)?),
            Self::Histories(histories) => histories.write(empty(directory)?),
            Self::News(news) => news.write(empty(directory)?),
            Self::Queries(queries) => queries.write(empty(directory)?),
            Self::Corpus(corpus) => {
                corpus.histories.write(empty(directory)?)?;
                corpus.queries.write(directory)
            }
            Self::Servers(_) => Err(LabError::Wish(
                "a world of servers cannot be written: no table holds their latencies; its \
                 name, settings and seed give it again"
                    .to_owned(),
            )),
            Self::Town(_) => Err(LabError::Wish(
                "a town cannot be written: no table holds its hints; its name, settings and seed \
                 give it again"
                    .to_owned(),
            )),
        }
    }
}

/// Creates the directory if necessary. Rejects a directory that already holds a world.
fn empty(directory: &Path) -> Result<&Path, LabError> {
    std::fs::create_dir_all(directory).map_err(|source| LabError::Write {
        path: directory.to_owned(),
        source,
    })?;
    for name in TABLES {
        if let Some(path) = locate(directory, name)? {
            let why = format!(
                "{} exists already: write to another directory",
                path.display()
            );
            return Err(LabError::Wish(why));
        }
    }
    Ok(directory)
}

#[cfg(test)]
mod tests;
