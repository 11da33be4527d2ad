//! The connections that are open, in all and by client, and which of them is closed for a new one.
//!
//! **Invariant:** a new connection is turned away only while the server works on answers for all that it would
//! displace. Else the connection that has kept the server waiting longest is closed for it: one of the same client
//! where that has as many as it may, or any where all places are taken. So silent connections, however many, keep
//! out neither others nor their own client.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::Notify;
use tokio::time::Instant;

use super::time_outs::Watch;

/// The connections that are open.
pub struct Room {
    /// Connections at once.
    most: usize,
    /// Connections of one client at once; `None`: any number.
    per_client: Option<usize>,
    places: Mutex<Places>,
    /// Signals that a connection has ended, or waits for its client and may be closed.
    pub freed: Arc<Notify>,
}

#[derive(Default)]
struct Places {
    next: u64,
    taken: HashMap<u64, Taken>,
}

struct Taken {
    client: Option<IpAddr>,
    watch: Arc<Watch>,
}

/// A place in the room, given back when it is dropped.
pub struct Place {
    room: Arc<Room>,
    number: u64,
    pub watch: Arc<Watch>,
}

/// Why a connection has no place.
#[derive(Debug, PartialEq, Eq)]
pub enum Full {
    /// The client has as many as it may, and is being answered on all of them.
    Client,
    /// All places are taken, and answers are under way on all of them.
    Room,
}

impl Room {
    pub fn new(most: usize, per_client: Option<usize>) -> Arc<Self> {
        Arc::new(Self {
            most,
            per_client,
            places: Mutex::default(),
            freed: Arc::default(),
        })
    }

    /// Gives a place to a connection of this client; `None` for a proxy that stands for many.
    pub fn admit(self: &Arc<Self>, client: Option<IpAddr>, now: Instant) -> Result<Place, Full> {
        let mut places = self.lock();
        let own = |taken: &Taken| client.is_some() && taken.client == client;
        let count = places.taken.values().filter(|taken| own(taken)).count();
        if client.is_some() && self.per_client.is_some_and(|most| count >= most) {
            places.close_one(own).ok_or(Full::Client)?;
        }
        if places.taken.len() >= self.most {
            places.close_one(|_| true).ok_or(Full::Room)?;
        }
        let watch = Watch::new(now, self.freed.clone());
        let number = places.next;
        places.next += 1;
        let taken = Taken {
            client,
            watch: watch.clone(),
        };
        places.taken.insert(number, taken);
        Ok(Place {
            room: self.clone(),
            number,
            watch,
        })
    }

    /// Closes the connection that has kept the server waiting longest, if there is one.
    pub fn close_one(&self) {
        self.lock().close_one(|_| true);
    }

    fn lock(&self) -> MutexGuard<'_, Places> {
        self.places
            .lock()
            .expect("nothing panics while the lock is held")
    }
}

impl Places {
    /// Closes the connection among these that has kept the server waiting longest. `None`: on none does it wait.
    fn close_one(&mut self, among: impl Fn(&Taken) -> bool) -> Option<()> {
        let these = self.taken.iter().filter(|(_, taken)| among(taken));
        let waiting =
            these.filter_map(|(number, taken)| Some((taken.watch.waits_since()?, *number)));
        let (_, longest) = waiting.min()?;
        self.taken.remove(&longest)?.watch.close();
        Some(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.room.lock().taken.remove(&self.number);
        self.room.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn client(last: u8) -> Option<IpAddr> {
        Some(IpAddr::from([127, 0, 0, last]))
    }

    /// Whether a connection was told to close.
    async fn is_closed(place: &Place) -> bool {
        let over = tokio::time::timeout(Duration::from_millis(1), place.watch.over());
        over.await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn the_longest_silent_connection_makes_room() {
        let room = Room::new(4, Some(2));
        let now = Instant::now();
        let at = |seconds| now + Duration::from_secs(seconds);
        let busy = room.admit(client(1), now).unwrap();
        busy.watch.begins();
        let silent = room.admit(client(1), at(2)).unwrap();
        let other = room.admit(client(2), at(1)).unwrap();
        // The client's own limit: its own silent connection goes, though another is silent for longer.
        let third = room.admit(client(1), at(3)).unwrap();
        assert!(is_closed(&silent).await && !is_closed(&other).await);
        drop(silent);
        third.watch.begins();
        assert_eq!(
            room.admit(client(1), at(3)).err(),
            Some(Full::Client),
            "both of its connections are being answered"
        );
        // All places are taken: the connection that has been silent longest is closed, of any client.
        let proxied = room.admit(None, at(4)).unwrap();
        let newest = room.admit(client(3), at(5)).unwrap();
        assert!(is_closed(&other).await && !is_closed(&proxied).await);
        for place in [&proxied, &newest] {
            place.watch.begins();
        }
        assert_eq!(room.admit(client(4), at(6)).err(), Some(Full::Room));
        drop(newest);
        assert!(room.admit(client(4), at(6)).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_proxy_may_have_any_number() {
        let room = Room::new(100, Some(2));
        let places: Vec<Place> = (0..100)
            .map(|_| room.admit(None, Instant::now()).unwrap())
            .collect();
        assert!(!is_closed(&places[0]).await);
        let room = Room::new(100, None);
        let of_one: Vec<Place> = (0..100)
            .map(|_| room.admit(client(1), Instant::now()).unwrap())
            .collect();
        assert!(!is_closed(&of_one[0]).await);
    }
}
