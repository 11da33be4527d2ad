//! Simulated connections: their delays, and when the server closes them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use crawl::{ConnectionId, ConnectionState};
use page::PageUrl;
use policy::Moment;

use super::costs::{FIRST_WINDOW, Processor, slow_start};
use super::http::PipeliningMemory;
use super::{Crawler, Dial, SimulatedNetwork};
use crate::run::driver::{Connections, CrawlerWork, PendingAnswer};

/// The connections to the servers of a network.
pub(super) struct SimulatedConnections<'a> {
    network: &'a SimulatedNetwork,
    crawler: &'a Crawler,
    /// Pipelining state of each server.
    pipelining: Vec<PipeliningMemory>,
    open: HashMap<ConnectionId, SimulatedConnection>,
    /// When the connections that are closing will be closed. They keep their places until then.
    closing: Vec<Moment>,
    /// The processor of the crawler.
    pub processor: Processor,
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
    /// Segments that the server may send before an acknowledgement.
    window: u32,
}

impl<'a> SimulatedConnections<'a> {
    pub fn new(network: &'a SimulatedNetwork, crawler: &'a Crawler) -> Self {
        Self {
            network,
            crawler,
            pipelining: vec![PipeliningMemory::default(); network.servers().len()],
            open: HashMap::new(),
            closing: Vec::new(),
            processor: Processor::default(),
            dials: 0,
            most_open: 0,
        }
    }

    /// Returns how long a new connection waits for a place, because too many others are closing.
    fn wait_for_place(&mut self, now: Moment) -> Duration {
        self.closing.retain(|closed| *closed > now);
        let places = usize::from(self.crawler.connections);
        let taken = self.open.len() + self.closing.len();
        if taken < places {
            return Duration::ZERO;
        }
        // The new connection takes the place of the one that is closed first.
        let first = (0..self.closing.len()).min_by_key(|&at| self.closing[at]);
        first.map_or(Duration::ZERO, |at| self.closing.swap_remove(at).since(now))
    }

    /// Returns the delay of an answer of this size after the first segments have arrived, and
    /// opens the window of the connection.
    fn transfer(&mut self, connection: ConnectionId, bytes: u32) -> Duration {
        if !self.crawler.costs.tcp {
            return Duration::ZERO;
        }
        let state = self.open.get_mut(&connection).expect("it is open");
        let (round_trips, window) = slow_start(bytes, state.window);
        state.window = window;
        self.network.servers()[state.server].round_trip * round_trips
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

    fn connect(
        &mut self,
        connection: ConnectionId,
        url: &PageUrl,
        now: Moment,
    ) -> (Duration, usize) {
        let wait = self.wait_for_place(now);
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
            window: FIRST_WINDOW,
        };
        self.open.insert(connection, state);
        self.dials += 1;
        self.most_open = self.most_open.max(self.open.len());
        (wait + took, width)
    }

    fn send_requests(
        &mut self,
        connection: ConnectionId,
        pages: &[&PageUrl],
    ) -> Vec<PendingAnswer> {
        let mut answers: Vec<PendingAnswer> = Vec::new();
        for page in pages {
            if answers.last().is_some_and(|last| !last.connection.open) {
                break;
            }
            let mut answer = self.send_other_request(connection);
            if let Some(before) = answers.last() {
                // The request was sent with the previous one, so the server starts on it without
                // a round trip.
                let state = self.open[&connection];
                answer.took = self.network.servers()[state.server].response;
                answer.after = before.after + answer.took;
            }
            let transfer = self.transfer(connection, self.network.bytes(page));
            answer.took += transfer;
            answer.after += transfer;
            answers.push(answer);
        }
        self.record_pipelining(connection, answers.len(), pages.len());
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

    fn closed(&mut self, connection: ConnectionId, now: Moment) {
        let closed = self.open.remove(&connection);
        if let Some(state) = closed.filter(|_| self.crawler.costs.tcp) {
            let round_trip = self.network.servers()[state.server].round_trip;
            self.closing.push(now + round_trip);
        }
    }

    fn process(&mut self, work: CrawlerWork, now: Moment) -> Duration {
        self.processor.process(work, &self.crawler.costs, now)
    }
}
