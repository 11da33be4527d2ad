//! A web graph with optional texts, anchor texts and page views.
//!
//! **Invariant:** each HTML page is parsed once, with the parser of the crawler.

use std::ops::Range;
use std::sync::Arc;
use std::thread;

use page::{PageId, ReadLimits};
use testweb::site::{PageNumber, Web};

use super::{Body, Graph};
use crate::workers::{Silent, each};

/// Port of a simulated web: the default port, which URLs omit.
const PORT: u16 = 80;

/// Number of words on either side of a link that count as its context, as in `crawl::verdict`.
const AROUND: usize = 8;

/// A web graph and further data about its pages.
#[derive(Debug, Clone)]
pub struct Linked {
    graph: Graph,
    views: Option<Vec<f64>>,
    /// Title, text and links of each page.
    texts: Option<Arc<[LinkedText]>>,
}

#[derive(Debug)]
struct LinkedText {
    title: String,
    text: String,
    /// Sorted by the page linked to.
    anchors: Vec<AnchorLink>,
    /// Tag paths of the links, each once.
    paths: Vec<String>,
}

/// A link of a page to another page of the graph.
#[derive(Debug)]
struct AnchorLink {
    to: u32,
    /// Its anchor text, as a range of the page's text.
    words: Range<u32>,
    /// The anchor text with its context on either side, as a range of the page's text.
    around: Range<u32>,
    /// Index of its tag path in `paths`.
    path: u32,
}

impl LinkedText {
    fn slice(&self, range: &Range<u32>) -> &str {
        let range = range.start as usize..range.end as usize;
        self.text.get(range).unwrap_or_default()
    }
}

impl Linked {
    /// Returns the pages and their links.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the number of views of each page, if known.
    pub fn views(&self) -> Option<&[f64]> {
        self.views.as_deref()
    }

    /// Returns whether the texts of pages are known.
    pub fn has_texts(&self) -> bool {
        self.texts.is_some()
    }

    /// Returns title and readable text of a page, if known. A plain text has no title.
    pub fn text(&self, page: usize) -> Option<(&str, &str)> {
        let text = &self.texts.as_ref()?[page];
        Some((&text.title, &text.text))
    }

    /// Returns the anchor text of a page's `nth` link in [`Graph::links`]; empty if unknown.
    pub fn anchor(&self, from: usize, nth: usize) -> &str {
        self.found(from, nth)
            .map_or("", |(text, anchor)| text.slice(&anchor.words))
    }

    /// Returns the context of a page's `nth` link in [`Graph::links`], anchor text included, and
    /// the link's tag path. Both are empty if unknown.
    pub fn place(&self, from: usize, nth: usize) -> (&str, &str) {
        self.found(from, nth).map_or(("", ""), |(text, anchor)| {
            let path = text.paths.get(anchor.path as usize);
            (text.slice(&anchor.around), path.map_or("", String::as_str))
        })
    }

    fn found(&self, from: usize, nth: usize) -> Option<(&LinkedText, &AnchorLink)> {
        let text = &self.texts.as_ref()?[from];
        let to = self.graph.links(from)[nth];
        let place = text.anchors.binary_search_by_key(&to, |anchor| anchor.to);
        Some((text, &text.anchors[place.ok()?]))
    }

    /// Creates a graph with page views.
    pub(crate) fn with_views(graph: Graph, views: Vec<f64>) -> Self {
        Self {
            views: Some(views),
            ..Self::from(graph)
        }
    }

    /// Creates a graph with the texts of these bodies.
    pub(crate) fn with_texts(graph: Graph, bodies: Vec<Body>) -> Self {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let pages = bodies.into_iter().enumerate().collect();
        let ids = ids(&graph);
        let read = |(page, body)| read(&graph, &ids, page, body);
        let texts = each(pages, threads, &Silent, read).into();
        Self {
            texts: Some(texts),
            ..Self::from(graph)
        }
    }

    /// Creates the graph of an invented web as it is at the beginning, by page number.
    pub(crate) fn of_invented(web: &Web) -> Self {
        let urls: Vec<String> = web.urls(PORT).collect();
        let edges = web.pages().flat_map(|page| {
            let from = page.number();
            let to = web.leads_to(from, 0.0).into_iter();
            to.map(move |PageNumber(to)| (from.0 as usize, to as usize))
        });
        Graph::new(urls.iter().map(String::as_str), edges).into()
    }
}

impl From<Graph> for Linked {
    fn from(graph: Graph) -> Self {
        Self {
            graph,
            views: None,
            texts: None,
        }
    }
}

/// Returns the pages with their crawler ids, sorted by id.
fn ids(graph: &Graph) -> Vec<(PageId, u32)> {
    let pages = 0..graph.pages() as u32;
    let mut ids: Vec<_> = pages
        .map(|page| (graph.url(page as usize).id(), page))
        .collect();
    ids.sort_unstable();
    ids
}

fn read(graph: &Graph, ids: &[(PageId, u32)], page: usize, body: Body) -> LinkedText {
    if !body.html {
        return LinkedText {
            title: String::new(),
            text: body.text,
            anchors: Vec::new(),
            paths: Vec::new(),
        };
    }
    let reading = page::read(&body.text, graph.url(page), &ReadLimits::default());
    let mut anchors: Vec<_> = reading
        .links
        .iter()
        .filter_map(|link| {
            let place = ids.binary_search_by_key(&link.id, |(id, _)| *id).ok()?;
            let around = reading.around(link, AROUND);
            let start = around.as_ptr() as usize - reading.text.as_ptr() as usize;
            Some(AnchorLink {
                to: ids[place].1,
                words: link.anchor.clone(),
                around: start as u32..(start + around.len()) as u32,
                path: link.path,
            })
        })
        .collect();
    anchors.sort_by_key(|anchor: &AnchorLink| anchor.to);
    LinkedText {
        title: reading.title,
        text: reading.text,
        anchors,
        paths: reading.paths,
    }
}
