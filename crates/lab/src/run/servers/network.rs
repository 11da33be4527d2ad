//! A network of simulated servers, with their delays and pages.
//!
//! **Invariant:** every page is reachable from the home pages, so every complete crawl fetches
//! the same pages. Each host is a server of its own. Times are whole microseconds.

use std::collections::{BTreeSet, HashMap};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use page::HostId;
use testweb::site::{InventedServer, ServerNumber, TruthScope, Web, WebPlan};

use super::http::SimulatedProtocol;
use crate::world::Graph;

/// Servers and their pages.
#[derive(Debug, Clone)]
pub struct SimulatedNetwork {
    graph: Graph,
    homes: Vec<usize>,
    servers: Vec<SimulatedServer>,
    hosts: HashMap<HostId, usize>,
}

/// The behaviour of a server on a connection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimulatedServer {
    /// Delay of a new connection, and of each request that is not pipelined behind another.
    pub round_trip: Duration,
    /// Server time for each answer.
    pub response: Duration,
    /// Greatest number of requests that it answers on one connection.
    pub requests_per_connection: u32,
    /// Number of its pages.
    pub pages: u32,
}

impl SimulatedNetwork {
    /// Makes a network from the servers of an invented web, with all times multiplied by
    /// `slowness`.
    ///
    /// The network contains only pages that a crawl may fetch, so none that a robots.txt forbids.
    /// Every page answers the first request. A redirect is a page with one link, and an error is a
    /// page without links.
    pub fn of_web(web: &Web, slowness: f64) -> Self {
        let homes: Vec<_> = web.servers().map(|(server, _)| web.home(server)).collect();
        let reachable = web.reachable(&homes, TruthScope::Any, 0.0);
        let urls: Vec<String> = web.urls(80).collect();
        let edges = web.pages().flat_map(|page| {
            let from = page.number();
            let links = web.leads_to(from, 0.0).into_iter();
            links.map(move |to| (from.0 as usize, to.0 as usize))
        });
        let graph = Graph::new(urls.iter().map(String::as_str), edges);
        let habits = |home: usize| web.server(ServerNumber(home as u32)).clone();
        let homes = homes.into_iter().filter(|home| reachable.contains(home));
        let homes = homes.map(|home| home.0 as usize).collect();
        let pages = reachable.into_iter().map(|page| page.0 as usize).collect();
        Self::new(&graph, pages, homes, habits, slowness)
    }

    /// Makes a network from a graph. Each host is a server with random delays, drawn as by
    /// [`WebPlan::two_level`].
    ///
    /// The home page of a host is the page with the shortest URL; ties go to the first.
    pub fn of_graph(graph: &Graph, seed: u64, slowness: f64) -> Self {
        let mut places: HashMap<HostId, usize> = HashMap::new();
        let mut homes: Vec<usize> = Vec::new();
        for page in 0..graph.pages() {
            let place = *places.entry(graph.url(page).host()).or_insert(homes.len());
            let length = |page: usize| graph.url(page).as_str().len();
            match homes.get_mut(place) {
                None => homes.push(page),
                Some(home) if length(page) < length(*home) => *home = page,
                Some(_) => {}
            }
        }
        let plan = WebPlan {
            servers: homes.len(),
            pages: homes.len(),
            ..WebPlan::two_level(seed)
        };
        let drawn = plan.invent();
        let habits = |home: usize| {
            let place = places[&graph.url(home).host()];
            drawn.server(ServerNumber(place as u32)).clone()
        };
        let pages = graph.reachable(&homes).into_iter().collect();
        Self::new(graph, pages, homes.clone(), habits, slowness)
    }

    fn new(
        graph: &Graph,
        pages: BTreeSet<usize>,
        homes: Vec<usize>,
        habits: impl Fn(usize) -> InventedServer,
        slowness: f64,
    ) -> Self {
        let pages: Vec<usize> = pages.into_iter().collect();
        let places: HashMap<usize, usize> = pages.iter().copied().zip(0..).collect();
        let mut network = Self {
            graph: graph.among(&pages),
            homes: homes.iter().map(|home| places[home]).collect(),
            servers: Vec::new(),
            hosts: HashMap::new(),
        };
        for (place, &home) in homes.iter().enumerate() {
            let habits = habits(home);
            network.hosts.insert(graph.url(home).host(), place);
            network.servers.push(SimulatedServer {
                round_trip: slowed(habits.round_trip, slowness),
                response: slowed(habits.response_latency, slowness),
                requests_per_connection: habits.requests_per_connection,
                pages: 0,
            });
        }
        for page in 0..network.graph.pages() {
            let server = network.server_of(page);
            network.servers[server].pages += 1;
        }
        network
    }

    /// Returns the pages and their links.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the home pages, in the order of the servers.
    pub fn homes(&self) -> &[usize] {
        &self.homes
    }

    /// Returns the servers.
    pub fn servers(&self) -> &[SimulatedServer] {
        &self.servers
    }

    /// Returns the server of a page.
    pub fn server_of(&self, page: usize) -> usize {
        self.hosts[&self.graph.url(page).host()]
    }

    /// Returns two lower bounds on the duration of any crawl, in seconds: the total work divided
    /// by the number of connections, and the work of the slowest server.
    pub fn least_seconds(&self, http: SimulatedProtocol, connections: u16) -> (f64, f64) {
        let times: Vec<f64> = self.servers.iter().map(|one| one.least(http)).collect();
        let all: f64 = times.iter().sum();
        let slowest = times.into_iter().fold(0.0, f64::max);
        (all / f64::from(connections), slowest)
    }

    pub(super) fn at_host(&self, host: HostId) -> usize {
        self.hosts[&host]
    }

    /// Returns the address of a server. No two servers share one.
    pub(super) fn address(&self, server: usize) -> IpAddr {
        let first = u32::from(Ipv4Addr::new(10, 0, 0, 0));
        Ipv4Addr::from(first.wrapping_add(server as u32)).into()
    }
}

#[cfg(test)]
impl SimulatedNetwork {
    /// Replaces the behaviour of all servers.
    pub(super) fn set_habits(&mut self, habits: impl Fn(&SimulatedServer) -> SimulatedServer) {
        for server in &mut self.servers {
            *server = habits(server);
        }
    }

    /// Replaces the response time of one server.
    pub(super) fn set_one(&mut self, server: usize, response: Duration) {
        self.servers[server].response = response;
    }
}

impl SimulatedServer {
    /// Returns the seconds that all its pages and its robots.txt take, over one connection at a
    /// time.
    fn least(&self, http: SimulatedProtocol) -> f64 {
        let requests = self.pages + 1;
        let dials = requests.div_ceil(http.carries(self.requests_per_connection));
        let waits = requests.div_ceil(http.width() as u32).max(dials);
        f64::from(dials + waits) * self.round_trip.as_secs_f64()
            + f64::from(requests) * self.response.as_secs_f64()
    }
}

fn slowed(time: Duration, slowness: f64) -> Duration {
    Duration::from_micros((time.as_secs_f64() * slowness * 1e6).round() as u64)
}
