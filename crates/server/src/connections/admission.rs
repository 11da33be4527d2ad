//! Admission control: limits open connections, in total and per client.
//!
//! At a limit, the connection that has kept the server waiting longest is closed to make room: at
//! the limit of a client one of its connections, at the total limit any connection.
//!
//! **Invariant:** a new connection is refused only while the server works on answers for all
//! connections that it could replace. So idle connections, however many, block neither other
//! clients nor the client that holds them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::Notify;
use tokio::time::Instant;

use super::time_outs::ConnectionWatch;

/// The open connections and their limits.
pub struct AdmissionControl {
    /// The maximum number of connections at once.
    most: usize,
    /// The maximum number of connections of one client at once; `None` for no limit.
    per_client: Option<usize>,
    connections: Mutex<OpenConnections>,
    /// Signals that a connection has ended, or now waits for its client and may be closed.
    pub freed: Arc<Notify>,
}

#[derive(Default)]
struct OpenConnections {
    next: u64,
    taken: HashMap<u64, TrackedConnection>,
}

struct TrackedConnection {
    client: Option<IpAddr>,
    watch: Arc<ConnectionWatch>,
}

/// An admitted connection. Dropping it makes room for another.
pub struct AdmittedConnection {
    admission: Arc<AdmissionControl>,
    number: u64,
    pub watch: Arc<ConnectionWatch>,
}

/// Why a connection is not admitted.
#[derive(Debug, PartialEq, Eq)]
pub enum Full {
    /// The client is at its limit, and the server works on answers on all its connections.
    Client,
    /// The server is at its limit, and works on answers on all connections.
    Server,
}

impl AdmissionControl {
    pub fn new(most: usize, per_client: Option<usize>) -> Arc<Self> {
        Arc::new(Self {
            most,
            per_client,
            connections: Mutex::default(),
            freed: Arc::default(),
        })
    }

    /// Admits a connection of this client; `None` for a trusted proxy, which has no limit of its
    /// own.
    pub fn admit(
        self: &Arc<Self>,
        client: Option<IpAddr>,
        now: Instant,
    ) -> Result<AdmittedConnection, Full> {
        let mut open = self.lock();
        let own = |taken: &TrackedConnection| client.is_some() && taken.client == client;
        let count = open.taken.values().filter(|taken| own(taken)).count();
        if client.is_some() && self.per_client.is_some_and(|most| count >= most) {
            open.close_one(own).ok_or(Full::Client)?;
        }
        if open.taken.len() >= self.most {
            open.close_one(|_| true).ok_or(Full::Server)?;
        }
        let watch = ConnectionWatch::new(now, self.freed.clone());
        let number = open.next;
        open.next += 1;
        let taken = TrackedConnection {
            client,
            watch: watch.clone(),
        };
        open.taken.insert(number, taken);
        Ok(AdmittedConnection {
            admission: self.clone(),
            number,
            watch,
        })
    }

    /// Closes the connection that has kept the server waiting longest, if there is any.
    pub fn close_one(&self) {
        self.lock().close_one(|_| true);
    }

    fn lock(&self) -> MutexGuard<'_, OpenConnections> {
        self.connections
            .lock()
            .expect("nothing panics while the lock is held")
    }
}

impl OpenConnections {
    /// Closes the connection among these that has kept the server waiting longest.
    ///
    /// Returns `None` if the server waits on none of them.
    fn close_one(&mut self, among: impl Fn(&TrackedConnection) -> bool) -> Option<()> {
        let these = self.taken.iter().filter(|(_, taken)| among(taken));
        let waiting =
            these.filter_map(|(number, taken)| Some((taken.watch.waits_since()?, *number)));
        let (_, longest) = waiting.min()?;
        self.taken.remove(&longest)?.watch.close();
        Some(())
    }
}

impl Drop for AdmittedConnection {
    fn drop(&mut self) {
        self.admission.lock().taken.remove(&self.number);
        self.admission.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn client(last: u8) -> Option<IpAddr> {
        Some(IpAddr::from([127, 0, 0, last]))
    }

    /// Tells whether a connection was asked to close.
    async fn is_closed(place: &AdmittedConnection) -> bool {
        let over = tokio::time::timeout(Duration::from_millis(1), place.watch.over());
        over.await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn the_longest_idle_connection_is_closed() {
        let room = AdmissionControl::new(4, Some(2));
        let now = Instant::now();
        let at = |seconds| now + Duration::from_secs(seconds);
        let busy = room.admit(client(1), now).unwrap();
        busy.watch.request_began();
        let idle = room.admit(client(1), at(2)).unwrap();
        let other = room.admit(client(2), at(1)).unwrap();
        // At the client's limit its own idle connection is closed, though another is idle for
        // longer.
        let third = room.admit(client(1), at(3)).unwrap();
        assert!(is_closed(&idle).await && !is_closed(&other).await);
        drop(idle);
        third.watch.request_began();
        assert_eq!(
            room.admit(client(1), at(3)).err(),
            Some(Full::Client),
            "both of its connections are being answered"
        );
        // At the total limit the connection that has been idle longest is closed, of any client.
        let proxied = room.admit(None, at(4)).unwrap();
        let newest = room.admit(client(3), at(5)).unwrap();
        assert!(is_closed(&other).await && !is_closed(&proxied).await);
        for place in [&proxied, &newest] {
            place.watch.request_began();
        }
        assert_eq!(room.admit(client(4), at(6)).err(), Some(Full::Server));
        drop(newest);
        assert!(room.admit(client(4), at(6)).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_proxy_has_no_limit_of_its_own() {
        let room = AdmissionControl::new(100, Some(2));
        let places: Vec<AdmittedConnection> = (0..100)
            .map(|_| room.admit(None, Instant::now()).unwrap())
            .collect();
        assert!(!is_closed(&places[0]).await);
        let room = AdmissionControl::new(100, None);
        let of_one: Vec<AdmittedConnection> = (0..100)
            .map(|_| room.admit(client(1), Instant::now()).unwrap())
            .collect();
        assert!(!is_closed(&of_one[0]).await);
    }
}
