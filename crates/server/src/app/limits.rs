//! How much one client may ask for: a bucket of requests for each address, and a limit on requests under way.
//!
//! [`Client`](crate::request::client::Client) identifies a client, also behind a trusted proxy. A client that connects directly has at most as
//! many requests under way as connections; of those behind a proxy only the requests can be counted.
//!
//! **Invariant:** memory is bounded: a client with a full bucket and nothing under way is forgotten, and
//! when too many are known, so is the half that has not asked for longest.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use crate::request::client::network;

/// Seconds of the rate that a bucket holds: a person opens ten results at once.
const BURST: f64 = 5.0;
/// Clients that are known at once.
const KNOWN: usize = 10_000;

/// The limits of every client.
pub struct Limits {
    /// Requests a second; `None`: any number.
    rate: Option<f64>,
    /// Requests under way at once; `None`: any number.
    at_once: Option<usize>,
    clients: Mutex<HashMap<IpAddr, Bucket>>,
}

#[derive(Clone, Copy)]
struct Bucket {
    /// Requests in it.
    level: f64,
    /// When that was.
    at: Instant,
    /// Requests that are not answered yet.
    under_way: usize,
}

/// A request that is under way, until it is dropped.
pub struct UnderWay<'a> {
    limits: &'a Limits,
    client: IpAddr,
}

impl Limits {
    /// Limits each client to this number of requests a second (0: any number) and of requests under way.
    pub fn new(rate: f64, at_once: Option<usize>) -> Self {
        Self {
            rate: (rate > 0.0).then_some(rate),
            at_once,
            clients: Mutex::default(),
        }
    }

    /// Takes a request out of a client's bucket, or says in how many seconds there may be one.
    pub fn take(&self, client: IpAddr, now: Instant) -> Result<UnderWay<'_>, u64> {
        let rate = self.rate.unwrap_or(f64::INFINITY);
        let most = (rate * BURST).max(1.0);
        let mut clients = self.lock();
        let full = Bucket {
            level: most,
            at: now,
            under_way: 0,
        };
        let filled = |bucket: &Bucket| {
            let since = now.saturating_duration_since(bucket.at).as_secs_f64();
            match self.rate {
                Some(rate) => (bucket.level + since * rate).min(most),
                None => most,
            }
        };
        let client = network(client);
        if clients.len() >= KNOWN && !clients.contains_key(&client) {
            clients.retain(|_, bucket| bucket.under_way > 0 || filled(bucket) < most);
            if clients.len() >= KNOWN {
                let mut times: Vec<Instant> = clients.values().map(|bucket| bucket.at).collect();
                let (_, middle, _) = times.select_nth_unstable(KNOWN / 2);
                let middle = *middle;
                clients.retain(|_, bucket| bucket.under_way > 0 || bucket.at > middle);
            }
        }
        let bucket = clients.entry(client).or_insert(full);
        if self.at_once.is_some_and(|most| bucket.under_way >= most) {
            return Err(1);
        }
        let level = filled(bucket);
        if level < 1.0 {
            return Err(((1.0 - level) / rate).ceil().max(1.0) as u64);
        }
        *bucket = Bucket {
            level: level - 1.0,
            at: now,
            under_way: bucket.under_way + 1,
        };
        Ok(UnderWay {
            limits: self,
            client,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, Bucket>> {
        self.clients
            .lock()
            .expect("nothing panics while the lock is held")
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if let Some(bucket) = self.limits.lock().get_mut(&self.client) {
            bucket.under_way -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Takes a request that is answered at once.
    fn take(limits: &Limits, client: IpAddr, now: Instant) -> Result<(), u64> {
        limits.take(client, now).map(drop)
    }

    #[test]
    fn a_bucket_empties_and_fills() {
        let limits = Limits::new(2.0, None);
        let now = Instant::now();
        let [one, other] = ["127.0.0.1", "127.0.0.2"].map(|name| name.parse().unwrap());
        for _ in 0..10 {
            assert_eq!(take(&limits, one, now), Ok(()));
        }
        assert_eq!(take(&limits, one, now), Err(1));
        assert_eq!(take(&limits, other, now), Ok(()), "each client has its own");
        let later = now + Duration::from_secs(1);
        assert_eq!(take(&limits, one, later), Ok(()));
        assert_eq!(take(&limits, one, later), Ok(()));
        assert_eq!(take(&limits, one, later), Err(1));
        let slow = Limits::new(0.1, None);
        assert_eq!(take(&slow, one, now), Ok(()));
        assert_eq!(take(&slow, one, now), Err(10));
        let free = Limits::new(0.0, None);
        assert!((0..1000).all(|_| take(&free, one, now).is_ok()));
    }

    #[test]
    fn so_many_are_under_way_at_once() {
        for rate in [0.0, 100.0] {
            let limits = Limits::new(rate, Some(2));
            let now = Instant::now();
            let [one, other] = ["2001:db8::1", "127.0.0.2"].map(|name| name.parse().unwrap());
            let first = limits.take(one, now).ok().unwrap();
            let same = "2001:db8::2".parse().unwrap();
            let second = limits.take(same, now).ok().unwrap();
            assert_eq!(take(&limits, one, now), Err(1));
            assert_eq!(take(&limits, other, now), Ok(()));
            drop(first);
            assert_eq!(take(&limits, one, now), Ok(()));
            drop(second);
        }
    }

    #[test]
    fn memory_is_bounded() {
        let limits = Limits::new(0.01, Some(1));
        let now = Instant::now();
        let waits = limits.take(IpAddr::from([127, 0, 0, 1]), now);
        let waits = waits.ok().unwrap();
        for client in 0..3 * KNOWN as u32 {
            let at = now + Duration::from_micros(client.into());
            assert_eq!(take(&limits, IpAddr::V4(client.into()), at), Ok(()));
        }
        assert!(limits.lock().len() <= KNOWN);
        assert_eq!(
            limits.lock()[&waits.client].under_way,
            1,
            "what is under way is not forgotten"
        );
    }
}
