//! A world behind a wall: a crawl sees the pages that it has fetched and nothing else.
//!
//! **Invariant (the wall):** a page's links and text leave the world by [`Wall::respond`] only, and only
//! for a page that the crawl has heard of; whoever fetches a page has spent the fetch.

use crawl::verdict::{Lead, Text as ReadText, Verdict};
use crawl::{Claim, Offer};
use page::{Fields, PageId, PageUrl};
use policy::{About, Moment, Needs, Number, Text};

use super::driver::{ELSEWHERE, Responder, answer_of};
use crate::world::{Graph, Linked};

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

    /// A link, with its words as far as somebody needs them.
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

/// A page that a page names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named {
    pub page: usize,
    /// Links from a seed.
    pub depth: u16,
    /// The page that names it; `None`: a seed.
    pub source: Option<PageId>,
}

impl Named {
    pub fn seed(page: usize) -> Self {
        Self {
            page,
            depth: 0,
            source: None,
        }
    }
}

/// A world, and how much of it a crawl has heard of and fetched.
pub(super) struct Wall<'a, O> {
    web: Web<'a>,
    /// What the policy wants to be told; the rest is not looked up for it.
    needs: Needs,
    /// Whether a page that is named for the first time is to be heard of. It counts among the links of its page in
    /// any case.
    ours: O,
    elsewhere: Lead,
    /// The page of each number: pages are numbered as they are named.
    numbered: Vec<u32>,
    /// Whether each page was named.
    known: Vec<bool>,
    /// Fetches after which the crawl is to end.
    pub most: usize,
    /// The pages that were fetched.
    pub visits: Vec<usize>,
    /// When each of them was fetched.
    pub moments: Vec<Moment>,
    /// The pages that were fetched and not kept.
    pub drops: Vec<usize>,
}

impl<'a, O: FnMut(Named) -> bool> Wall<'a, O> {
    pub fn new(web: Web<'a>, needs: Needs, ours: O) -> Self {
        let elsewhere = PageUrl::parse(&format!("http://{ELSEWHERE}/")).expect("it is a URL");
        Self {
            web,
            needs,
            ours,
            elsewhere: Lead::seed(&elsewhere),
            numbered: Vec::new(),
            known: vec![false; web.graph.pages()],
            most: usize::MAX,
            visits: Vec::new(),
            moments: Vec::new(),
            drops: Vec::new(),
        }
    }

    /// Has the crawl hear of a page; `None`: it has.
    pub fn name(&mut self, named: Named) -> Option<Offer> {
        if !self.enroll(named.page) {
            return None;
        }
        Some(Offer {
            url: self.web.graph.url(named.page).clone(),
            depth: named.depth,
            hops: 0,
            source: named.source,
        })
    }

    /// Has other pages be heard of from now on.
    pub fn follow(&mut self, ours: O) {
        self.ours = ours;
    }

    /// Takes note that a page is named. Returns whether it is for the first time.
    fn enroll(&mut self, page: usize) -> bool {
        let new = !std::mem::replace(&mut self.known[page], true);
        if new {
            self.numbered.push(page as u32);
        }
        new
    }

    /// A link of a page, as the crawl sees it.
    fn lead(&mut self, from: &Claim, page: usize, nth: usize, to: usize) -> Lead {
        if !self.known[to] {
            let named = Named {
                page: to,
                depth: from.discovery.depth.saturating_add(1),
                source: Some(from.key.page),
            };
            if !(self.ours)(named) {
                return self.elsewhere.clone();
            }
            self.enroll(to);
        }
        let url = self.web.graph.url(to);
        self.web.lead(page, nth, url, self.needs)
    }
}

impl<O: FnMut(Named) -> bool> Responder for Wall<'_, O> {
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
            Text::Whole { title, body, .. } if self.needs.text => Some(ReadText {
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

    fn has_enough(&self) -> bool {
        self.visits.len() >= self.most
    }

    fn dropped(&mut self, page: Number) {
        self.drops.push(self.numbered[page.index()] as usize);
    }
}
