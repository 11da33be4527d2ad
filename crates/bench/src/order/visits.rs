//! Chooses and settles pages as the engine does, without the network.
//!
//! There are 64 visits at the same time. Each fetches one page after another, and is extended while
//! the strategy allows it.
//!
//! **Invariant:** a decision is the claim and settlement of one page, with all changes of the
//! bench.

use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use frontier::bench::Turn;
use frontier::{Bound, Frontier, HostVisit};
use page::PageId;
use policy::{Crawl, History, Moment, Outcome};

use crate::speed::{BenchConnection, ServerSpeed};

/// The default number of connections of `avocet crawl`.
const CONNECTIONS: usize = 64;

/// The visits under way.
#[derive(Default)]
pub struct Visits {
    under_way: Vec<(HostVisit, BenchConnection)>,
    turn: usize,
}

impl Visits {
    /// Claims and settles one page. Returns `None` if no page waits.
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
            // Here the connection counts as closed. In a crawl, the engine may keep it open.
            frontier.bench.settle(visit, now, Duration::ZERO, false);
        }
    }

    fn begin(&mut self, frontier: &mut Frontier<Crawl>, visit: HostVisit) {
        let speed = ServerSpeed::of(visit.host);
        // Every host has its own address, so no visit is moved to another server.
        let address = IpAddr::V6(Ipv6Addr::from(u128::from(visit.host.0)));
        if let Bound::Go(mut visit) = frontier.bench.bind(visit, address) {
            let line = speed.open(&mut visit.estimate);
            self.under_way.push((visit, line));
        }
    }
}
