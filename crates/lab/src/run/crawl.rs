//! How does a crawl without a network go on, page by page?
//!
//! What the engine does with an answer, here with a page of a world: its links are heard of, then the
//! policy is told what the page says. **Invariant:** numbers, facts and their order are those of the
//! engine (`avocet/src/engine/heard.rs`, `answered.rs`).

use std::time::Duration;

use frontier::bench::Manners;
use frontier::{Frontier, Link, Next, Reading, Visit};
use page::PageId;
use policy::server::{Quality, Strategy};
use policy::{Moment, Number, Policy, Price};

use super::wall::{Wall, Web};

/// Time that passes between two fetches: enough to tell them apart.
const STEP: Duration = Duration::from_micros(1);

/// A crawl of a world.
pub(super) struct Crawl<'a, P> {
    pub frontier: Frontier<P>,
    pub now: Moment,
    wall: Wall<'a>,
    /// Room for the links of a page.
    links: Vec<policy::Link<'a>>,
}

/// A page that something named.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named {
    pub page: usize,
    /// Links from a seed.
    pub depth: u16,
    /// The page that named it; `None`: a seed.
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

impl<'a, P: Policy> Crawl<'a, P> {
    /// A crawl that has heard of nothing.
    pub fn new(web: Web<'a>, policy: P, strategy: Box<dyn Strategy>, manners: Manners) -> Self {
        let wall = Wall::new(web, policy.needs());
        Self {
            frontier: Frontier::new(policy, strategy, Price::LEAST, manners, 0),
            now: Moment::START + STEP,
            wall,
            links: Vec::new(),
        }
    }

    /// One where servers cost nothing: a visit is for one page, and the best page anywhere is next.
    pub fn of_pages(web: Web<'a>, policy: P) -> Self {
        let manners = Manners {
            pages_per_visit: 1,
            pages_per_host: u32::MAX,
            ..Manners::default()
        };
        Self::new(web, policy, Box::new(Quality), manners)
    }

    /// Takes in a page that something named.
    pub fn hear(&mut self, named: Named) -> Number {
        let url = match self.wall.heard_of(named.page) {
            Ok(number) => return number,
            Err(url) => url,
        };
        let link = Link {
            url,
            depth: named.depth,
            hops: 0,
            source: named.source,
            absent: None,
        };
        let (number, fact) = self.frontier.hear(link, self.now);
        self.wall.enroll(named.page, named.depth, number);
        // There is no ledger to read the URL from, and nobody reads it: memory may let go of it.
        self.frontier.committed(&[fact]);
        number
    }

    /// The next visit, now or as soon as there is one.
    pub fn next(&mut self) -> Option<Visit> {
        loop {
            match self.frontier.bench.next(self.now) {
                Next::Idle => return None,
                Next::WaitUntil(moment) => self.now = moment,
                Next::Visit(visit) => return Some(visit),
            }
        }
    }

    /// Fetches the best page of all, which is `ours` to hear of as far as that says so. Returns its
    /// number; `None`: nothing waits.
    pub fn step(&mut self, ours: impl FnMut(Named) -> bool) -> Option<Number> {
        let mut visit = self.next()?;
        let number = visit.first();
        if let Some(number) = number {
            self.fetch(number, ours);
            visit.settled(number);
        }
        let bench = &mut self.frontier.bench;
        bench.settle(visit, self.now, Duration::ZERO, false);
        number
    }

    /// Fetches a page, and tells the policy. A link to a page that was not heard of is heard only if it
    /// is `ours`; it counts among the links of its page in any case.
    pub fn fetch(&mut self, number: Number, mut ours: impl FnMut(Named) -> bool) {
        self.now = self.now + STEP;
        let fetched = self.wall.fetch(number);
        let from = fetched.url.id();
        let depth = fetched.depth.saturating_add(1);
        let mut links = std::mem::take(&mut self.links);
        let mut out_links = 0;
        for (page, words) in fetched.links() {
            out_links += 1;
            let named = Named {
                page,
                depth,
                source: Some(from),
            };
            let to = match self.wall.heard_of(page) {
                Ok(number) => number,
                Err(_) if ours(named) => self.hear(named),
                Err(_) => continue,
            };
            links.push(policy::Link { to, ..words });
        }
        // The engine tells links by rising number.
        links.sort_unstable_by_key(|link| link.to);
        let reading = Reading {
            text: fetched.text,
            links: &links,
            out_links,
            again: false,
        };
        self.frontier.read(from, reading);
        links.clear();
        self.links = links;
    }

    /// Where a page is in the world, for whoever judges the crawl, and its depth.
    pub fn place(&self, number: Number) -> (usize, u16) {
        self.wall.place(number)
    }
}

/// All links are ours.
pub(super) fn all(_: Named) -> bool {
    true
}
