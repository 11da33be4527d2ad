//! Rate limits per client: a token bucket, and a limit on requests under way.
//!
//! [`RequestClient`](crate::request::client::RequestClient) identifies a client, also behind a
//! trusted proxy. For a client that connects directly,
//! [`connections`](crate::connections) also limits the number of connections.
//!
//! **Invariant:** memory is bounded by [`KNOWN`] clients. At this number, a new client displaces
//! those with a full bucket or, if there are none, the half with the oldest last request. A client
//! with a request under way is never dropped.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::Instant;

use node::panics::POISONED;

use crate::request::client::network;

/// The size of a bucket, as the seconds in which the rate fills it. At the default rate of 20
/// requests per second it holds 100 requests, enough for live results while a searcher types.
const BURST: f64 = 5.0;
/// The maximum number of clients kept in memory.
const KNOWN: usize = 10_000;

/// The limits, with the state of every client.
pub struct ClientLimits {
    /// The maximum number of requests of one client per second; `None` for no limit.
    rate: Option<f64>,
    /// The maximum number of requests of one client under way at once; `None` for no limit.
    at_once: Option<usize>,
    clients: Mutex<HashMap<IpAddr, ClientBucket>>,
}

#[derive(Clone, Copy)]
struct ClientBucket {
    /// Tokens in the bucket at the time `at`; a request takes one.
    level: f64,
    at: Instant,
    /// Requests that are not answered yet.
    under_way: usize,
}

/// A request under way. Dropping it ends the request.
pub struct CountedRequest<'a> {
    limits: &'a ClientLimits,
    client: IpAddr,
}

impl ClientLimits {
    /// Creates limits for each client: requests per second (0 for no limit), and requests under way
    /// at once (`None` for no limit).
    pub fn new(rate: f64, at_once: Option<usize>) -> Self {
        Self {
            rate: (rate > 0.0).then_some(rate),
            at_once,
            clients: Mutex::default(),
        }
    }

    /// Takes a token from a client's bucket. The error is the number of seconds to wait: until the
    /// next token if the bucket is empty, or 1 if too many requests are under way.
    pub fn take(&self, client: IpAddr, now: Instant) -> Result<CountedRequest<'_>, u64> {
        let rate = self.rate.unwrap_or(f64::INFINITY);
        let most = (rate * BURST).max(1.0);
        let mut clients = self.clients.lock().expect(POISONED);
        let full = ClientBucket {
            level: most,
            at: now,
            under_way: 0,
        };
        let filled = |bucket: &ClientBucket| {
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
        *bucket = ClientBucket {
            level: level - 1.0,
            at: now,
            under_way: bucket.under_way + 1,
        };
        Ok(CountedRequest {
            limits: self,
            client,
        })
    }
}

impl Drop for CountedRequest<'_> {
    fn drop(&mut self) {
        let mut clients = self.limits.clients.lock().expect(POISONED);
        if let Some(bucket) = clients.get_mut(&self.client) {
            bucket.under_way -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Makes a request that is answered immediately.
    fn take(limits: &ClientLimits, client: IpAddr, now: Instant) -> Result<(), u64> {
        limits.take(client, now).map(drop)
    }

    #[test]
    fn a_bucket_empties_and_fills() {
        let limits = ClientLimits::new(2.0, None);
        let now = Instant::now();
        let [one, other] = ["127.0.0.1", "127.0.0.2"].map(|name| name.parse().unwrap());
        for _ in 0..10 {
            assert_eq!(take(&limits, one, now), Ok(()));
        }
        assert_eq!(take(&limits, one, now), Err(1));
        assert_eq!(
            take(&limits, other, now),
            Ok(()),
            "each client has a bucket"
        );
        let later = now + Duration::from_secs(1);
        assert_eq!(take(&limits, one, later), Ok(()));
        assert_eq!(take(&limits, one, later), Ok(()));
        assert_eq!(take(&limits, one, later), Err(1));
        let slow = ClientLimits::new(0.1, None);
        assert_eq!(take(&slow, one, now), Ok(()));
        assert_eq!(take(&slow, one, now), Err(10));
        let free = ClientLimits::new(0.0, None);
        assert!((0..1000).all(|_| take(&free, one, now).is_ok()));
    }

    #[test]
    fn requests_under_way_are_limited() {
        for rate in [0.0, 100.0] {
            let limits = ClientLimits::new(rate, Some(2));
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
    fn at_most_10_000_clients_are_kept_and_those_with_a_request_under_way_stay() {
        let limits = ClientLimits::new(0.01, Some(1));
        let now = Instant::now();
        let waits = limits.take(IpAddr::from([127, 0, 0, 1]), now);
        let waits = waits.ok().unwrap();
        for client in 0..3 * KNOWN as u32 {
            let at = now + Duration::from_micros(client.into());
            assert_eq!(take(&limits, IpAddr::V4(client.into()), at), Ok(()));
        }
        let clients = limits.clients.lock().unwrap();
        assert!(clients.len() <= KNOWN);
        let kept = clients[&waits.client].under_way;
        drop(clients);
        assert_eq!(kept, 1, "a client with a request under way is kept");
    }
}
