//! When a crawl over many connections fetches which page.
//!
//! The crawl core, driven by an event simulation of the network ([`Driver`]). Only the time that servers take is made up, and it passes
//! at once.
//!
//! A new connection costs a round trip, a request another, and an answer what the server takes over it: what
//! [`site`](testweb::site) adds on loopback. What costs nothing here: names, bytes, and the crawler's own work.
//!
//! **Invariant:** what a page links to is heard when its answer has come; of two things that happen at one moment the one
//! that was begun first comes first, so that a crawl is repeatable.

mod http;
mod lines;
mod network;

use crawl::Plan;
use policy::server::Strategy;
use policy::{Moment, Policy};

use super::driver::{Driver, NEVER};
use super::ordering::{STEP, by, seeded};
use super::wall::Wall;
use lines::Lines;

pub use http::{Depth, Http};
pub use network::{Network, Server};

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
    let policy = by(order);
    let mut wall = Wall::new(network.graph().into(), policy.needs(), |_| true);
    wall.most = crawler.pages.unwrap_or(usize::MAX);
    let plan = Plan {
        connections: crawler.connections.into(),
        width: crawler.http.width(),
        ..Plan::default()
    };
    let plan = seeded(plan, &mut wall, network.homes());
    let start = Moment::START + STEP;
    let lines = Lines::new(network, crawler);
    let mut driver = Driver::new(wall, lines, plan, (policy, strategy), start);
    driver.run(NEVER, []);
    let (wall, lines) = (driver.world, driver.connections);
    let fetched = wall.visits.iter().zip(&wall.moments);
    Crawled {
        fetched: fetched
            .map(|(&page, at)| (page as u32, at.since(start).as_secs_f64()))
            .collect(),
        dials: lines.dials,
        most_open: lines.most_open,
    }
}

#[cfg(test)]
mod tests;
