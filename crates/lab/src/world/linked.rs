//! What does an experiment on the order of visits need of a world?
//!
//! Pages and links, and where the world has them, texts, the words of links, and views.
//! **Invariant:** what a page says is read once, with the reader of the crawler.

use std::ops::Range;
use std::sync::Arc;
use std::thread;

use page::{Limits, PageId};

use super::{Body, Graph};
use crate::site::{PageNumber, Web};
use crate::workers::{Silent, each};

/// The port of a served web; the default one, which URLs do not show.
const PORT: u16 = 80;

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
    /// For each page linked to, sorted by it, the words of the link as a range of the text.
    anchors: Vec<(u32, Range<u32>)>,
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
        let Some(texts) = &self.texts else { return "" };
        let text = &texts[from];
        let to = self.graph.links(from)[nth];
        let Ok(place) = text.anchors.binary_search_by_key(&to, |(to, _)| *to) else {
            return "";
        };
        let (_, range) = &text.anchors[place];
        text.text
            .get(range.start as usize..range.end as usize)
            .unwrap_or_default()
    }

    /// Pages that are viewed so often.
    pub(super) fn viewed(graph: Graph, views: Vec<f64>) -> Self {
        Self {
            views: Some(views),
            ..Self::from(graph)
        }
    }

    /// Pages that say this.
    pub(super) fn said(graph: Graph, bodies: Vec<Body>) -> Self {
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
    pub(super) fn served(web: &Web) -> Self {
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
        };
    }
    let reading = page::read(&body.text, graph.url(page), &Limits::default());
    let mut anchors: Vec<_> = reading
        .links
        .iter()
        .filter_map(|link| {
            let place = ids.binary_search_by_key(&link.id, |(id, _)| *id).ok()?;
            Some((ids[place].1, link.anchor.clone()))
        })
        .collect();
    anchors.sort_unstable_by_key(|(to, _)| *to);
    Text {
        title: reading.title,
        text: reading.text,
        anchors,
    }
}
