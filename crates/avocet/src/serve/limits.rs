//! How much may one client ask for? A bucket of requests for each address.
//!
//! **Invariant:** memory is bounded whoever asks: what is full again is forgotten, and when too many are known the
//! half that has not asked for longest is. A client of IPv6 is its network of 64 bits, since it has all of that.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::App;
use super::api::Refusal;
use super::pages;

/// Requests a second of one client, over time.
pub const RATE: f64 = 20.0;
/// Seconds of the rate that a bucket holds: a person opens ten results at once.
const BURST: f64 = 5.0;
/// Clients that are known at once.
const KNOWN: usize = 10_000;

/// The buckets.
pub struct Limits {
    /// Requests a second; `None`: any number.
    rate: Option<f64>,
    clients: Mutex<HashMap<IpAddr, Bucket>>,
}

#[derive(Clone, Copy)]
struct Bucket {
    /// Requests in it.
    level: f64,
    /// When that was.
    at: Instant,
}

/// Passes a request on if its client may ask.
pub async fn limit(
    State(app): State<Arc<App>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    match app.limits.take(from.ip(), Instant::now()) {
        Ok(()) => next.run(request).await,
        Err(seconds) => {
            app.metrics.limited();
            let wait = (header::RETRY_AFTER, seconds.to_string());
            let (status, why) = (
                StatusCode::TOO_MANY_REQUESTS,
                "There were too many requests from this address. Try again in a moment.",
            );
            let path = request.uri().path();
            if path.starts_with("/api/") || path == "/mcp" {
                return ([wait], Refusal::new(status, "rate", why)).into_response();
            }
            ([wait], pages::message(status, "One moment", why)).into_response()
        }
    }
}

impl Limits {
    /// So many requests a second for each client; 0: any number.
    pub fn new(rate: f64) -> Self {
        Self {
            rate: (rate > 0.0).then_some(rate),
            clients: Mutex::default(),
        }
    }

    /// Takes a request out of a client's bucket, or says in how many seconds there will be one.
    fn take(&self, client: IpAddr, now: Instant) -> Result<(), u64> {
        let Some(rate) = self.rate else { return Ok(()) };
        let most = (rate * BURST).max(1.0);
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let full = Bucket {
            level: most,
            at: now,
        };
        let filled = |bucket: &Bucket| {
            let since = now.saturating_duration_since(bucket.at).as_secs_f64();
            (bucket.level + since * rate).min(most)
        };
        let client = network(client);
        if clients.len() >= KNOWN && !clients.contains_key(&client) {
            clients.retain(|_, bucket| filled(bucket) < most);
            if clients.len() >= KNOWN {
                let mut times: Vec<Instant> = clients.values().map(|bucket| bucket.at).collect();
                let (_, middle, _) = times.select_nth_unstable(KNOWN / 2);
                let middle = *middle;
                clients.retain(|_, bucket| bucket.at > middle);
            }
        }
        let bucket = clients.entry(client).or_insert(full);
        let level = filled(bucket);
        if level < 1.0 {
            return Err(((1.0 - level) / rate).ceil().max(1.0) as u64);
        }
        *bucket = Bucket {
            level: level - 1.0,
            at: now,
        };
        Ok(())
    }
}

fn network(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(address) => {
            let network = u128::from(address) & !u128::from(u64::MAX);
            IpAddr::V6(network.into())
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_bucket_empties_and_fills() {
        let limits = Limits::new(2.0);
        let now = Instant::now();
        let [one, other] = ["127.0.0.1", "127.0.0.2"].map(|name| name.parse().unwrap());
        for _ in 0..10 {
            assert_eq!(limits.take(one, now), Ok(()));
        }
        assert_eq!(limits.take(one, now), Err(1));
        assert_eq!(limits.take(other, now), Ok(()), "everyone has their own");
        let later = now + Duration::from_secs(1);
        assert_eq!(limits.take(one, later), Ok(()));
        assert_eq!(limits.take(one, later), Ok(()));
        assert_eq!(limits.take(one, later), Err(1));
        let slow = Limits::new(0.1);
        assert_eq!(slow.take(one, now), Ok(()));
        assert_eq!(slow.take(one, now), Err(10));
        let free = Limits::new(0.0);
        assert!((0..1000).all(|_| free.take(one, now).is_ok()));
    }

    #[test]
    fn a_network_is_one_client() {
        let limits = Limits::new(0.1);
        let now = Instant::now();
        assert_eq!(limits.take("2001:db8::1".parse().unwrap(), now), Ok(()));
        assert!(limits.take("2001:db8::2:9".parse().unwrap(), now).is_err());
        assert_eq!(limits.take("2001:db8:0:1::1".parse().unwrap(), now), Ok(()));
        assert_eq!(limits.take("127.0.0.9".parse().unwrap(), now), Ok(()));
        assert!(
            limits
                .take("::ffff:127.0.0.9".parse().unwrap(), now)
                .is_err()
        );
    }

    #[test]
    fn memory_is_bounded() {
        let limits = Limits::new(0.01);
        let now = Instant::now();
        for client in 0..3 * KNOWN as u32 {
            let at = now + Duration::from_micros(client.into());
            assert_eq!(limits.take(IpAddr::V4(client.into()), at), Ok(()));
        }
        assert!(limits.clients.lock().unwrap().len() <= KNOWN);
    }
}
