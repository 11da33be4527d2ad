//! A web graph: pages and their links.
//!
//! [`Graph`] reads `edges.tsv` (from, to) and an optional `nodes.tsv` (id, url). Ids are opaque.
//!
//! **Invariant:** every page has a URL of its own, and no page links to itself or twice to
//! another. The links of a page keep the order in which they were given, except in a graph made by
//! `mutual`. All links are in one array, with 4 bytes per link.

use std::collections::HashMap;
use std::path::Path;

use page::PageUrl;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::ReachSearch;
use super::ids as names;
use super::urls::distinct;
use crate::LabError;
use crate::table::schema::{EDGES, NODES};
use crate::table::{Table, TableWriter, locate};

/// Pages by index, and their links.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    ids: Vec<Box<str>>,
    urls: Vec<PageUrl>,
    /// Start of each page's links in `targets`; the last entry is the end of all.
    starts: Vec<usize>,
    targets: Vec<u32>,
}

impl Graph {
    /// Creates a graph of pages with these URLs and links; their ids are 0, 1, …
    ///
    /// A URL that an earlier page has gets `page=N` added. A URL that cannot be crawled is
    /// replaced by one under `.invalid`. Links from or to indices out of range are dropped.
    pub fn new<'a>(
        urls: impl Iterator<Item = &'a str>,
        edges: impl Iterator<Item = (usize, usize)>,
    ) -> Self {
        let urls = distinct(urls);
        let pages = urls.len();
        let ids = (0..pages).map(|page| page.to_string().into());
        let edges = edges
            .filter(|&(from, to)| from < pages && to < pages)
            .map(|(from, to)| (from as u32, to as u32));
        Self::made_of(ids.collect(), urls, edges.collect())
    }

    /// Reads a directory with `edges.tsv` and an optional `nodes.tsv`.
    ///
    /// Without `nodes.tsv`, pages are numbered in the order in which links name them. Their true
    /// hosts are unknown, so all are on one host, as `http://graph.invalid/ID`. With one host per
    /// page, politeness would cost nothing and the result would mislead. With a single host, the
    /// reader sees at once that a server strategy has no choice.
    pub fn read(directory: &Path) -> Result<Self, LabError> {
        match locate(directory, "nodes.tsv")? {
            Some(_) => {
                let (ids, urls) = nodes(directory)?;
                Self::read_edges(directory, ids, distinct(urls))
            }
            None => Self::read_unnamed(directory),
        }
    }

    /// Reads `edges.tsv` with the pages given.
    pub(super) fn read_edges(
        directory: &Path,
        ids: Vec<Box<str>>,
        urls: Vec<PageUrl>,
    ) -> Result<Self, LabError> {
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        let places = names::places(&ids);
        let mut edges = Table::open(directory, EDGES)?;
        while let Some(row) = edges.next()? {
            let from = names::found(&places, &row, 0, "page")?;
            pairs.push((from, names::found(&places, &row, 1, "page")?));
        }
        drop(places);
        Ok(Self::made_of(ids, urls, pairs))
    }

    fn read_unnamed(directory: &Path) -> Result<Self, LabError> {
        let mut known: HashMap<Box<str>, u32> = HashMap::new();
        let mut ids: Vec<Box<str>> = Vec::new();
        let mut pairs = Vec::new();
        let mut edges = Table::open(directory, EDGES)?;
        while let Some(row) = edges.next()? {
            let [from, to] = row.cells.map(|id| match known.get(id) {
                Some(&page) => page,
                None => {
                    let page = ids.len() as u32;
                    known.insert(id.into(), page);
                    ids.push(id.into());
                    page
                }
            });
            pairs.push((from, to));
        }
        let urls = unnamed_urls(&ids);
        Ok(Self::made_of(ids, urls, pairs))
    }

    /// Builds the graph from valid edges in any order.
    fn made_of(ids: Vec<Box<str>>, urls: Vec<PageUrl>, mut edges: Vec<(u32, u32)>) -> Self {
        edges.retain(|(from, to)| from != to);
        let (starts, targets) = rows_of(urls.len(), &edges);
        Self {
            ids,
            urls,
            starts,
            targets,
        }
    }

    /// Returns the number of pages.
    pub fn pages(&self) -> usize {
        self.urls.len()
    }

    /// Returns the id of a page in the tables.
    pub fn id(&self, page: usize) -> &str {
        &self.ids[page]
    }

    /// Returns the URL of a page.
    pub fn url(&self, page: usize) -> &PageUrl {
        &self.urls[page]
    }

    /// Finds the page with this id or, failing that, with this URL.
    pub fn find(&self, name: &str) -> Option<usize> {
        let by_id = self.ids.iter().position(|id| **id == *name);
        by_id.or_else(|| {
            let url = PageUrl::parse(name).ok()?;
            self.urls.iter().position(|own| *own == url)
        })
    }

    /// Returns the pages that a page links to.
    pub fn links(&self, page: usize) -> &[u32] {
        &self.targets[self.starts[page]..self.starts[page + 1]]
    }

    /// Returns all links as pairs of from and to.
    pub fn edges(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.pages()).flat_map(|from| {
            let links = self.links(from).iter();
            links.map(move |&to| (from, to as usize))
        })
    }

    /// Returns the pages that can be reached from these, themselves included, in breadth-first
    /// order.
    pub fn reachable(&self, from: &[usize]) -> Vec<usize> {
        ReachSearch::new(self).of(from).to_vec()
    }

    /// Returns the subgraph of these pages, numbered in this order. Duplicates count once.
    #[must_use]
    pub fn among(&self, pages: &[usize]) -> Self {
        let mut place = vec![u32::MAX; self.pages()];
        let mut kept = Vec::new();
        for &page in pages {
            if place[page] == u32::MAX {
                place[page] = kept.len() as u32;
                kept.push(page);
            }
        }
        let (mut starts, mut targets) = (vec![0], Vec::new());
        for &page in &kept {
            let links = self.links(page).iter().map(|&to| place[to as usize]);
            targets.extend(links.filter(|&to| to != u32::MAX));
            starts.push(targets.len());
        }
        Self {
            ids: kept.iter().map(|&page| self.ids[page].clone()).collect(),
            urls: kept.iter().map(|&page| self.urls[page].clone()).collect(),
            starts,
            targets,
        }
    }

    /// Returns the graph with every link in both directions; the links of a page are sorted by
    /// target.
    #[must_use]
    pub(super) fn mutual(self) -> Self {
        let mut edges: Vec<(u32, u32)> = self
            .edges()
            .flat_map(|(a, b)| [(a as u32, b as u32), (b as u32, a as u32)])
            .collect();
        edges.sort_unstable();
        let (starts, targets) = rows_of(self.pages(), &edges);
        Self {
            starts,
            targets,
            ..self
        }
    }

    /// Returns page indices by id.
    pub(super) fn places(&self) -> HashMap<&str, u32> {
        names::places(&self.ids)
    }

    /// Writes `nodes.tsv.gz`, and `edges.tsv.gz` with the links that `wanted` accepts.
    pub(crate) fn write(
        &self,
        directory: &Path,
        wanted: impl Fn(usize, usize) -> bool,
    ) -> Result<(), LabError> {
        let mut nodes = TableWriter::create(directory, NODES)?;
        for (id, url) in self.ids.iter().zip(&self.urls) {
            nodes.row([id, url])?;
        }
        nodes.finish()?;
        let mut edges = TableWriter::create(directory, EDGES)?;
        for (from, to) in self.edges().filter(|&(from, to)| wanted(from, to)) {
            edges.row([&self.ids[from], &self.ids[to]])?;
        }
        edges.finish()
    }
}

