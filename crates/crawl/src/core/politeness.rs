//! Politeness: the delay between requests to one server, and the reaction to failures and
//! refusals.
//!
//! **Rule:** before a request to a server that needs a delay, the ledger stores when the
//! request is made and the minimum time to the next ([`Action::Get`] and others carry this
//! record). Before an answer that refuses (429, 503) can be committed, the ledger stores how
//! long the server wants no requests ([`Action::Keep`]). So the next run keeps the delay after
//! a kill at any instant. It does not know a refusal that was not stored before the kill.

use std::time::Duration;

use frontier::ServerFacts;
use page::PageUrl;
use policy::Moment;
use policy::retry::back_off;

use super::Core;
use super::active::ActiveVisit;
use super::hosts::HostConnection;
use crate::action::{Action, Distance};
use crate::event::{Failure, Reply};
use crate::host::Host;

impl<S> Core<S> {
    /// Gives the page of a failed request back to the page limit, and counts a transient failure
    /// against the host. From the 13th consecutive failure on, the server pauses. At the 24th, a
    /// continuous crawl pauses it for an hour, and any other crawl parks the host for the rest of
    /// the run.
    pub(super) fn request_failed(
        &mut self,
        active: &mut ActiveVisit,
        failure: &Failure,
        now: Moment,
    ) {
        self.allowance.give_back_page();
        if !failure.transient {
            return;
        }
        let host = active.visit.host;
        match self.hosts.get_mut(host).map(Host::request_failed) {
            Some(Some(wait)) if !wait.is_zero() => active.rest_for(wait, now),
            Some(None) if self.plan.is_continuous() => active.rest_for(self.plan.rest(), now),
            Some(None) => self.frontier.bench.park(host),
            Some(Some(_)) | None => {}
        }
    }

    /// Returns whether a connection leads to the server of a visit. The host may have moved to
    /// another server since the connection was opened.
    pub(super) fn leads_to_server(&self, link: &HostConnection, active: &ActiveVisit) -> bool {
        self.frontier.bench.server(&active.visit) == link.server
    }

    /// Returns the minimum time from a request to the next, and limits the requests of the visit
    /// accordingly. Nodes that share an address wait as many times longer as there are nodes.
    pub(super) fn delay(
        &self,
        active: &mut ActiveVisit,
        url: &PageUrl,
        crawl_delay: Option<Duration>,
    ) -> Duration {
        // Behind a proxy the address is that of the proxy.
        let direct = active.address.filter(|_| !self.plan.proxied);
        let loopback = direct.is_some_and(|address| address.is_loopback());
        let pace = self.plan.pace(url, loopback, crawl_delay);
        active.visit.burst = pace.burst;
        let shared = direct.and_then(|address| self.shared.get(&address.to_canonical()));
        pace.delay * (1 + shared.copied().unwrap_or(0))
    }

    /// Records that a request is made now. Returns the politeness record that the ledger must
    /// have before the request; `None`: the server needs no delay.
    ///
    /// The n-th request of a burst is followed by n delays, so that bursts do not raise the mean
    /// rate of requests.
    pub(super) fn record_request(
        &self,
        active: &mut ActiveVisit,
        delay: Duration,
        now: Moment,
    ) -> Option<Distance> {
        active.requests += 1;
        let wait = delay * active.requests;
        (active.asked, active.kept) = (Some(now), wait);
        (!delay.is_zero()).then(|| self.distance(active, now, wait))
    }

    pub(super) fn distance(&self, active: &ActiveVisit, asked: Moment, wait: Duration) -> Distance {
        Distance {
            server: self.frontier.bench.server(&active.visit),
            facts: ServerFacts {
                asked,
                wait,
                refusals: active.visit.refusals(),
            },
        }
    }

    /// Stores a politeness record before anything that is committed from now on.
    pub(super) fn keep_distance(
        &self,
        active: &mut ActiveVisit,
        asked: Moment,
        wait: Duration,
        actions: &mut Vec<Action<S>>,
    ) {
        active.kept = wait;
        actions.push(Action::Keep(self.distance(active, asked, wait)));
    }

    /// Updates the pause of a server after an answer. A refusal because of overload (429, 503)
    /// starts a pause; any other answer resets the count of consecutive refusals.
    ///
    /// The pause after the first refusal is the server's `Retry-After`. From the second
    /// consecutive refusal on, it is at least our own exponential backoff. Without a
    /// `Retry-After` the backoff alone counts.
    pub(super) fn apply_refusal(
        &mut self,
        active: &mut ActiveVisit,
        reply: Reply,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) {
        let refused = matches!(reply.status, 429 | 503);
        if !refused && active.visit.refusals() == 0 {
            return;
        }
        // If several concurrent requests are refused, only the first is counted as a refusal.
        if refused && active.rests_until > now {
            return active.rest_for(reply.retry_after.unwrap_or_default(), now);
        }
        let bench = &mut self.frontier.bench;
        bench.count_refusal(&mut active.visit, refused);
        let in_a_row = active.visit.refusals();
        if refused {
            let own = back_off(in_a_row, jitter(now));
            let wait = match reply.retry_after {
                Some(wait) if in_a_row > 1 => wait.max(own),
                Some(wait) => wait,
                None => own,
            };
            active.rest_for(wait, now);
        }
        let asked = *active.asked.get_or_insert(now);
        let wait = active.kept.max(active.rests_until.since(asked));
        self.keep_distance(active, asked, wait, actions);
    }
}

/// Returns a pseudo-random number from 0 to 0.999: the microseconds of the clock within its current
/// millisecond, divided by 1000.
fn jitter(now: Moment) -> f64 {
    (now.micros() % 1000) as f64 / 1000.0
}
