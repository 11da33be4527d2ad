//! The connections of a crawl to simulated servers: what they cost, and when they end.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use crawl::{ConnectionId, ConnectionState};
use page::PageUrl;

use super::http::Pipelining;
use super::{Crawler, Dial, Network};
use crate::run::driver::{Arriving, Connections};

/// The connections to the servers of a network.
pub(super) struct Lines<'a> {
    network: &'a Network,
    crawler: &'a Crawler,
    /// How each server takes pipelining.
    pipelining: Vec<Pipelining>,
    open: HashMap<ConnectionId, Line>,
    /// Connections made.
    pub dials: u64,
    /// The most connections that were open at once.
    pub most_open: usize,
}

/// A connection.
#[derive(Debug, Clone, Copy)]
struct Line {
    server: usize,
    /// Answers that it gave, or that are on their way.
    served: u32,
    /// Answers that it will give.
    carries: u32,
    /// Requests that may be out at once.
    width: usize,
    /// What the first answer takes longer than the others.
    late: Duration,
}

impl<'a> Lines<'a> {
    pub fn new(network: &'a Network, crawler: &'a Crawler) -> Self {
        Self {
            network,
            crawler,
            pipelining: vec![Pipelining::default(); network.servers().len()],
            open: HashMap::new(),
            dials: 0,
            most_open: 0,
        }
    }

    /// Takes note of how many of several requests that were sent at once are answered.
    fn took(&mut self, connection: ConnectionId, answers: usize, requests: usize) {
        let line = self.open[&connection];
        if requests > 1 {
            self.pipelining[line.server].took(line.width, answers, requests - answers);
        }
    }
}

impl Connections for Lines<'_> {
    fn address(&self, url: &PageUrl) -> Option<IpAddr> {
        let server = self.network.at_host(url.host());
        Some(self.network.address(server))
    }

    fn connect(&mut self, connection: ConnectionId, url: &PageUrl) -> (Duration, usize) {
        let server = self.network.at_host(url.host());
        let habits = &self.network.servers()[server];
        let http = self.crawler.http;
        let (took, late) = match self.crawler.dial {
            Dial::Network => (habits.round_trip, Duration::ZERO),
            Dial::Loopback => (Duration::ZERO, habits.round_trip),
        };
        let width = self.pipelining[server].width(http.width());
        let line = Line {
            server,
            served: 0,
            carries: http.carries(habits.requests_per_connection),
            width,
            late,
        };
        self.open.insert(connection, line);
        self.dials += 1;
        self.most_open = self.most_open.max(self.open.len());
        (took, width)
    }

    fn ask(&mut self, connection: ConnectionId, requests: usize) -> Vec<Arriving> {
        let mut answers: Vec<Arriving> = Vec::new();
        while answers.len() < requests && answers.last().is_none_or(|last| last.connection.open) {
            let mut answer = self.ask_beside(connection);
            if let Some(before) = answers.last() {
                // It was sent with the one before, so the server is at it already.
                let line = self.open[&connection];
                answer.took = self.network.servers()[line.server].response;
                answer.after = before.after + answer.took;
            }
            answers.push(answer);
        }
        self.took(connection, answers.len(), requests);
        answers
    }

    fn ask_beside(&mut self, connection: ConnectionId) -> Arriving {
        let line = self
            .open
            .get_mut(&connection)
            .expect("requests are sent over open connections");
        let habits = &self.network.servers()[line.server];
        let took = std::mem::take(&mut line.late) + habits.round_trip + habits.response;
        line.served += 1;
        Arriving {
            after: took,
            took,
            connection: ConnectionState {
                open: line.served < line.carries,
                served: line.served,
            },
        }
    }

    fn closed(&mut self, connection: ConnectionId) {
        self.open.remove(&connection);
    }
}
