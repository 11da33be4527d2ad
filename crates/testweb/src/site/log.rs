//! What did the servers see?
//!
//! The oracle of tests: what a crawler says it did is held against it. **Invariant:** a request is
//! under way from the moment its head was read until its answer was handed to the kernel's side of
//! the connection, which is before the client can have all of it. So a client that waits for the
//! end of one answer before it sends the next request is never seen with two.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::time::Instant;

use super::web::ServerNumber;

/// What all servers of a web saw.
#[derive(Debug)]
pub struct Log {
    start: Instant,
    servers: Vec<(SocketAddr, Mutex<Seen>)>,
}

/// One request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit {
    /// Path and query.
    pub path: Arc<str>,
    /// The status it was answered with.
    pub status: u16,
    /// The connection it came on; they count from 0 on each server.
    pub connection: u32,
    /// When its head had been read, since the web was started.
    pub arrived: Duration,
    /// When its answer was done; `None` while it is under way, or if the client left before.
    pub answered: Option<Duration>,
}

#[derive(Debug, Default)]
struct Seen {
    visits: Vec<Visit>,
    /// Requests for each path.
    counts: HashMap<Arc<str>, u32>,
    connections: u32,
    open: Peak,
    under_way: Peak,
}

/// A number that goes up and down, and the highest it ever was.
#[derive(Debug, Default)]
struct Peak {
    now: u32,
    most: u32,
}

impl Log {
    pub(super) fn new(addresses: impl Iterator<Item = SocketAddr>) -> Self {
        Self {
            start: Instant::now(),
            servers: addresses
                .map(|address| (address, Mutex::default()))
                .collect(),
        }
    }

    /// Requests seen for each URL, robots.txt included.
    pub fn counts(&self) -> BTreeMap<String, u32> {
        let mut all = BTreeMap::new();
        for (address, seen) in &self.servers {
            let counts = &lock(seen).counts;
            all.extend(
                counts
                    .iter()
                    .map(|(path, &n)| (format!("http://{address}{path}"), n)),
            );
        }
        all
    }

    /// Requests seen by all servers.
    pub fn requests(&self) -> usize {
        self.servers
            .iter()
            .map(|(_, seen)| lock(seen).visits.len())
            .sum()
    }

    /// The requests a server saw, as they arrived.
    pub fn visits(&self, server: ServerNumber) -> Vec<Visit> {
        self.seen(server).visits.clone()
    }

    /// When each path of a server was first answered with 200, to the end.
    pub(super) fn first_answers(&self, server: ServerNumber) -> HashMap<Arc<str>, Duration> {
        let mut first: HashMap<Arc<str>, Duration> = HashMap::new();
        for visit in &self.seen(server).visits {
            if let (200, Some(at)) = (visit.status, visit.answered) {
                let known = first.entry(Arc::clone(&visit.path)).or_insert(at);
                *known = at.min(*known);
            }
        }
        first
    }

    /// The most requests a server ever had under way at once; 1 for a polite crawler.
    pub fn most_at_once(&self, server: ServerNumber) -> u32 {
        self.seen(server).under_way.most
    }

    /// Connections made to a server.
    pub fn connections(&self, server: ServerNumber) -> u32 {
        self.seen(server).connections
    }

    /// The most connections a server ever had open at once. A server learns of a close a moment after
    /// the client did it, so a client that closes one and opens the next can be seen with two.
    pub fn most_connections(&self, server: ServerNumber) -> u32 {
        self.seen(server).open.most
    }

    /// The pauses a server was left: from the end of each answer to the next request.
    pub fn gaps(&self, server: ServerNumber) -> Vec<Duration> {
        let seen = self.seen(server);
        let pairs = seen.visits.windows(2);
        pairs
            .map(|two| {
                two[1]
                    .arrived
                    .saturating_sub(two[0].answered.unwrap_or_default())
            })
            .collect()
    }

    fn seen(&self, server: ServerNumber) -> MutexGuard<'_, Seen> {
        lock(&self.servers[server.0 as usize].1)
    }
}

/// A connection that is open; closed in the log when dropped.
pub(super) struct OpenConnection {
    log: Arc<Log>,
    server: ServerNumber,
    number: u32,
}

/// A request under way; answered in the log when dropped.
pub(super) struct UnderWay {
    log: Arc<Log>,
    server: ServerNumber,
    visit: usize,
    /// How often the same path was asked for before.
    pub earlier: u32,
}

impl OpenConnection {
    pub fn new(log: Arc<Log>, server: ServerNumber) -> Self {
        let number = {
            let mut seen = log.seen(server);
            seen.open.rise();
            seen.connections += 1;
            seen.connections - 1
        };
        Self {
            log,
            server,
            number,
        }
    }

    pub fn request(&self, path: &str) -> UnderWay {
        let arrived = self.log.start.elapsed();
        let mut seen = self.log.seen(self.server);
        seen.under_way.rise();
        let path = match seen.counts.get_key_value(path) {
            Some((path, _)) => Arc::clone(path),
            None => Arc::from(path),
        };
        let count = seen.counts.entry(Arc::clone(&path)).or_default();
        let earlier = *count;
        *count += 1;
        let visit = seen.visits.len();
        let connection = self.number;
        seen.visits.push(Visit {
            path,
            status: 0,
            connection,
            arrived,
            answered: None,
        });
        UnderWay {
            log: Arc::clone(&self.log),
            server: self.server,
            visit,
            earlier,
        }
    }
}

impl UnderWay {
    pub fn answered_with(&self, status: u16) {
        self.log.seen(self.server).visits[self.visit].status = status;
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.log.seen(self.server).open.now -= 1;
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let now = self.log.start.elapsed();
        let mut seen = self.log.seen(self.server);
        seen.under_way.now -= 1;
        let visit = &mut seen.visits[self.visit];
        // A status of 0 is a client that left while the server was still waiting to answer.
        visit.answered = (visit.status != 0).then_some(now);
    }
}

impl Peak {
    fn rise(&mut self) {
        self.now += 1;
        self.most = self.most.max(self.now);
    }
}

/// Counters stay true when a thread that held the lock panics: each update is whole.
fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock()
        .expect("another task panicked while it held this lock")
}
