//! The distance between requests to one server, and what failures and refusals do to it.
//!
//! **Rule:** before a request to a server that needs a delay is made, the ledger has when it is made and how long the
//! server is then left alone ([`Action::Get`] and others carry it). Before an answer that refuses (429, 503) can be
//! committed, the ledger has until when the server wants to be left alone ([`Action::Keep`]). So a kill at any instant
//! finds both, and the next run keeps the distance. What a server was about to say when the kill came no one can know.

use std::time::Duration;

use frontier::ServerFacts;
use policy::Moment;
use policy::retry::back_off;

use super::Core;
use super::hosts::Link;
use super::visit::Call;
use crate::action::{Action, Distance};
use crate::event::{Failure, Reply};
use crate::host::Host;

/// The delay between requests to a server that asks for none and is not on loopback.
const USUAL_DELAY: Duration = Duration::from_secs(1);

impl<S> Core<S> {
    /// Counts a request on an open connection that came to nothing against its host.
    pub(super) fn falter(&mut self, call: &mut Call, failure: &Failure, now: Moment) {
        self.allowance.give_back_page();
        if !failure.transient {
            return;
        }
        let host = call.visit.host;
        match self.hosts.get_mut(host).map(Host::faltered) {
            Some(Some(wait)) if !wait.is_zero() => call.rest_for(wait, now),
            Some(None) if self.plan.is_continuous() => call.rest_for(self.plan.rest(), now),
            Some(None) => self.frontier.bench.park(host),
            Some(Some(_)) | None => {}
        }
    }

    /// Whether a connection leads to the server that a visit is for. A host may have moved since it was opened.
    pub(super) fn leads_to_server(&self, link: &Link, call: &Call) -> bool {
        self.frontier.bench.server(&call.visit) == link.server
    }

    /// How long the server is left alone after a request, if its robots.txt asks for that delay.
    pub(super) fn delay(&self, call: &Call, crawl_delay: Option<Duration>) -> Duration {
        // Behind a proxy the address is the proxy's.
        let direct = call.address.filter(|_| !self.plan.proxied);
        let loopback = direct.is_some_and(|address| address.is_loopback());
        let usual = if loopback {
            Duration::ZERO
        } else {
            USUAL_DELAY
        };
        let wanted = self.plan.delay.unwrap_or(usual);
        wanted.max(crawl_delay.unwrap_or_default())
    }

    /// Takes note of a request that is made now. Returns what the ledger must have before.
    pub(super) fn ask(&self, call: &mut Call, delay: Duration, now: Moment) -> Option<Distance> {
        (call.asked, call.kept) = (Some(now), delay);
        (!delay.is_zero()).then(|| self.distance(call, now, delay))
    }

    pub(super) fn distance(&self, call: &Call, asked: Moment, wait: Duration) -> Distance {
        Distance {
            server: self.frontier.bench.server(&call.visit),
            facts: ServerFacts {
                asked,
                wait,
                refusals: call.visit.refusals(),
            },
        }
    }

    /// Has the ledger know how long the server is left alone, before what is committed from now on.
    pub(super) fn keep_distance(
        &self,
        call: &mut Call,
        asked: Moment,
        wait: Duration,
        actions: &mut Vec<Action<S>>,
    ) {
        call.kept = wait;
        actions.push(Action::Keep(self.distance(call, asked, wait)));
    }

    /// Heeds an answer that refuses because the server is busy, and one that does not. The server's word on how
    /// long to wait is good for the first refusal; from the second in a row on the wait is at least our own.
    pub(super) fn heed_refusal(
        &mut self,
        call: &mut Call,
        reply: Reply,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) {
        let refused = matches!(reply.status, 429 | 503);
        if !refused && call.visit.refusals() == 0 {
            return;
        }
        // Of several requests at once that are refused the first counts.
        if refused && call.rests_until > now {
            return call.rest_for(reply.retry_after.unwrap_or_default(), now);
        }
        let bench = &mut self.frontier.bench;
        bench.count_refusal(&mut call.visit, refused);
        let in_a_row = call.visit.refusals();
        if refused {
            let own = back_off(in_a_row, jitter(now));
            let wait = match reply.retry_after {
                Some(wait) if in_a_row > 1 => wait.max(own),
                Some(wait) => wait,
                None => own,
            };
            call.rest_for(wait, now);
        }
        let asked = *call.asked.get_or_insert(now);
        let wait = call.kept.max(call.rests_until.since(asked));
        self.keep_distance(call, asked, wait, actions);
    }
}

/// A number from 0 to 1 that differs between crawlers: the clock's fraction of a millisecond.
fn jitter(now: Moment) -> f64 {
    (now.micros() % 1000) as f64 / 1000.0
}
