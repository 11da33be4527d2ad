//! When does a crawl over many connections fetch which page?
//!
//! An event simulation of what the engine does (`avocet/src/engine`, `engine/visit.rs`, `ask.rs`, `reach.rs`):
//! the production frontier, bench, strategy and estimates; a connection that is kept, closed or dialled
//! anew as the engine would; robots.txt before the first page of a server. Only the time that servers take is made up,
//! and it passes at once.
//!
//! A new connection costs a round trip, a request another, and an answer what the server takes over it: what
//! [`site`](crate::site) adds on loopback. What costs nothing here: names, bytes, and the crawler's own work.
//!
//! **Invariant:** what a page links to is heard when its answer has come; a visit waits for one thing at a
//! time; of two things that happen at one moment the one that was begun first comes first, so that a
//! crawl is repeatable.

mod call;
mod http;
mod line;
mod network;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use frontier::Next;
use frontier::bench::Manners;
use policy::server::Strategy;
use policy::{Moment, Policy};

use super::crawl::{Crawl, Named};
use call::Call;
use http::Pipelining;
use line::Idle;

pub use http::{Depth, Http};
pub use network::{Network, Server};

/// How often the engine looks for connections to close.
const TICK: Duration = Duration::from_millis(500);

/// How a crawler goes about it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crawler {
    /// Connections open at once.
    pub connections: u16,
    /// Which HTTP.
    pub http: Http,
    /// When a connection is open, as the crawler sees it.
    pub dial: Dial,
    /// Stop after so many pages; `None`: when there are no more.
    pub pages: Option<usize>,
}

/// When a connection is open, as the crawler sees it. Answers come at the same time either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dial {
    /// After a round trip, as on a network.
    Network,
    /// At once, since the kernel accepts loopback connections: the round trip is part of the wait
    /// for the first answer, and the crawler takes the server for slower and nearer than it is.
    Loopback,
}

/// What a crawl did.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Crawled {
    /// The pages in the order in which their answers came, each with the seconds since the start.
    pub fetched: Vec<(u32, f64)>,
    /// Connections made.
    pub dials: u64,
    /// The most connections that were open at once.
    pub most_open: usize,
}

/// Crawls a network from its home pages.
pub fn crawl(
    network: &Network,
    order: Box<dyn Policy>,
    strategy: Box<dyn Strategy>,
    crawler: &Crawler,
) -> Crawled {
    let policy = policy::Crawl {
        order,
        ..policy::Crawl::default()
    };
    let manners = Manners {
        pages_per_host: u32::MAX,
        width: crawler.http.width(),
        ..Manners::default()
    };
    let mut crawl = Crawl::new(network.graph().into(), policy, strategy, manners);
    for &home in network.homes() {
        crawl.hear(Named::seed(home));
    }
    let start = crawl.now;
    let simulation = Simulation {
        network,
        crawler,
        crawl,
        known: vec![Known::default(); network.servers().len()],
        calls: Vec::new(),
        free: Vec::new(),
        visits: 0,
        idle: Idle::default(),
        agenda: BinaryHeap::new(),
        turn: 0,
        tick: start,
        start,
        now: start,
        open: 0,
        crawled: Crawled::default(),
    };
    simulation.run()
}

struct Simulation<'a> {
    network: &'a Network,
    crawler: &'a Crawler,
    crawl: Crawl<'a, policy::Crawl>,
    /// What the crawler knows of each server.
    known: Vec<Known>,
    /// The visits under way; a place that is free holds `None`.
    calls: Vec<Option<Call>>,
    free: Vec<usize>,
    visits: usize,
    idle: Idle,
    /// When which call goes on, in the order in which that was decided.
    agenda: BinaryHeap<Reverse<(Moment, u64, usize)>>,
    turn: u64,
    /// When idle connections are looked at next.
    tick: Moment,
    start: Moment,
    now: Moment,
    /// Connections that are open.
    open: usize,
    crawled: Crawled,
}

/// What the crawler remembers of a server, beside the bench.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    /// When its robots.txt came.
    rules: Option<Moment>,
    pipelining: Pipelining,
}

impl Simulation<'_> {
    fn run(mut self) -> Crawled {
        loop {
            let wake = self.start_visits();
            let next = self.agenda.peek().map(|&Reverse((at, ..))| at);
            let Some(at) = [wake, next].into_iter().flatten().min() else {
                break;
            };
            self.close_idle(at);
            self.now = at;
            if next == Some(at)
                && let Some(Reverse((_, _, place))) = self.agenda.pop()
                && let Some(call) = self.calls[place].take()
            {
                self.proceed(place, call);
            }
            let fetched = self.crawled.fetched.len();
            if self.crawler.pages.is_some_and(|most| fetched >= most) {
                break;
            }
        }
        self.crawled
    }

    /// Starts visits while there is room; returns when to look again, whatever else happens.
    fn start_visits(&mut self) -> Option<Moment> {
        while self.visits < usize::from(self.crawler.connections) {
            match self.crawl.frontier.bench.next(self.now) {
                Next::Idle => return None,
                Next::WaitUntil(moment) => return Some(moment),
                Next::Visit(visit) => {
                    self.visits += 1;
                    let server = self.network.at_host(visit.host);
                    let place = self.free.pop().unwrap_or(self.calls.len());
                    if place == self.calls.len() {
                        self.calls.push(None);
                    }
                    self.go_on(place, Call::new(visit, server));
                }
            }
        }
        None
    }

    /// Closes connections that were idle for long, whenever the engine would have looked until then.
    fn close_idle(&mut self, until: Moment) {
        while self.tick <= until {
            if self.idle.is_empty() {
                let ticks = until.since(self.tick).as_micros() / TICK.as_micros() + 1;
                self.tick = self.tick + TICK * u32::try_from(ticks).unwrap_or(u32::MAX);
                continue;
            }
            for host in self.idle.close_old(self.tick) {
                self.open -= 1;
                self.crawl.frontier.bench.closed(host);
            }
            self.tick = self.tick + TICK;
        }
    }

    /// Lets a call wait for this long.
    fn wait(&mut self, place: usize, call: Call, time: Duration) {
        self.turn += 1;
        self.agenda
            .push(Reverse((self.now + time, self.turn, place)));
        self.calls[place] = Some(call);
    }
}

#[cfg(test)]
mod tests;
