//! Simulated connections: their delays, and when the server closes them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use crawl::{ConnectionId, ConnectionState};
use page::PageUrl;

use super::http::PipeliningMemory;
use super::{Crawler, Dial, SimulatedNetwork};
use crate::run::driver::{Connections, PendingAnswer};

/// The connections to the servers of a network.
pub(super) struct SimulatedConnections<'a> {
    network: &'a SimulatedNetwork,
    crawler: &'a Crawler,
    /// Pipelining state of each server.
    pipelining: Vec<PipeliningMemory>,
    open: HashMap<ConnectionId, SimulatedConnection>,
    /// Connections opened.
    pub dials: u64,
    /// Most connections open at once.
    pub most_open: usize,
}

#[derive(Debug, Clone, Copy)]
struct SimulatedConnection {
    server: usize,
    /// Answers given or scheduled.
    served: u32,
    /// Answers after which the server closes the connection.
    carries: u32,
    /// Requests that may be in flight.
    width: usize,
    /// Extra delay of the first answer.
    late: Duration,
}

impl<'a> SimulatedConnections<'a> {
    pub fn new(network: &'a SimulatedNetwork, crawler: &'a Crawler) -> Self {
        Self {
            network,
            crawler,
            pipelining: vec![PipeliningMemory::default(); network.servers().len()],
            open: HashMap::new(),
            dials: 0,
            most_open: 0,
        }
    }

    /// Records how many of several requests sent at once are answered.
    fn record_pipelining(&mut self, connection: ConnectionId, answers: usize, requests: usize) {
        let state = self.open[&connection];
        if requests > 1 {
            self.pipelining[state.server].record(state.width, answers, requests - answers);
        }
    }
}

impl Connections for SimulatedConnections<'_> {
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
        let state = SimulatedConnection {
            server,
            served: 0,
            carries: http.carries(habits.requests_per_connection),
            width,
            late,
        };
        self.open.insert(connection, state);
        self.dials += 1;
        self.most_open = self.most_open.max(self.open.len());
        (took, width)
    }

    fn send_requests(&mut self, connection: ConnectionId, requests: usize) -> Vec<PendingAnswer> {
        let mut answers: Vec<PendingAnswer> = Vec::new();
        while answers.len() < requests && answers.last().is_none_or(|last| last.connection.open) {
            let mut answer = self.send_other_request(connection);
            if let Some(before) = answers.last() {
                // The request was sent with the previous one, so the server starts on it without
                // a round trip.
                let state = self.open[&connection];
                answer.took = self.network.servers()[state.server].response;
                answer.after = before.after + answer.took;
            }
            answers.push(answer);
        }
        self.record_pipelining(connection, answers.len(), requests);
        answers
    }

    fn send_other_request(&mut self, connection: ConnectionId) -> PendingAnswer {
        let state = self
            .open
            .get_mut(&connection)
            .expect("requests are sent over open connections");
        let habits = &self.network.servers()[state.server];
        let took = std::mem::take(&mut state.late) + habits.round_trip + habits.response;
        state.served += 1;
        PendingAnswer {
            after: took,
            took,
            connection: ConnectionState {
                open: state.served < state.carries,
                served: state.served,
            },
        }
    }

    fn closed(&mut self, connection: ConnectionId) {
        self.open.remove(&connection);
    }
}
