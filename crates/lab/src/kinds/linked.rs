//! What does an experiment on the order of visits need of a world?
//!
//! Pages and links, and where the world has them, texts, the words of links, and views.
//! **Invariant:** what a page says is read once, with the reader of the crawler.

use std::ops::Range;
use std::sync::Arc;
use std::thread;

use page::{Limits, PageId};
use testweb::site::{PageNumber, Web};

use super::{Body, Graph};
use crate::workers::{Silent, each};

/// The port of a served web; the default one, which URLs do not show.
const PORT: u16 = 80;

/// Words on either side of a link that count as around it; the engine takes as many.
const AROUND: usize = 8;

/// Pages that link to each other, and what is known of them.
#[derive(Debug, Clone)]
pub struct Linked {
    graph: Graph,
    views: Option<Vec<f64>>,
    /// What each page says.
    texts: Option<Arc<[Text]>>,
}

#[derive(Debug)]
struct Text {
    title: String,
    text: String,
    /// Sorted by the page linked to.
    anchors: Vec<Anchor>,
    /// The tag paths of links.
    paths: Vec<String>,
}

/// A link of a page.
#[derive(Debug)]
struct Anchor {
    to: u32,
    /// Its words, as a range of the text.
    words: Range<u32>,
    /// The same with some words on either side.
    around: Range<u32>,
    /// Which tag path.
    path: u32,
}

impl Text {
    fn slice(&self, range: &Range<u32>) -> &str {
        let range = range.start as usize..range.end as usize;
        self.text.get(range).unwrap_or_default()
    }
}

impl Linked {
    /// The pages and their links.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// How often each page is viewed, if that is known.
    pub fn views(&self) -> Option<&[f64]> {
        self.views.as_deref()
    }

    /// Whether it is known what pages say.
    pub fn has_texts(&self) -> bool {
        self.texts.is_some()
    }

    /// The title and the readable text of a page, if they are known. A plain text has no title.
    pub fn text(&self, page: usize) -> Option<(&str, &str)> {
        let text = &self.texts.as_ref()?[page];
        Some((&text.title, &text.text))
    }

    /// The words of a page's link of this place in [`Graph::links`]; empty where none are known.
    pub fn anchor(&self, from: usize, nth: usize) -> &str {
        self.found(from, nth)
            .map_or("", |(text, anchor)| text.slice(&anchor.words))
    }

    /// The words around that link, its own included, and its tag path; empty where they are not known.
    pub fn place(&self, from: usize, nth: usize) -> (&str, &str) {
        self.found(from, nth).map_or(("", ""), |(text, anchor)| {
            let path = text.paths.get(anchor.path as usize);
            (text.slice(&anchor.around), path.map_or("", String::as_str))
        })
    }

    fn found(&self, from: usize, nth: usize) -> Option<(&Text, &Anchor)> {
        let text = &self.texts.as_ref()?[from];
        let to = self.graph.links(from)[nth];
        let place = text.anchors.binary_search_by_key(&to, |anchor| anchor.to);
        Some((text, &text.anchors[place.ok()?]))
    }

    /// Pages that are viewed so often.
    pub(crate) fn viewed(graph: Graph, views: Vec<f64>) -> Self {
        Self {
            views: Some(views),
            ..Self::from(graph)
        }
    }

    /// Pages that say this.
    pub(crate) fn said(graph: Graph, bodies: Vec<Body>) -> Self {
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

    /// The pages of an invented web, by number, and where they lead at its beginning.
    pub(crate) fn served(web: &Web) -> Self {
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

/// The pages by what a crawler knows them by, sorted.
fn ids(graph: &Graph) -> Vec<(PageId, u32)> {
    let pages = 0..graph.pages() as u32;
    let mut ids: Vec<_> = pages
        .map(|page| (graph.url(page as usize).id(), page))
        .collect();
    ids.sort_unstable();
    ids
}

fn read(graph: &Graph, ids: &[(PageId, u32)], page: usize, body: Body) -> Text {
    if !body.html {
        return Text {
            title: String::new(),
            text: body.text,
            anchors: Vec::new(),
            paths: Vec::new(),
        };
    }
    let reading = page::read(&body.text, graph.url(page), &Limits::default());
    let mut anchors: Vec<_> = reading
        .links
        .iter()
        .filter_map(|link| {
            let place = ids.binary_search_by_key(&link.id, |(id, _)| *id).ok()?;
            let around = reading.around(link, AROUND);
            let start = around.as_ptr() as usize - reading.text.as_ptr() as usize;
            Some(Anchor {
                to: ids[place].1,
                words: link.anchor.clone(),
                around: start as u32..(start + around.len()) as u32,
                path: link.path,
            })
        })
        .collect();
    anchors.sort_by_key(|anchor: &Anchor| anchor.to);
    Text {
        title: reading.title,
        text: reading.text,
        anchors,
        paths: reading.paths,
    }
}
