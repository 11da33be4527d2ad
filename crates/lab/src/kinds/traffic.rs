//! A web whose page views are known: links and views.
//!
//! It is read from `edges.tsv` (from, to; each mutual link once), `views.tsv` (page, views) and
//! an optional `nodes.tsv`.
//!
//! **Invariant:** every link is mutual. Every page has a number of views, which is finite and
//! not negative.

use std::path::Path;

use super::graph::{nodes, unnamed_urls};
use super::urls::distinct;
use super::{Graph, ids};
use crate::LabError;
use crate::table::schema::VIEWS;
use crate::table::{Table, TableWriter, locate};

/// Pages, links and views.
#[derive(Debug, Clone, PartialEq)]
pub struct Traffic {
    graph: Graph,
    views: Vec<f64>,
}

impl Traffic {
    /// Creates a web with mutual links and the views of each page.
    ///
    /// # Panics
    /// If the number of views differs from the number of pages, or if a value is negative,
    /// infinite or NaN.
    pub fn new(graph: Graph, views: Vec<f64>) -> Self {
        assert_eq!(graph.pages(), views.len(), "every page has its views");
        assert!(views.iter().all(is_count), "views are numbers from 0 on");
        let graph = graph.mutual();
        Self { graph, views }
    }

    /// Reads a directory. Without `nodes.tsv`, the pages are those of `views.tsv`, in its order.
    pub fn read(directory: &Path) -> Result<Self, LabError> {
        let (page_ids, urls) = match locate(directory, "nodes.tsv")? {
            Some(_) => {
                let (names, urls) = nodes(directory)?;
                (names, distinct(urls))
            }
            None => {
                let mut views = Table::open(directory, VIEWS)?;
                let (names, _) = ids::named(&mut views)?;
                let urls = unnamed_urls(&names);
                (names, urls)
            }
        };
        let graph = Graph::read_edges(directory, page_ids, urls)?;
        let mut of: Vec<Option<f64>> = vec![None; graph.pages()];
        let places = graph.places();
        let mut table = Table::open(directory, VIEWS)?;
        while let Some(row) = table.next()? {
            let page = ids::found(&places, &row, 0, "page")?;
            let views: f64 = row.number(1)?;
            if !is_count(&views) {
                let why = format!("{views} views: a number from 0 on is expected");
                return Err(row.place.wrong(why));
            }
            if of[page as usize].replace(views).is_some() {
                let why = format!("the page {:?} occurs twice", row.cells[0]);
                return Err(row.place.wrong(why));
            }
        }
        if let Some(page) = of.iter().position(Option::is_none) {
            let why = format!("the page {:?} is missing", graph.id(page));
            return Err(table.place().wrong(why));
        }
        drop(places);
        Ok(Self::new(graph, of.into_iter().flatten().collect()))
    }

    /// Returns the pages and their links, in both directions.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the views of each page.
    pub fn views(&self) -> &[f64] {
        &self.views
    }

    /// Splits the world into graph and views.
    pub(crate) fn into_parts(self) -> (Graph, Vec<f64>) {
        (self.graph, self.views)
    }

    /// Writes the tables.
    pub(crate) fn write(&self, directory: &Path) -> Result<(), LabError> {
        self.graph.write(directory, |from, to| from < to)?;
        let mut table = TableWriter::create(directory, VIEWS)?;
        for (page, views) in self.views.iter().enumerate() {
            table.row([&self.graph.id(page), views])?;
        }
        table.finish()
    }
}

fn is_count(views: &f64) -> bool {
    views.is_finite() && *views >= 0.0
}
