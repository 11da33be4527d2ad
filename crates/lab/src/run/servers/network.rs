//! A network of simulated servers, with their delays and pages.
//!
//! **Invariant:** every page is reachable from the home pages, so every complete crawl fetches
//! the same pages. Each host is a server of its own. Times are whole microseconds.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use page::{HostId, PageId, PageUrl};
use rand_distr::{Distribution, LogNormal};
use testweb::chance::{For, stream};
use testweb::site::{InventedServer, PageNumber, ServerNumber, TruthScope, Web, WebPlan};

use super::http::SimulatedProtocol;
use crate::world::Graph;

/// Servers and their pages.
#[derive(Debug, Clone)]
pub struct SimulatedNetwork {
    graph: Graph,
    homes: Vec<usize>,
    servers: Vec<SimulatedServer>,
    hosts: HashMap<HostId, usize>,
    /// Bytes of each page.
    bytes: HashMap<PageId, u32>,
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
        let habits =
            |home: usize| SimulatedServer::slowed(web.server(ServerNumber(home as u32)), slowness);
        let bytes = |page: usize| web.page(PageNumber(page as u32)).size();
        let homes = homes.into_iter().filter(|home| reachable.contains(home));
        let homes = homes.map(|home| home.0 as usize).collect();
        let pages = reachable.into_iter().map(|page| page.0 as usize).collect();
        Self::new(&graph, pages, homes, habits, bytes)
    }

    /// Makes a network from a graph. Each host is a server with random delays, drawn as by
    /// [`WebPlan::two_level`], and each page has a random size.
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
            SimulatedServer::slowed(drawn.server(ServerNumber(place as u32)), slowness)
        };
        let sizes = LogNormal::new(plan.sizes.median.ln(), plan.sizes.sigma);
        let sizes = sizes.expect("the standard deviation of the plan is finite");
        let bytes = |page: usize| {
            let chance = &mut stream(seed, For::Sizes, page as u64, 0);
            sizes.sample(chance) as u32
        };
        let pages = graph.reachable(&homes).into_iter().collect();
        Self::new(graph, pages, homes.clone(), habits, bytes)
    }

    fn new(
        graph: &Graph,
        pages: BTreeSet<usize>,
        homes: Vec<usize>,
        habits: impl Fn(usize) -> SimulatedServer,
        bytes: impl Fn(usize) -> u32,
    ) -> Self {
        let pages: Vec<usize> = pages.into_iter().collect();
        let places: HashMap<usize, usize> = pages.iter().copied().zip(0..).collect();
        let mut network = Self {
            graph: graph.among(&pages),
            homes: homes.iter().map(|home| places[home]).collect(),
            servers: Vec::new(),
            hosts: HashMap::new(),
            bytes: pages
                .iter()
                .map(|&page| (graph.url(page).id(), bytes(page)))
                .collect(),
        };
        for (place, &home) in homes.iter().enumerate() {
            network.hosts.insert(graph.url(home).host(), place);
            network.servers.push(SimulatedServer {
                pages: 0,
                ..habits(home)
            });
        }
        for page in 0..network.graph.pages() {
            let server = network.server_of(page);
            network.servers[server].pages += 1;
        }
        network
    }

    /// Returns the network of the `count` largest servers that answer a request within `limit`
    /// and serve at least `requests` over a connection; `None` if there are fewer.
    ///
    /// The largest are taken, so that they do not run out of pages early. Only pages that can be
    /// reached from the home pages of these servers remain.
    pub fn fast(&self, count: usize, limit: Duration, requests: u32) -> Option<Self> {
        let is_fast = |server: &SimulatedServer| {
            server.round_trip + server.response < limit
                && server.requests_per_connection >= requests
        };
        let servers = (0..self.servers.len()).filter(|&place| is_fast(&self.servers[place]));
        let mut chosen: Vec<usize> = servers.collect();
        if chosen.len() < count {
            return None;
        }
        chosen.sort_by_key(|&place| Reverse(self.servers[place].pages));
        chosen.truncate(count);
        let within = |page: &usize| chosen.contains(&self.server_of(*page));
        let pages: Vec<usize> = (0..self.graph.pages()).filter(within).collect();
        let graph = self.graph.among(&pages);
        let places: HashMap<usize, usize> = pages.iter().copied().zip(0..).collect();
        let homes = chosen.iter().map(|&server| places[&self.homes[server]]);
        let homes: Vec<usize> = homes.collect();
        let reached = graph.reachable(&homes).into_iter().collect();
        let habits = |home: usize| self.servers[self.server_of(pages[home])];
        let bytes = |page: usize| self.bytes(graph.url(page));
        Some(Self::new(&graph, reached, homes, habits, bytes))
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

    /// Returns the size of a page.
    pub(super) fn bytes(&self, url: &PageUrl) -> u32 {
        self.bytes[&url.id()]
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

    /// Replaces the sizes of all pages.
    pub(super) fn set_bytes(&mut self, bytes: u32) {
        self.bytes.values_mut().for_each(|size| *size = bytes);
    }

    /// Replaces the response time of one server.
    pub(super) fn set_one(&mut self, server: usize, response: Duration) {
        self.servers[server].response = response;
    }
}

impl SimulatedServer {
    fn slowed(invented: &InventedServer, slowness: f64) -> Self {
        let slowed = |time: Duration| {
            Duration::from_micros((time.as_secs_f64() * slowness * 1e6).round() as u64)
        };
        Self {
            round_trip: slowed(invented.round_trip),
            response: slowed(invented.response_latency),
            requests_per_connection: invented.requests_per_connection,
            pages: 0,
        }
    }

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
