//! One visit to one server: pages asked for over one connection, as many as pay.
//!
//! Holds the visit from the claim to its settlement, whatever the server does in between. A page stays
//! in the visit until it is settled, so that what the visit does not come to waits again.

use std::sync::Arc;
use std::time::Duration;

use fetch::Connection;
use frontier::Visit;
use page::HostId;
use policy::{Moment, Number};

use super::Engine;
use super::claimed::Claimed;
use super::host::Host;
use super::reach::End;
use crate::fault;

/// A visit under way.
pub(super) struct Call<'a> {
    pub engine: &'a Engine,
    /// `None` when the host turned out to have the address of another, where its pages now wait.
    pub visit: Option<Visit>,
    pub connection: Option<Connection>,
    /// Until when the server wants to be left alone, as its answers say.
    pub rests_until: Moment,
    /// When the last request was made.
    pub asked: Option<Moment>,
    /// How long after that the server is left alone, as far as the ledger knows.
    pub kept: Duration,
    /// Whether the next page is asked for alone: several at once came to nothing.
    pub alone: bool,
}

impl Engine {
    /// Makes one visit.
    pub(super) async fn visit(self: &Arc<Self>, visit: Visit) {
        let mut call = Call {
            engine: self,
            visit: Some(visit),
            connection: None,
            rests_until: Moment::START,
            asked: None,
            kept: Duration::ZERO,
            alone: false,
        };
        let ended = call.pages().await;
        call.hang_up(ended);
    }

    /// Leaves a host alone until the crawl begins anew. One that does not end lets it rest.
    fn park(&self, host: HostId) {
        if !self.plan.is_continuous() {
            self.shared().frontier.bench.park(host);
        }
    }

    /// Settles the rest of a visit to a host that is left alone, so that the reason can be seen.
    fn give_up(&self, visit: &mut Visit, kind: &str) {
        for number in visit.left().collect::<Vec<_>>() {
            if let Some(claimed) = self.claimed(visit, number) {
                self.unanswered(&claimed, kind);
            }
            visit.settled(number);
        }
    }
}

impl Call<'_> {
    /// Fetches pages until none pays any more. Returns the delay that the server is due.
    async fn pages(&mut self) -> Result<Duration, End> {
        // A visit that asked the server for nothing owes it no delay.
        let mut due = Duration::ZERO;
        while !self.engine.resting()
            && let Some((number, claimed)) = self.next()
        {
            fault::point("visit");
            self.engine.recall_host(&claimed);
            self.connect(&claimed.url).await?;
            let (rules, from_server) = self.rules(&claimed.url).await?;
            let delay = self.delay(rules.crawl_delay());
            if from_server && !delay.is_zero() {
                return Ok(delay); // The file was a request too: the page waits its turn.
            }
            if let Some(reason) = self.engine.forbidden(&claimed.url, &rules) {
                self.engine.refuse(&claimed, reason);
                self.settled(number);
                continue;
            }
            if self.probe(&claimed, &rules, delay).await && (!delay.is_zero() || self.rests()) {
                return Ok(delay); // That was a request too.
            }
            if !self.engine.shared().take_allowance(self.engine.clock.now()) {
                break;
            }
            self.engine.permit().await;
            let alone = std::mem::take(&mut self.alone) || !delay.is_zero();
            let width = if alone { 1 } else { self.width() };
            if width > 1 {
                self.ask_several(claimed, &rules, width).await;
            } else if let Err(end) = self.ask(&claimed, delay).await {
                self.engine.permits.add_permits(1);
                self.engine.shared().return_unasked();
                return Err(end);
            }
            due = delay;
            if !due.is_zero() || self.rests() {
                break;
            }
        }
        Ok(due)
    }

    /// The next page of the visit, if there is one or the server is worth more.
    fn next(&mut self) -> Option<(Number, Claimed)> {
        let engine = self.engine;
        let visit = self.visit.as_mut()?;
        if visit.first().is_none() {
            self.connection.as_ref().filter(|open| open.is_open())?;
            let mut shared = engine.shared();
            let free = shared.visits < engine.plan.connections;
            let now = engine.clock.now();
            shared.more(visit, free, now, |key| engine.past(key));
        }
        let number = visit.first()?;
        Some((number, engine.claimed(visit, number)?))
    }

    /// Takes note that a page is settled.
    pub fn settled(&mut self, page: Number) {
        if let Some(visit) = &mut self.visit {
            visit.settled(page);
        }
    }

    /// Requests that may be under way at once.
    fn width(&self) -> usize {
        let width = self.connection.as_ref().map_or(1, Connection::width);
        width.min(self.engine.plan.width())
    }

    /// Settles the visit.
    fn hang_up(mut self, ended: Result<Duration, End>) {
        let (engine, now) = (self.engine, self.engine.clock.now());
        let (delay, given_up) = match &ended {
            Err(End::Moved) => return,
            Ok(delay) => (*delay, None),
            Err(End::Trouble(trouble)) => self.fails(trouble.kind(), trouble.is_transient()),
            Err(End::NoRules) => self.fails("robots:unavailable", true),
        };
        self.keep(delay);
        let rest = self.rests_until.since(now);
        let Some(mut visit) = self.visit else { return };
        let connection = self.connection.filter(Connection::is_open);
        if let Some(open) = &connection {
            visit.estimate.open_after(open.served());
        }
        let mut delay = delay.max(rest);
        if let Some(kind) = given_up {
            engine.give_up(&mut visit, kind);
            engine.park(visit.host);
            delay = delay.max(engine.plan.rest());
        }
        engine.shared().settle(visit, connection, now, delay);
    }

    /// Counts a failure of the host. Returns how long it is left alone, and the kind of trouble if that is until
    /// the crawl begins again.
    fn fails<'k>(&self, kind: &'k str, transient: bool) -> (Duration, Option<&'k str>) {
        let host = self.visit.as_ref().map(|visit| visit.host);
        let mut shared = self.engine.shared();
        let again = host.and_then(|host| shared.host(host).and_then(Host::failed));
        match again.filter(|_| transient) {
            Some(wait) => (wait, None),
            None => (Duration::ZERO, Some(kind)),
        }
    }
}
