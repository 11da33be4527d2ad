//! The wall between a crawl and a world: a crawl sees only the pages that it has fetched.
//!
//! **Invariant:** the links and the text of a page leave the world only through
//! [`Wall::respond`], and only for a page that the crawl has discovered. The crawl has then
//! spent the fetch.

use crawl::verdict::{IndexText, Lead, Verdict};
use crawl::{Claim, Offer};
use page::{Fields, PageId, PageUrl};
use policy::{About, Moment, Needs, Number, Text};

use super::driver::{ELSEWHERE, Responder, answer_of};
use crate::world::{Graph, Linked};

/// A world that can be crawled: pages with links, and optionally texts.
///
/// It is made from a [`Graph`] or a [`Linked`]. Only the laboratory reads its contents.
#[derive(Clone, Copy)]
pub struct CrawlableWorld<'a> {
    graph: &'a Graph,
    linked: Option<&'a Linked>,
}

impl<'a> From<&'a Graph> for CrawlableWorld<'a> {
    fn from(graph: &'a Graph) -> Self {
        Self {
            graph,
            linked: None,
        }
    }
}

impl<'a> From<&'a Linked> for CrawlableWorld<'a> {
    fn from(linked: &'a Linked) -> Self {
        Self {
            graph: linked.graph(),
            linked: Some(linked),
        }
    }
}

impl<'a> CrawlableWorld<'a> {
    /// Returns the pages and links of the world.
    pub(crate) fn graph(&self) -> &'a Graph {
        self.graph
    }

    /// Returns whether the world has the texts of its pages.
    pub(crate) fn has_texts(&self) -> bool {
        self.linked.is_some_and(Linked::has_texts)
    }

    /// Returns the views of each page, if the world has them.
    pub(crate) fn views(&self) -> Option<&'a [f64]> {
        self.linked?.views()
    }

    /// Returns the text of a page; [`Text::Nothing`] if the world has no texts.
    pub(crate) fn text(&self, page: usize) -> Text<'a> {
        let text = self.linked.and_then(|linked| linked.text(page));
        text.map_or(Text::Nothing, |(title, body)| Text::Whole {
            title,
            body,
            about: About::default(),
        })
    }

    /// Returns a link: with its anchor text if the policy needs words, and also with its place if
    /// the policy needs places.
    fn lead(&self, page: usize, nth: usize, to: &PageUrl, needs: Needs) -> Lead {
        let lead = Lead::seed(to);
        let Some(linked) = self.linked.filter(|_| needs.words) else {
            return lead;
        };
        let (around, path) = match needs.places {
            true => linked.place(page, nth),
            false => ("", ""),
        };
        Lead {
            anchor: linked.anchor(page, nth).to_owned(),
            around: around.to_owned(),
            path: path.to_owned(),
            ..lead
        }
    }
}

/// A page that a link or the user names.
#[derive(Debug, Clone, Copy)]
pub(super) struct NamedPage {
    pub page: usize,
    /// Number of links from a seed.
    pub depth: u16,
    /// The page that links to it; `None` for a seed.
    pub source: Option<PageId>,
}

impl NamedPage {
    pub fn seed(page: usize) -> Self {
        Self {
            page,
            depth: 0,
            source: None,
        }
    }
}

/// A world, with the pages that a crawl has discovered and fetched.
pub(super) struct Wall<'a, O> {
    web: CrawlableWorld<'a>,
    /// What the policy needs. Texts and anchor texts are looked up only if it needs them.
    needs: Needs,
    /// Decides whether the crawl admits a page that is named for the first time. A link to a
    /// rejected page still counts as a link.
    admits: O,
    /// Stands for each link to a page that the crawl does not admit.
    outside: Lead,
    /// World page of each page number, in the order of discovery.
    numbered: Vec<u32>,
    /// Whether each page is discovered.
    known: Vec<bool>,
    /// Number of fetches after which the crawl ends.
    pub most: usize,
    /// Fetched pages, in order.
    pub visits: Vec<usize>,
    /// Time of each fetch.
    pub moments: Vec<Moment>,
    /// Pages that the buffer dropped.
    pub drops: Vec<usize>,
}

impl<'a, O: FnMut(NamedPage) -> bool> Wall<'a, O> {
    pub fn new(web: CrawlableWorld<'a>, needs: Needs, admits: O) -> Self {
        let outside =
            PageUrl::parse(&format!("http://{ELSEWHERE}/")).expect("the host makes a valid URL");
        Self {
            web,
            needs,
            admits,
            outside: Lead::seed(&outside),
            numbered: Vec::new(),
            known: vec![false; web.graph.pages()],
            most: usize::MAX,
            visits: Vec::new(),
            moments: Vec::new(),
            drops: Vec::new(),
        }
    }

    /// Discovers a page and returns the offer for the core. `None` if the page is already known.
    pub fn discover(&mut self, named: NamedPage) -> Option<Offer> {
        if !self.mark_known(named.page) {
            return None;
        }
        Some(Offer {
            url: self.web.graph.url(named.page).clone(),
            depth: named.depth,
            hops: 0,
            source: named.source,
        })
    }

    /// Replaces the rule that admits pages.
    pub fn set_admission(&mut self, admits: O) {
        self.admits = admits;
    }

    /// Marks a page as discovered. Returns whether it is new.
    fn mark_known(&mut self, page: usize) -> bool {
        let new = !std::mem::replace(&mut self.known[page], true);
        if new {
            self.numbered.push(page as u32);
        }
        new
    }

    /// Returns a link of a page as the crawl sees it.
    fn lead(&mut self, from: &Claim, page: usize, nth: usize, to: usize) -> Lead {
        if !self.known[to] {
            let named = NamedPage {
                page: to,
                depth: from.discovery.depth.saturating_add(1),
                source: Some(from.key.page),
            };
            if !(self.admits)(named) {
                return self.outside.clone();
            }
            self.mark_known(to);
        }
        let url = self.web.graph.url(to);
        self.web.lead(page, nth, url, self.needs)
    }
}

impl<O: FnMut(NamedPage) -> bool> Responder for Wall<'_, O> {
    fn respond(&mut self, claim: &Claim, at: Moment) -> Verdict {
        let page = self.numbered[claim.number.index()] as usize;
        debug_assert_eq!(&claim.url, self.web.graph.url(page), "numbers are dense");
        self.visits.push(page);
        self.moments.push(at);
        let answer = answer_of(Some(page as u64));
        let mut verdict = claim.asked(at).judge(&answer, 0, &|_| true);
        let links = self.web.graph.links(page).iter().enumerate();
        verdict.leads = links
            .map(|(nth, &to)| self.lead(claim, page, nth, to as usize))
            .collect();
        verdict.text = match self.web.text(page) {
            Text::Whole { title, body, .. } if self.needs.text => Some(IndexText {
                title: title.to_owned(),
                body: body.to_owned(),
                asides: Vec::new(),
                sections: Vec::new(),
                linked: 0,
                kind: "html",
                language: None,
                stated: Fields::default(),
            }),
            _ => None,
        };
        verdict
    }

    fn is_finished(&self) -> bool {
        self.visits.len() >= self.most
    }

    fn dropped(&mut self, page: Number) {
        self.drops.push(self.numbered[page.index()] as usize);
    }
}
