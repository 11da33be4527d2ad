//! Crawls over many connections, with simulated server times.
//!
//! The crawl core runs on an event simulation of the network ([`LabDriver`]). Time is
//! simulated: the driver jumps to the next event and does not wait.
//!
//! A new connection costs a round trip. A request costs another round trip and the response time
//! of the server. These are the delays that [`site`](testweb::site) adds on loopback.
//! [`CrawlerCosts`] add what a real network and a slow crawler cost: closing of connections, slow
//! start, and processor time. Name lookup costs nothing, and the network has no bandwidth limit.
//! The crawler measures the times of the network, not the wait for its processor.
//!
//! **Invariant:** the crawl learns the links of a page when its answer arrives. Events at the
//! same time happen in the order in which they were scheduled, so a crawl is repeatable.

mod connections;
mod costs;
mod http;
mod network;

use crawl::Plan;
use policy::server::Strategy;
use policy::{Moment, Policy};

use super::driver::{LabDriver, NEVER};
use super::ordering::{STEP, crawl_by, with_seeds};
use super::wall::Wall;
use connections::SimulatedConnections;

pub use costs::CrawlerCosts;
pub use http::{SimulatedDepth, SimulatedProtocol};
pub use network::{SimulatedNetwork, SimulatedServer};

/// Settings of the simulated crawler.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crawler {
    /// Connections open at once.
    pub connections: u16,
    /// HTTP version and pipelining.
    pub http: SimulatedProtocol,
    /// When the crawler sees a connection as open.
    pub dial: Dial,
    /// What else costs time.
    pub costs: CrawlerCosts,
    /// Number of pages after which the crawl stops; `None` to fetch all.
    pub pages: Option<usize>,
}

/// When the crawler sees a connection as open. Answers arrive at the same time either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dial {
    /// After a round trip, as on a network.
    Network,
    /// At once, because the kernel accepts loopback connections.
    ///
    /// The round trip becomes part of the wait for the first answer. The crawler then
    /// measures a shorter connection time and a longer response time.
    Loopback,
}

/// The result of a crawl.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Crawled {
    /// Pages by the arrival of their answers, with the seconds since the start.
    pub fetched: Vec<(u32, f64)>,
    /// Connections opened.
    pub dials: u64,
    /// Most connections open at once.
    pub most_open: usize,
    /// Processor time for answers, in seconds.
    pub answer_seconds: f64,
    /// Processor time for connections, in seconds.
    pub connection_seconds: f64,
}

/// Crawls a network from its home pages.
pub fn crawl(
    network: &SimulatedNetwork,
    order: Box<dyn Policy>,
    strategy: Box<dyn Strategy>,
    crawler: &Crawler,
) -> Crawled {
    let policy = crawl_by(order);
    let mut wall = Wall::new(network.graph().into(), policy.needs(), |_| true);
    wall.most = crawler.pages.unwrap_or(usize::MAX);
    let plan = Plan {
        connections: crawler.connections.into(),
        width: crawler.http.width(),
        ..Plan::default()
    };
    let plan = with_seeds(plan, &mut wall, network.homes());
    let start = Moment::START + STEP;
    let connections = SimulatedConnections::new(network, crawler);
    let mut driver = LabDriver::new(wall, connections, plan, (policy, strategy), start);
    driver.run(NEVER, []);
    let (wall, connections) = (driver.world, driver.connections);
    let fetched = wall.visits.iter().zip(&wall.moments);
    Crawled {
        fetched: fetched
            .map(|(&page, at)| (page as u32, at.since(start).as_secs_f64()))
            .collect(),
        dials: connections.dials,
        most_open: connections.most_open,
        answer_seconds: connections.processor.answers.as_secs_f64(),
        connection_seconds: connections.processor.connections.as_secs_f64(),
    }
}

#[cfg(test)]
mod tests;
