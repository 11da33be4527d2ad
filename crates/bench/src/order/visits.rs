//! How does the engine choose and settle pages, without the web?
//!
//! As `avocet::engine`: 64 visits at once, each asks for one page after another, and for more while that
//! pays. **Invariant:** a decision is a page claimed and settled, and whatever that moves on the bench.

use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use frontier::bench::Turn;
use frontier::{Bound, Frontier, Visit};
use page::PageId;
use policy::{Crawl, History, Moment, Outcome};

use crate::speed::{Line, Speed};

/// Connections of `avocet crawl` by default.
const CONNECTIONS: usize = 64;

/// The visits under way.
#[derive(Default)]
pub struct Visits {
    under_way: Vec<(Visit, Line)>,
    turn: usize,
}

impl Visits {
    /// Claims and settles one page; `None`: nothing waits.
    pub fn decide(&mut self, frontier: &mut Frontier<Crawl>, now: Moment) -> Option<PageId> {
        loop {
            if self.under_way.len() < CONNECTIONS
                && let Turn::Visit(visit) = frontier.bench.next(now)
            {
                self.begin(frontier, visit);
                continue;
            }
            if self.under_way.is_empty() {
                return None;
            }
            self.turn = (self.turn + 1) % self.under_way.len();
            let free = self.under_way.len() < CONNECTIONS;
            let (visit, line) = &mut self.under_way[self.turn];
            if visit.first().is_none() && line.is_open() {
                frontier.bench.more(visit, free, now);
            }
            if let Some(number) = visit.first() {
                let page = frontier.page(visit.host, number);
                let before = History::discovered(now, 1);
                let after = before.after(policy::Visit::new(now, Outcome::Changed));
                frontier.visited(page, &before, &after, now);
                visit.settled(number);
                line.answer(&mut visit.estimate);
                return Some(page);
            }
            let (visit, _) = self.under_way.swap_remove(self.turn);
            // As if closed: how many connections stay open, and which, is the engine's to say.
            frontier.bench.settle(visit, now, Duration::ZERO, false);
        }
    }

    fn begin(&mut self, frontier: &mut Frontier<Crawl>, visit: Visit) {
        let speed = Speed::of(visit.host);
        // Every host has an address of its own, so no visit is moved.
        let address = IpAddr::V6(Ipv6Addr::from(u128::from(visit.host.0)));
        if let Bound::Go(mut visit) = frontier.bench.bind(visit, address) {
            let line = speed.open(&mut visit.estimate);
            self.under_way.push((visit, line));
        }
    }
}
