//! The distance between requests to one server, kept through any stop.
//!
//! **Rule:** before a request to a server that needs a delay is made, the ledger has when it is made and how long
//! the server is then left alone. Before an answer that refuses (429, 503) can be committed, the ledger has until
//! when the server wants to be left alone. So a kill at any instant finds both, and the next run keeps the distance
//! ([`frontier::Bench::recall_server`]). What a server was about to say when the kill came no one can know.
//!
//! A server that needs no delay is written of only when it refuses.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fetch::Answer;
use frontier::{ServerFacts, ServerKey};
use policy::Moment;
use policy::retry::back_off;

use super::visit::Call;

/// The delay between requests to a server that asks for none and is not on loopback.
const USUAL: Duration = Duration::from_secs(1);

impl Call<'_> {
    /// How long the server is left alone after a request, if its robots.txt asks for that delay.
    pub(super) fn delay(&self, crawl_delay: Option<Duration>) -> Duration {
        let plan = &self.engine.plan;
        // Behind a proxy the address is the proxy's.
        let direct = self
            .connection
            .as_ref()
            .filter(|_| plan.fetch.proxy.is_none());
        let loopback = direct.is_some_and(|open| open.address().ip().is_loopback());
        let usual = if loopback { Duration::ZERO } else { USUAL };
        let wanted = plan.delay.unwrap_or(usual);
        wanted.max(crawl_delay.unwrap_or_default())
    }

    /// Stores that the server is asked now and left alone for `delay` then. To be called before the request is made.
    pub(super) async fn asks(&mut self, delay: Duration) {
        let now = self.engine.clock.now();
        (self.asked, self.kept) = (Some(now), delay);
        if delay.is_zero() {
            return;
        }
        let Some((key, facts)) = self.server(now, delay) else {
            return;
        };
        // The committer may be waiting for the disk, with the journal locked.
        let ledger = Arc::clone(&self.engine.ledger);
        let stored = tokio::task::spawn_blocking(move || ledger.keep_server(key, &facts)).await;
        match stored {
            Ok(stored) => drop(self.engine.trust(stored)),
            Err(panicked) => self.engine.fail(panicked.into()),
        }
    }

    /// Stores how long the server is left alone after the last request, if that is longer than the ledger knows.
    pub(super) fn keep(&mut self, delay: Duration) {
        let now = self.engine.clock.now();
        let asked = *self.asked.get_or_insert(now);
        let wait = delay.max(self.rests_until.since(asked));
        if wait > self.kept {
            self.store(asked, wait);
        }
    }

    /// Whether the server wants to be left alone.
    pub(super) fn rests(&self) -> bool {
        self.rests_until > Moment::START
    }

    /// Leaves the server alone for this time, from now on.
    pub(super) fn rest_for(&mut self, wait: Duration) {
        let until = self.engine.clock.now() + wait;
        self.rests_until = self.rests_until.max(until);
    }

    /// Heeds an answer that refuses because the server is busy, and one that does not. The server's word on how
    /// long to wait is good for the first refusal; from the second in a row on the wait is at least our own.
    pub(super) fn heed_refusal(&mut self, answer: &Answer) {
        let Ok(response) = &answer.outcome else {
            return;
        };
        let Some(visit) = &mut self.visit else {
            return;
        };
        let refused = matches!(response.status, 429 | 503);
        if !refused && visit.refusals() == 0 {
            return;
        }
        let now = self.engine.clock.now();
        let retry_after = response.retry_after(SystemTime::now());
        // Of several requests at once that are refused the first counts.
        if refused && self.rests_until > now {
            return self.rest_for(retry_after.unwrap_or_default());
        }
        (self.engine.shared().frontier.bench).count_refusal(visit, refused);
        let in_a_row = visit.refusals();
        if refused {
            let own = back_off(in_a_row, jitter(now));
            let wait = match retry_after {
                Some(wait) if in_a_row > 1 => wait.max(own),
                Some(wait) => wait,
                None => own,
            };
            self.rest_for(wait);
        }
        let asked = *self.asked.get_or_insert(now);
        let wait = self.kept.max(self.rests_until.since(asked));
        self.store(asked, wait);
    }

    fn store(&mut self, asked: Moment, wait: Duration) {
        self.kept = wait;
        if let Some((key, facts)) = self.server(asked, wait) {
            let stored = self.engine.ledger.keep_server(key, &facts);
            self.engine.trust(stored);
        }
    }

    /// The record of the server that is visited; `None`: the visit has moved to another.
    fn server(&self, asked: Moment, wait: Duration) -> Option<(ServerKey, ServerFacts)> {
        let visit = self.visit.as_ref()?;
        let facts = ServerFacts {
            asked,
            wait,
            refusals: visit.refusals(),
        };
        let key = self.engine.shared().frontier.bench.server(visit);
        Some((key, facts))
    }
}

/// A number from 0 to 1 that differs between crawlers: the clock's fraction of a millisecond.
fn jitter(now: Moment) -> f64 {
    (now.micros() % 1000) as f64 / 1000.0
}
