//! A web whose pages have labels: links, texts and topics.
//!
//! It is read from four files. `nodes.tsv` and `edges.tsv` are those of a [`Graph`].
//! `bodies.ndjson` has the texts, each under the id of its page. `labels.tsv` (page, label) is
//! optional; a page can have several labels.
//!
//! **Invariant:** every page has a body, which may be empty. Labels are in alphabetical order.

use std::collections::BTreeMap;
use std::path::Path;

use super::bodies::{self, Body, BodyWriter};
use super::{Graph, ids};
use crate::LabError;
use crate::table::schema::LABELS;
use crate::table::{Table, TableWriter, locate};

/// Pages, links, texts and labels.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledWorld {
    graph: Graph,
    bodies: Vec<Body>,
    labels: Labels,
}

/// The labels of pages. A page can have none or several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labels {
    names: Vec<String>,
    of: Vec<Vec<u32>>,
}

impl Labels {
    /// Creates the labels of `pages` pages from pairs of page and label.
    ///
    /// # Panics
    /// If a page is out of range.
    pub fn new<'a>(pages: usize, pairs: impl IntoIterator<Item = (usize, &'a str)>) -> Self {
        let mut pages_of: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (page, label) in pairs {
            pages_of.entry(label).or_default().push(page);
        }
        let mut of = vec![Vec::new(); pages];
        for (label, pages) in (0..).zip(pages_of.values()) {
            for &page in pages {
                if of[page].last() != Some(&label) {
                    of[page].push(label);
                }
            }
        }
        let names = pages_of.into_keys().map(str::to_owned).collect();
        Self { names, of }
    }

    /// Returns the number of pages.
    pub fn pages(&self) -> usize {
        self.of.len()
    }

    /// Returns all labels, in alphabetical order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the labels of a page as indices of [`Labels::names`], ascending.
    pub fn of(&self, page: usize) -> &[u32] {
        &self.of[page]
    }
}

impl LabelledWorld {
    /// Creates a labelled web. Anchor texts are those of `a` elements in HTML bodies that link
    /// to a page of the graph.
    ///
    /// # Panics
    /// If the number of bodies or labels differs from the number of pages.
    pub fn new(graph: Graph, bodies: Vec<Body>, labels: Labels) -> Self {
        assert_eq!(graph.pages(), bodies.len(), "every page has a body");
        assert_eq!(graph.pages(), labels.of.len(), "labels are for these pages");
        Self {
            graph,
            bodies,
            labels,
        }
    }

    /// Reads a directory. Without `labels.tsv` no page has labels; a page without a body has an
    /// empty text.
    pub fn read(directory: &Path) -> Result<Self, LabError> {
        let graph = Graph::read(directory)?;
        let places = graph.places();
        let mut texts: Vec<Option<Body>> = vec![None; graph.pages()];
        bodies::read(directory, |id, body| {
            let page = places.get(id).ok_or(format!("{id:?} names no page"))?;
            match texts[*page as usize].replace(body) {
                Some(_) => Err(format!("the body {id:?} occurs twice")),
                None => Ok(()),
            }
        })?;
        let mut pairs: Vec<(usize, String)> = Vec::new();
        if locate(directory, "labels.tsv")?.is_some() {
            let mut table = Table::open(directory, LABELS)?;
            while let Some(row) = table.next()? {
                let page = ids::found(&places, &row, 0, "page")?;
                pairs.push((page as usize, row.cells[1].to_owned()));
            }
        }
        drop(places);
        let pairs = pairs.iter().map(|(page, label)| (*page, label.as_str()));
        let labels = Labels::new(graph.pages(), pairs);
        let texts = texts.into_iter().map(Option::unwrap_or_default);
        Ok(Self::new(graph, texts.collect(), labels))
    }

    /// Returns the pages and their links.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the body of a page.
    pub fn body(&self, page: usize) -> &Body {
        &self.bodies[page]
    }

    /// Returns the labels of the pages.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Splits the world into graph and bodies; drops the labels.
    pub(crate) fn into_parts(self) -> (Graph, Vec<Body>) {
        (self.graph, self.bodies)
    }

    /// Writes the tables.
    pub(crate) fn write(&self, directory: &Path) -> Result<(), LabError> {
        self.graph.write(directory, |_, _| true)?;
        let mut bodies = BodyWriter::create(directory)?;
        for (page, body) in self.bodies.iter().enumerate() {
            bodies.put(self.graph.id(page), body)?;
        }
        bodies.finish()?;
        let mut table = TableWriter::create(directory, LABELS)?;
        for page in 0..self.graph.pages() {
            for &label in self.labels.of(page) {
                table.row([&self.graph.id(page), &self.labels.names[label as usize]])?;
            }
        }
        table.finish()
    }
}