/// Reads the ids and URLs of `nodes.tsv`.
pub(super) fn nodes(directory: &Path) -> Result<(Vec<Box<str>>, Vec<String>), LabError> {
    let mut nodes = Table::open(directory, NODES)?;
    names::named(&mut nodes)
}

/// Makes URLs from ids, for pages whose URLs are unknown.
pub(super) fn unnamed_urls(ids: &[Box<str>]) -> Vec<PageUrl> {
    distinct(ids.iter().map(|id| {
        let name = utf8_percent_encode(id, NON_ALPHANUMERIC);
        format!("http://graph.invalid/{name}")
    }))
}

/// Converts edges to compressed sparse rows without duplicates, in the order given: row starts
/// and targets.
fn rows_of(pages: usize, edges: &[(u32, u32)]) -> (Vec<usize>, Vec<u32>) {
    let mut next = vec![0_usize; pages + 1];
    for &(from, _) in edges {
        next[from as usize + 1] += 1;
    }
    for page in 0..pages {
        next[page + 1] += next[page];
    }
    let ends: Vec<usize> = next[1..].to_vec();
    let mut sorted = vec![0; edges.len()];
    for &(from, to) in edges {
        sorted[next[from as usize]] = to;
        next[from as usize] += 1;
    }
    let mut starts = Vec::with_capacity(pages + 1);
    let mut targets = Vec::with_capacity(edges.len());
    let mut linked_by = vec![usize::MAX; pages];
    let mut at = 0;
    for (page, end) in ends.into_iter().enumerate() {
        starts.push(targets.len());
        let links = sorted[at..end].iter().copied();
        targets.extend(
            links.filter(|&to| std::mem::replace(&mut linked_by[to as usize], page) != page),
        );
        at = end;
    }
    starts.push(targets.len());
    targets.shrink_to_fit();
    (starts, targets)
}
