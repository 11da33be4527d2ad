//! The request log of the servers.
//!
//! Tests compare a crawler's reports with this log.
//!
//! **Invariant:** a request is under way from the moment its head was read until its answer was
//! passed to the kernel. This is before the client can have all of the answer. So a client that
//! waits for the end of one answer before the next request is never seen with two requests.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::time::Instant;

use super::web::ServerNumber;

/// The requests to all servers of a web.
#[derive(Debug)]
pub struct RequestLog {
    start: Instant,
    servers: Vec<(SocketAddr, Mutex<ServerLog>)>,
}

/// One request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedRequest {
    /// Path and query.
    pub path: Arc<str>,
    /// The status of the answer; 0 if there was none.
    pub status: u16,
    /// The number of its connection, from 0 on each server.
    pub connection: u32,
    /// When its head had been read, since the start of the web.
    pub arrived: Duration,
    /// When its answer was complete; `None` while it is under way, or if the client left before the
    /// answer began.
    pub answered: Option<Duration>,
}

#[derive(Debug, Default)]
struct ServerLog {
    visits: Vec<RecordedRequest>,
    /// Number of requests for each path.
    counts: HashMap<Arc<str>, u32>,
    connections: u32,
    open: PeakGauge,
    pending: PeakGauge,
}

/// A gauge with its maximum.
#[derive(Debug, Default)]
struct PeakGauge {
    now: u32,
    most: u32,
}

impl RequestLog {
    pub(super) fn new(addresses: impl Iterator<Item = SocketAddr>) -> Self {
        Self {
            start: Instant::now(),
            servers: addresses
                .map(|address| (address, Mutex::default()))
                .collect(),
        }
    }

    /// Returns the number of requests for each URL, including robots.txt.
    pub fn counts(&self) -> BTreeMap<String, u32> {
        let mut all = BTreeMap::new();
        for (address, server_log) in &self.servers {
            let counts = &lock(server_log).counts;
            all.extend(
                counts
                    .iter()
                    .map(|(path, &n)| (format!("http://{address}{path}"), n)),
            );
        }
        all
    }

    /// Returns the number of requests to all servers.
    pub fn requests(&self) -> usize {
        self.servers
            .iter()
            .map(|(_, server_log)| lock(server_log).visits.len())
            .sum()
    }

    /// Returns the requests to a server, in the order of arrival.
    pub fn visits(&self, server: ServerNumber) -> Vec<RecordedRequest> {
        self.server_log(server).visits.clone()
    }

    /// Returns when each path of a server was first answered completely with 200.
    pub(super) fn first_answers(&self, server: ServerNumber) -> HashMap<Arc<str>, Duration> {
        let mut first: HashMap<Arc<str>, Duration> = HashMap::new();
        for visit in &self.server_log(server).visits {
            if let (200, Some(at)) = (visit.status, visit.answered) {
                let known = first.entry(Arc::clone(&visit.path)).or_insert(at);
                *known = at.min(*known);
            }
        }
        first
    }

    /// Returns the maximum number of concurrent requests to a server; 1 for a polite crawler.
    pub fn most_at_once(&self, server: ServerNumber) -> u32 {
        self.server_log(server).pending.most
    }

    /// Returns the number of connections to a server.
    pub fn connections(&self, server: ServerNumber) -> u32 {
        self.server_log(server).connections
    }

    /// Returns the maximum number of concurrent connections to a server.
    ///
    /// A server notices a close a moment after the client. So a client that closes one
    /// connection and opens the next can be seen with two.
    pub fn most_connections(&self, server: ServerNumber) -> u32 {
        self.server_log(server).open.most
    }

    /// Returns the pauses of a server, from the end of each answer to the next request. After a
    /// request without a complete answer, the pause counts from the start of the web.
    pub fn gaps(&self, server: ServerNumber) -> Vec<Duration> {
        let server_log = self.server_log(server);
        let pairs = server_log.visits.windows(2);
        pairs
            .map(|two| {
                two[1]
                    .arrived
                    .saturating_sub(two[0].answered.unwrap_or_default())
            })
            .collect()
    }

    fn server_log(&self, server: ServerNumber) -> MutexGuard<'_, ServerLog> {
        lock(&self.servers[server.0 as usize].1)
    }
}

/// An open connection; dropping it logs the close.
pub(super) struct OpenConnection {
    log: Arc<RequestLog>,
    server: ServerNumber,
    number: u32,
}

/// A request under way; dropping it logs the end of the answer.
pub(super) struct PendingRequest {
    log: Arc<RequestLog>,
    server: ServerNumber,
    visit: usize,
    /// Number of earlier requests for the same path.
    pub earlier: u32,
}

impl OpenConnection {
    pub fn new(log: Arc<RequestLog>, server: ServerNumber) -> Self {
        let number = {
            let mut server_log = log.server_log(server);
            server_log.open.rise();
            server_log.connections += 1;
            server_log.connections - 1
        };
        Self {
            log,
            server,
            number,
        }
    }

    pub fn request(&self, path: &str) -> PendingRequest {
        let arrived = self.log.start.elapsed();
        let mut server_log = self.log.server_log(self.server);
        server_log.pending.rise();
        let path = match server_log.counts.get_key_value(path) {
            Some((path, _)) => Arc::clone(path),
            None => Arc::from(path),
        };
        let count = server_log.counts.entry(Arc::clone(&path)).or_default();
        let earlier = *count;
        *count += 1;
        let visit = server_log.visits.len();
        let connection = self.number;
        server_log.visits.push(RecordedRequest {
            path,
            status: 0,
            connection,
            arrived,
            answered: None,
        });
        PendingRequest {
            log: Arc::clone(&self.log),
            server: self.server,
            visit,
            earlier,
        }
    }
}

impl PendingRequest {
    pub fn answered_with(&self, status: u16) {
        self.log.server_log(self.server).visits[self.visit].status = status;
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.log.server_log(self.server).open.now -= 1;
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        let now = self.log.start.elapsed();
        let mut server_log = self.log.server_log(self.server);
        server_log.pending.now -= 1;
        let visit = &mut server_log.visits[self.visit];
        // A status of 0 means that the client left before the answer.
        visit.answered = (visit.status != 0).then_some(now);
    }
}

impl PeakGauge {
    fn rise(&mut self) {
        self.now += 1;
        self.most = self.most.max(self.now);
    }
}

fn lock(server_log: &Mutex<ServerLog>) -> MutexGuard<'_, ServerLog> {
    server_log
        .lock()
        .expect("another task panicked while it held this lock")
}
