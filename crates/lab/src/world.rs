//! Worlds: webs that policies are judged on, recorded or invented.
//!
//! A recorded world is a directory of tables, which `docs/reference/worlds.md` describes.
//! `files:DIR` is the history of the files of any directory. An invented world is generated from a
//! seed. Experiments use both in the same way.
//!
//! **The wall:** only the runner and the judge of an experiment have access to a world. Policies
//! live in a crate that this one depends on, so they cannot name a world. They learn what was
//! fetched as a [`policy::Fact`].

mod invented;

pub use crate::kinds::{
    Bodies, Body, BodyWriter, Clicked, Corpus, Graph, Histories, LabelledWorld, Labels, LinkPeriod,
    Linked, News, Queries, Town, Traffic, Version,
};
pub use invented::{catalog, page_rates};

use std::path::Path;

use testweb::site::Web;

use crate::LabError;
use crate::kinds::files;
use crate::table::locate;
use invented::invent;

/// Prefix of the name of a world that is made of the times of the files of a directory.
const FILES: &str = "files:";

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

/// A part of a recorded world, which some experiments need. A directory can have several parts; the
/// world of a store has all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorldPart {
    /// Pages and their versions, with queries if there are any.
    Histories,
    /// Sources, articles, links and clicks.
    Sources,
    /// Pages and their links.
    Links,
}

impl World {
    /// Opens a directory, or invents the world of this name with these settings and this seed.
    ///
    /// Of a directory with several parts, the first one is read, in the order of [`WorldPart`].
    pub fn open(name: &str, knobs: &[(String, String)], seed: u64) -> Result<Self, LabError> {
        match Self::directory(name, knobs)? {
            Some(directory) => match Self::of_files(name)? {
                Some(files) => Ok(files),
                None => Self::read(directory),
            },
            None => invent(name.trim_start_matches(INVENTED), knobs, seed),
        }
    }

    /// Like [`World::open`], but reads this part of a directory if the directory has it.
    pub fn open_part(
        name: &str,
        knobs: &[(String, String)],
        seed: u64,
        part: WorldPart,
    ) -> Result<Self, LabError> {
        match Self::directory(name, knobs)? {
            Some(directory) if !name.starts_with(FILES) && parts(directory)?.contains(&part) => {
                Self::read_part(directory, part)
            }
            _ => Self::open(name, knobs, seed),
        }
    }

    /// Like [`World::open`], but reads all parts of a directory.
    pub fn open_all(
        name: &str,
        knobs: &[(String, String)],
        seed: u64,
    ) -> Result<Vec<Self>, LabError> {
        let directory = Self::directory(name, knobs)?;
        let recorded = directory.filter(|_| !name.starts_with(FILES));
        let parts = recorded.map_or(Ok(Vec::new()), parts)?;
        match (directory, parts.is_empty()) {
            (Some(directory), false) => {
                let parts = parts.into_iter();
                parts.map(|part| Self::read_part(directory, part)).collect()
            }
            _ => Ok(vec![Self::open(name, knobs, seed)?]),
        }
    }

