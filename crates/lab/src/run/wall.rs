//! What of a world has a crawl seen?
//!
//! **Invariant (the wall):** a page's links and text leave the world by [`Wall::fetch`] only, and only
//! for a page that the crawl has heard of; whoever fetches a page has spent the fetch.

use page::PageUrl;
use policy::{About, Link, Needs, Number, Text};

use crate::world::{Graph, Linked};

/// What a page has before anybody heard of it.
const UNKNOWN: u32 = u32::MAX;

/// A world that can be crawled: pages with links, and perhaps texts. Made of a [`Graph`] or a
/// [`Linked`]; only the lab looks into it.
#[derive(Clone, Copy)]
pub struct Web<'a> {
    graph: &'a Graph,
    linked: Option<&'a Linked>,
}

impl<'a> From<&'a Graph> for Web<'a> {
    fn from(graph: &'a Graph) -> Self {
        Self {
            graph,
            linked: None,
        }
    }
}

impl<'a> From<&'a Linked> for Web<'a> {
    fn from(linked: &'a Linked) -> Self {
        Self {
            graph: linked.graph(),
            linked: Some(linked),
        }
    }
}

impl<'a> Web<'a> {
    /// Its pages and links.
    pub(crate) fn graph(&self) -> &'a Graph {
        self.graph
    }

    /// Whether it is known what its pages say.
    pub(crate) fn has_texts(&self) -> bool {
        self.linked.is_some_and(Linked::has_texts)
    }

    /// How often each page is viewed, if that is known.
    pub(crate) fn views(&self) -> Option<&'a [f64]> {
        self.linked?.views()
    }

    /// What a page says.
    pub(crate) fn text(&self, page: usize) -> Text<'a> {
        let text = self.linked.and_then(|linked| linked.text(page));
        text.map_or(Text::Nothing, |(title, body)| Text::Whole {
            title,
            body,
            about: About::default(),
        })
    }

    /// The words of a link, as far as somebody needs them.
    fn link(&self, page: usize, nth: usize, needs: Needs) -> Link<'a> {
        let unknown = Number(UNKNOWN);
        let Some(linked) = self.linked.filter(|_| needs.words) else {
            return Link::new(unknown, "");
        };
        let (around, path) = match needs.places {
            true => linked.place(page, nth),
            false => ("", ""),
        };
        Link {
            around,
            path,
            ..Link::new(unknown, linked.anchor(page, nth))
        }
    }
}

/// A world, and how much of it a crawl has heard of.
pub(super) struct Wall<'a> {
    web: Web<'a>,
    /// What the policy wants to be told; the rest is not looked up for it.
    needs: Needs,
    /// The page of each number, and how many links it is from a seed.
    pages: Vec<(u32, u16)>,
    /// The number of each page.
    numbers: Vec<u32>,
}

/// A page that was fetched.
pub(super) struct Fetched<'a> {
    /// Its place in the world, for whoever judges the crawl.
    pub page: usize,
    pub url: &'a PageUrl,
    pub depth: u16,
    pub text: Text<'a>,
    web: Web<'a>,
    needs: Needs,
}

impl<'a> Fetched<'a> {
    /// Where its links lead, and with which words. The number of the page is not known yet.
    pub fn links(&self) -> impl Iterator<Item = (usize, Link<'a>)> + use<'a> {
        let (web, page, needs) = (self.web, self.page, self.needs);
        let links = web.graph.links(page).iter().enumerate();
        links.map(move |(nth, &to)| (to as usize, web.link(page, nth, needs)))
    }
}

impl<'a> Wall<'a> {
    pub fn new(web: Web<'a>, needs: Needs) -> Self {
        Self {
            web,
            needs,
            pages: Vec::new(),
            numbers: vec![UNKNOWN; web.graph.pages()],
        }
    }

    /// The number of a page that was named; `Err`: it is new, and this is its URL.
    pub fn heard_of(&self, page: usize) -> Result<Number, &'a PageUrl> {
        match self.numbers[page] {
            UNKNOWN => Err(self.web.graph.url(page)),
            number => Ok(Number(number)),
        }
    }

    /// Takes note of the number that the frontier gave a new page.
    pub fn enroll(&mut self, page: usize, depth: u16, number: Number) {
        debug_assert_eq!(number.index(), self.pages.len(), "numbers are dense");
        self.numbers[page] = number.0;
        self.pages.push((page as u32, depth));
    }

    /// Where a page is in the world, for whoever judges the crawl, and its depth.
    pub fn place(&self, number: Number) -> (usize, u16) {
        let (page, depth) = self.pages[number.index()];
        (page as usize, depth)
    }

    /// Fetches a page.
    pub fn fetch(&self, number: Number) -> Fetched<'a> {
        let (page, depth) = self.place(number);
        let text = if self.needs.text {
            self.web.text(page)
        } else {
            Text::Nothing
        };
        Fetched {
            page,
            url: self.web.graph.url(page),
            depth,
            text,
            web: self.web,
            needs: self.needs,
        }
    }
}
