//! Which servers are there, how far away and how slow is each, and which pages has it?
//!
//! **Invariant:** every page can be reached from the home pages, so that every crawl to the end fetches
//! the same pages; each host is a server of its own; times are whole microseconds.

use std::collections::{BTreeSet, HashMap};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use page::HostId;
use testweb::site::{Plan, Scope, Server as Habits, ServerNumber, Web};

use super::http::Http;
use crate::world::Graph;

/// Pages on servers.
#[derive(Debug, Clone)]
pub struct Network {
    graph: Graph,
    homes: Vec<usize>,
    servers: Vec<Server>,
    hosts: HashMap<HostId, usize>,
}

/// A server as a connection finds it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Server {
    /// What a connection takes, and again every request that was not sent before the last answer came.
    pub round_trip: Duration,
    /// What the server takes over every answer.
    pub response: Duration,
    /// Requests that it answers on one connection.
    pub requests_per_connection: u32,
    /// Pages that it has.
    pub pages: u32,
}

impl Network {
    /// The servers of an invented web, with all times multiplied by `slowness`.
    ///
    /// Only what a crawl may fetch is in it: what robots.txt files forbid is not. Every page answers when it
    /// is first asked for; a redirect is a page with one link and an error one without.
    pub fn of_web(web: &Web, slowness: f64) -> Self {
        let homes: Vec<_> = web.servers().map(|(server, _)| web.home(server)).collect();
        let reachable = web.reachable(&homes, Scope::Any, 0.0);
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

    /// The hosts of a graph, each a server whose habits are drawn as those of [`Plan::two_level`] are.
    ///
    /// The home page of a host is the page with the shortest URL, of equals the first.
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
        let plan = Plan {
            servers: homes.len(),
            pages: homes.len(),
            ..Plan::two_level(seed)
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
        habits: impl Fn(usize) -> Habits,
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
            network.servers.push(Server {
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

    /// The pages and their links.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The home pages, in the order of the servers.
    pub fn homes(&self) -> &[usize] {
        &self.homes
    }

    /// The servers.
    pub fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// The server that a page is on.
    pub fn server_of(&self, page: usize) -> usize {
        self.hosts[&self.graph.url(page).host()]
    }

    /// What no strategy can beat, in seconds: the work of all connections, if none ever rests, and the
    /// slowest server's alone.
    pub fn least_seconds(&self, http: Http, connections: u16) -> (f64, f64) {
        let times: Vec<f64> = self.servers.iter().map(|one| one.least(http)).collect();
        let all: f64 = times.iter().sum();
        let slowest = times.into_iter().fold(0.0, f64::max);
        (all / f64::from(connections), slowest)
    }

    pub(super) fn at_host(&self, host: HostId) -> usize {
        self.hosts[&host]
    }

    /// An address for each server, no two alike.
    pub(super) fn address(&self, server: usize) -> IpAddr {
        let first = u32::from(Ipv4Addr::new(10, 0, 0, 0));
        Ipv4Addr::from(first.wrapping_add(server as u32)).into()
    }
}

#[cfg(test)]
impl Network {
    /// Gives all servers other habits.
    pub(super) fn set_habits(&mut self, habits: impl Fn(&Server) -> Server) {
        for server in &mut self.servers {
            *server = habits(server);
        }
    }

    /// Gives one server another response time.
    pub(super) fn set_one(&mut self, server: usize, response: Duration) {
        self.servers[server].response = response;
    }
}

impl Server {
    /// Seconds that all its pages and its robots.txt take over one connection at a time.
    fn least(&self, http: Http) -> f64 {
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