    /// Returns the directory of a recorded world; `None` if the world is invented.
    fn directory<'n>(
        name: &'n str,
        knobs: &[(String, String)],
    ) -> Result<Option<&'n Path>, LabError> {
        match knobs.first() {
            _ if Self::is_invented(name) => Ok(None),
            None => Ok(Some(Path::new(name))),
            Some((knob, _)) => Err(LabError::Wish(format!(
                "{knob:?} cannot be set: {name} is recorded, and only invented worlds have settings"
            ))),
        }
    }

    /// Returns the world `files:DIR`; `None` for any other name.
    fn of_files(name: &str) -> Result<Option<Self>, LabError> {
        let root = name.strip_prefix(FILES);
        let histories = root.map(|root| files::read(Path::new(root))).transpose()?;
        Ok(histories.map(Self::Histories))
    }

    /// Returns whether the world of this name is generated from a seed.
    pub fn is_invented(name: &str) -> bool {
        name.starts_with(INVENTED)
    }

    /// Reads a directory. The tables in it determine the kind of world.
    pub fn read(directory: &Path) -> Result<Self, LabError> {
        if let Some(part) = parts(directory)?.first() {
            return Self::read_part(directory, *part);
        }
        if locate(directory, "queries.tsv")?.is_some() {
            return Ok(Self::Queries(Queries::read(directory)?));
        }
        Err(LabError::Wish(format!(
            "{} is not a world: it has none of edges.tsv (a graph), versions.tsv (histories), \
             clicks.tsv or sources.tsv (news) and queries.tsv (queries), plain, .gz or .zst",
            directory.display()
        )))
    }

    /// Reads a part that the directory has.
    fn read_part(directory: &Path, part: WorldPart) -> Result<Self, LabError> {
        let has = |name| locate(directory, name).map(|path| path.is_some());
        Ok(match part {
            WorldPart::Histories if has("queries.tsv")? => Self::Corpus(Corpus {
                histories: Histories::read(directory)?,
                queries: Queries::read(directory)?,
            }),
            WorldPart::Histories => Self::Histories(Histories::read(directory)?),
            WorldPart::Sources => Self::News(News::read(directory)?),
            // The bodies are those of the versions, if there are versions.
            WorldPart::Links
                if has("labels.tsv")? || has("bodies.ndjson")? && !has("versions.tsv")? =>
            {
                Self::Topic(LabelledWorld::read(directory)?)
            }
            WorldPart::Links if has("views.tsv")? => Self::Traffic(Traffic::read(directory)?),
            WorldPart::Links => Self::Graph(Graph::read(directory)?),
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

    /// Writes the tables of all `parts` into a directory, which is created if necessary and must
    /// not hold a world.
    ///
    /// The written world reads as the same world. A world of servers or a town cannot be written,
    /// since no table holds latencies or hints.
    pub fn write_all(parts: &[Self], directory: &Path) -> Result<(), LabError> {
        parts.iter().try_for_each(Self::refuse_to_write)?;
        empty(directory)?;
        parts
            .iter()
            .try_for_each(|part| part.write_tables(directory))
    }

    /// Writes a world of one part.
    pub fn write(&self, directory: &Path) -> Result<(), LabError> {
        Self::write_all(std::slice::from_ref(self), directory)
    }

    /// Fails if no tables can hold the world.
    fn refuse_to_write(&self) -> Result<(), LabError> {
        let why = match self {
            Self::Servers(_) => {
                "a world of servers cannot be written: no table holds their latencies"
            }
            Self::Town(_) => "a town cannot be written: no table holds its hints",
            _ => return Ok(()),
        };
        let again = "its name, settings and seed give it again";
        Err(LabError::Wish(format!("{why}; {again}")))
    }

    fn write_tables(&self, directory: &Path) -> Result<(), LabError> {
        match self {
            Self::Graph(graph) => graph.write(directory, |_, _| true),
            Self::Topic(topic) => topic.write(directory),
            Self::Traffic(traffic) => traffic.write(directory),
            Self::Histories(histories) => histories.write(directory),
            Self::News(news) => news.write(directory),
            Self::Queries(queries) => queries.write(directory),
            Self::Corpus(corpus) => {
                corpus.histories.write(directory)?;
                corpus.queries.write(directory)
            }
            Self::Servers(_) | Self::Town(_) => self.refuse_to_write(),
        }
    }
}

/// Returns the parts of a recorded world, in the order of [`WorldPart`].
fn parts(directory: &Path) -> Result<Vec<WorldPart>, LabError> {
    let listed = std::fs::read_dir(directory);
    listed.map_err(|source| LabError::Read {
        path: directory.to_owned(),
        source,
    })?;
    let tables = [
        (WorldPart::Histories, "versions.tsv"),
        (WorldPart::Sources, "sources.tsv"),
        (WorldPart::Sources, "clicks.tsv"),
        (WorldPart::Links, "edges.tsv"),
    ];
    let mut parts = Vec::new();
    for (part, table) in tables {
        if locate(directory, table)?.is_some() && parts.last() != Some(&part) {
            parts.push(part);
        }
    }
    Ok(parts)
}

/// Creates the directory if necessary. Rejects a directory that already holds a world.
fn empty(directory: &Path) -> Result<(), LabError> {
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
    Ok(())
}

#[cfg(test)]
mod tests;
