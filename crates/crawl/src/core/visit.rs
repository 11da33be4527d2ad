//! One visit to one server: requests as many pages as it may claim, over one connection at a time.
//!
//! A visit passes these stages for each page. In each of them it waits for an event:
//!
//! 1. *load* the ledger's records of the page and its host, unless they are in memory;
//! 2. *resolve* the host and *connect*, unless a connection is open;
//! 3. *request robots.txt*, unless its rules are known;
//!    *probe* the host before its first refresh in a continuous crawl, at most twice if it does
//!    not answer;
//! 4. *wait* until requests are committed, if too many are uncommitted;
//! 5. *get* the page, or several at once.
//!
//! **Invariant:** a page leaves a visit only when it is settled or the visit ends. When the visit
//! ends, unsettled pages go back to the bench.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use frontier::{Bound, More, Probe};
use page::{PageUrl, Robots};
use policy::{Moment, Number};

use super::active::{ActiveVisit, PendingRequests, VisitStage};
use super::hosts::HostConnection;
use super::reading::Arrival;
use super::{Core, Mode};
use crate::action::{Action, Claim, Get, Note, Request};
use crate::event::{
    Answered, ConnectionId, ConnectionState, Event, Failure, Opened, Reply, VisitId,
};
use crate::host::{Host, RobotsFile};
use crate::site::SiteRules;
use crate::verdict::Lead;

/// Every eighth revisit requests the page without validators, because a 304 may be wrong
/// (hostile-web.md, row 68).
const WHOLE_EVERY: u32 = 8;
/// Maximum number of sitemaps of one robots.txt that are followed (hostile-web.md, row 52).
const SITEMAPS: usize = 64;

/// Why a visit ended early.
enum VisitEnd {
    /// The host could not be reached, for this reason.
    Failed(Failure),
    /// The host's robots.txt is not available, so nothing may be fetched.
    NoRules,
}

/// The state of a visit that has advanced as far as it can without an event.
enum VisitFlow {
    /// It waits for an event.
    Waits,
    /// It ends, with this delay for the server.
    Ends(Duration),
}

impl<S> Core<S> {
    /// Processes an event of a visit.
    pub(super) fn visit_event(
        &mut self,
        event: Event<S>,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) {
        match event {
            Event::PagesLoaded { visit, pages, host } => {
                self.pages_loaded(visit, pages, host, now, actions);
            }
            Event::Resolved { visit, address } => self.resolved(visit, address, now, actions),
            Event::Connected { visit, opened } => self.connected(visit, opened, now, actions),
            Event::RulesArrived {
                visit,
                file,
                retry_after,
                bytes,
                connection,
            } => {
                if let Some(active) = self.active.get_mut(&visit) {
                    active.used(connection);
                    retry_after
                        .into_iter()
                        .for_each(|wait| active.rest_for(wait, now));
                }
                self.count_overhead(bytes, now, actions);
                self.rules_arrived(visit, file, now, actions);
            }
            Event::Probed {
                visit,
                found,
                reply,
                bytes,
                connection,
            } => {
                self.count_overhead(bytes, now, actions);
                self.probed(visit, found, reply, connection, now, actions);
            }
            Event::Answered {
                visit,
                page,
                answer,
                connection,
            } => self.answered(visit, page, answer, connection, now, actions),
            _ => unreachable!("not an event of a visit"),
        }
    }

    /// Continues a visit until it waits for something or ends.
    pub(super) fn proceed(&mut self, id: VisitId, now: Moment, actions: &mut Vec<Action<S>>) {
        let Some(mut active) = self.active.remove(&id) else {
            return;
        };
        active.stage = VisitStage::Free;
        match self.advance(id, &mut active, now, actions) {
            VisitFlow::Waits => {
                self.active.insert(id, active);
            }
            VisitFlow::Ends(delay) => self.end_visit(active, delay, None, now, actions),
        }
    }

    fn advance(
        &mut self,
        id: VisitId,
        active: &mut ActiveVisit,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) -> VisitFlow {
        loop {
            if self.mode != Mode::Running {
                return VisitFlow::Ends(active.due);
            }
            if active.visit.first().is_none() {
                if active.link.is_none() {
                    return VisitFlow::Ends(active.due);
                }
                let free = self.active.len() + 1 < self.plan.connections;
                let more = self.frontier.more(&mut active.visit, free, now);
                let known = self.load_histories(actions);
                match more {
                    More::Nothing => return VisitFlow::Ends(active.due),
                    More::Claimed => {}
                    More::Unknown if known => continue,
                    More::Unknown => {
                        self.awaiting_histories.push_back(id);
                        active.stage = VisitStage::Waiting;
                        return VisitFlow::Waits;
                    }
                }
            }
            if !self.recall(id, active, now, actions) {
                return VisitFlow::Waits;
            }
            let Some(claim) = active.claims.front().cloned() else {
                continue;
            };
            let hours = SiteRules::of(&self.plan.sites, &claim.url).and_then(|site| site.hours);
            let closed = hours.map_or(Duration::ZERO, |hours| hours.wait(now));
            if !closed.is_zero() {
                active.closed_until = now + closed;
                return VisitFlow::Ends(active.due);
            }
            while active.link.is_none()
                && let Some(link) = self.hosts.take_idle(claim.url.host())
            {
                if self.leads_to_server(&link, active) {
                    active.address = Some(link.address);
                    active.link = Some(link);
                } else {
                    actions.push(Action::Close(link.id));
                }
            }
            let Some(link) = active.link else {
                active.stage = VisitStage::Resolving;
                let (visit, url) = (id, claim.url.clone());
                actions.push(Action::Resolve { visit, url });
                return VisitFlow::Waits;
            };
            let host = self.hosts.get(claim.url.host());
            let rules = match &self.no_rules {
                Some(none) => Some(Arc::clone(none)),
                None => host.and_then(|host| host.rules(now)),
            };
            let Some(rules) = rules else {
                // The crawl delay of an older file holds until there is a new one.
                let crawl_delay = host.and_then(Host::crawl_delay);
                let delay = self.delay(active, &claim.url, crawl_delay);
                active.stage = VisitStage::Rules;
                actions.push(Action::AskRules {
                    visit: id,
                    connection: link.id,
                    url: claim.url.clone(),
                    distance: self.record_request(active, delay, now),
                });
                return VisitFlow::Waits;
            };
            if let Some(reason) = self.forbidden(&claim.url, &rules) {
                self.refuse(&claim, reason, now, actions);
                active.settled(claim.number);
                continue;
            }
            let delay = self.delay(active, &claim.url, rules.crawl_delay());
            if let Some(url) = self.probe_of(&claim, &rules) {
                active.stage = VisitStage::Probing(delay);
                actions.push(Action::Probe {
                    visit: id,
                    connection: link.id,
                    url,
                    distance: self.record_request(active, delay, now),
                });
                return VisitFlow::Waits;
            }
            if !self.risk.take() {
                self.risk.await_turn(id);
                active.stage = VisitStage::Waiting;
                return VisitFlow::Waits;
            }
            if !self.allowance.take(now) {
                self.risk.give_back(1);
                return VisitFlow::Ends(active.due);
            }
            let alone = std::mem::take(&mut active.alone) || !delay.is_zero();
            let width = if alone {
                1
            } else {
                link.width.min(self.plan.width)
            };
            let batch = self.batch(active, claim, &rules, width, now, actions);
            let pending = PendingRequests {
                left: batch.len(),
                batch,
                at: now,
                delay,
                lost: 0,
                closed: 0,
            };
            self.get(id, active, pending, now, actions);
            return VisitFlow::Waits;
        }
    }

    fn resolved(
        &mut self,
        id: VisitId,
        address: Result<Option<IpAddr>, Failure>,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) {
        let Some(mut active) = self.active.remove(&id) else {
            return;
        };
        let address = match address {
            Ok(address) => address,
            Err(failure) => return self.fail(active, VisitEnd::Failed(failure), now, actions),
        };
        if let Some(address) = address {
            match self
                .frontier
                .bench
                .bind(active.visit, address.to_canonical())
            {
                Bound::Go(visit) => active.visit = visit,
                Bound::Moved => {
                    // Another server entry has the address: the pages wait there.
                    if let VisitStage::Reconnecting(pending) = active.stage {
                        self.give_back(pending.left);
                    }
                    return actions.push(Action::Abandon(id));
                }
            }
        }
        // Makes room for one more connection within the limit of the plan.
        let room = self.plan.connections.saturating_sub(self.active.len() + 1);
        while let Some((host, connection)) = self.hosts.take_oldest(room) {
            self.frontier.bench.closed(host);
            actions.push(Action::Close(connection));
        }
        let connection = ConnectionId(self.connections);
        self.connections += 1;
        let url = match (&active.stage, active.claims.front()) {
            (VisitStage::Reconnecting(pending), _) => pending.batch[0].url.clone(),
            (_, Some(claim)) => claim.url.clone(),
            (_, None) => unreachable!("a visit resolved a host without a claim"),
        };
        if !matches!(active.stage, VisitStage::Reconnecting(_)) {
            active.stage = VisitStage::Connecting;
        }
        active.link = None;
        actions.push(Action::Connect {
            visit: id,
            connection,
            url,
        });
        active.opening = Some(connection);
        self.active.insert(id, active);
    }

    fn connected(
        &mut self,
        id: VisitId,
        opened: Result<Opened, Failure>,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) {
        let Some(mut active) = self.active.remove(&id) else {
            return;
        };
        let connection = active.opening.take();
        // The time of a failed connection counts too.
        let took = opened
            .as_ref()
            .map_or_else(|failed| failed.took, |opened| opened.took);
        active.visit.estimate.connected(took);
        let (opened, connection) = match (opened, connection) {
            (Ok(opened), Some(connection)) => (opened, connection),
            (Err(failure), _) => {
                return self.fail(active, VisitEnd::Failed(failure), now, actions);
            }
            (Ok(_), None) => unreachable!("a connection was opened that no visit requested"),
        };
        if let Some(host) = self.hosts.get_mut(active.visit.host) {
            host.connected(opened.connect_time);
        }
        active.address = Some(opened.address);
        active.link = Some(HostConnection {
            id: connection,
            server: self.frontier.bench.server(&active.visit),
            address: opened.address,
            width: opened.width,
            served: 0,
        });
        match std::mem::replace(&mut active.stage, VisitStage::Free) {
            VisitStage::Reconnecting(pending) => {
                self.get(id, &mut active, pending, now, actions);
                self.active.insert(id, active);
            }
            _ => {
                self.active.insert(id, active);
                self.proceed(id, now, actions);
            }
        }
    }

    fn rules_arrived(
        &mut self,
        id: VisitId,
        file: RobotsFile,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) {
        let Some(mut active) = self.active.remove(&id) else {
            return;
        };
        let url = match active.claims.front() {
            Some(claim) => claim.url.clone(),
            None => unreachable!("a visit requested robots.txt without a claim"),
        };
        let Some(host) = self.hosts.get_mut(url.host()) else {
            return self.fail(active, VisitEnd::NoRules, now, actions);
        };
        let learned = host.learn_rules(file, now);
        let fact = host.fact().into_iter().collect();
        // The ledger gets the crawl delay before the file itself. Otherwise, after a kill, the
        // next run would have the file and not wait after the request for it.
        let crawl_delay = learned.as_ref().and_then(|rules| rules.crawl_delay());
        let delay = self.delay(&mut active, &url, crawl_delay);
        if let Some(asked) = active.asked.filter(|_| delay > active.kept) {
            self.keep_distance(&mut active, asked, delay, actions);
        }
        self.outbox.push_facts(fact, actions);
        let Some(rules) = learned else {
            return self.fail(active, VisitEnd::NoRules, now, actions);
        };
        if self.plan.is_continuous() {
            // A sitemap in robots.txt is a starting point like a seed.
            let sitemaps = rules.sitemaps(&url).into_iter().take(SITEMAPS);
            let leads: Vec<Lead> = sitemaps.map(Lead::listing).collect();
            if !leads.is_empty() {
                self.arrivals.push_back(Arrival::Leads(leads));
            }
        }
        if active.is_spent(delay) {
            // The delay applies after the request for the file too, so the page waits.
            return self.end_visit(active, delay, None, now, actions);
        }
        self.active.insert(id, active);
        self.proceed(id, now, actions);
    }

    fn probed(
        &mut self,
        id: VisitId,
        found: Option<Probe>,
        reply: Option<Reply>,
        connection: ConnectionState,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) {
        let Some(mut active) = self.active.remove(&id) else {
            return;
        };
        active.used(connection);
        if let Some(reply) = reply {
            self.apply_refusal(&mut active, reply, now, actions);
        }
        if let (Some(host), Some(found)) = (self.hosts.get_mut(active.visit.host), found) {
            host.probed(found);
        } else if let Some(host) = self.hosts.get_mut(active.visit.host) {
            host.probe_failed();
        }
        let VisitStage::Probing(delay) = active.stage else {
            unreachable!("a host was probed by a visit that did not request it")
        };
        active.stage = VisitStage::Free;
        if active.is_spent(delay) || active.rests() {
            // The delay applies after the probe too.
            return self.end_visit(active, delay, None, now, actions);
        }
        self.active.insert(id, active);
        self.proceed(id, now, actions);
    }

    /// Returns the pages to request together: `first`, whose permission the caller has taken, and
    /// further allowed pages, `width` in total at most.
    fn batch(
        &mut self,
        active: &mut ActiveVisit,
        first: Arc<Claim>,
        rules: &Robots,
        width: usize,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) -> Vec<Arc<Claim>> {
        let others: Vec<Arc<Claim>> = active.claims.iter().skip(1).cloned().collect();
        let mut batch = vec![first];
        for claim in others {
            if batch.len() >= width {
                break;
            }
            if let Some(reason) = self.forbidden(&claim.url, rules) {
                self.refuse(&claim, reason, now, actions);
                active.settled(claim.number);
                continue;
            }
            if !self.risk.take() {
                break;
            }
            if !self.allowance.take(now) {
                self.risk.give_back(1);
                break;
            }
            batch.push(claim);
        }
        batch
    }

    /// Requests pages over the open connection.
    fn get(
        &mut self,
        id: VisitId,
        active: &mut ActiveVisit,
        pending: PendingRequests,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) {
        let Some(link) = active.link else {
            unreachable!("a visit requests pages without a connection")
        };
        let host = self.hosts.get(active.visit.host);
        let trusted = host.is_none_or(Host::is_trusted);
        let missing = match host.and_then(Host::probe) {
            Some(Probe::Soft(digest)) => Some(digest.clone()),
            Some(Probe::Honest) | None => None,
        };
        let whole = |claim: &Claim| (claim.history().revisits + 1).is_multiple_of(WHOLE_EVERY);
        let request = |claim: &Arc<Claim>| Request {
            claim: Arc::clone(claim),
            conditional: trusted && !whole(claim),
        };
        let get = Get {
            visit: id,
            connection: link.id,
            requests: pending.batch.iter().map(request).collect(),
            at: pending.at,
            distance: self.record_request(active, pending.delay, now),
            scope: Arc::clone(&self.scope),
            missing,
            details: self.details(),
            last_try: pending.closed >= 2,
        };
        active.stage = VisitStage::Requesting(pending);
        actions.push(Action::Get(get));
    }

    fn answered(
        &mut self,
        id: VisitId,
        page: Number,
        answer: Answered<S>,
        connection: ConnectionState,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) {
        let Some(mut active) = self.active.remove(&id) else {
            return;
        };
        let VisitStage::Requesting(mut pending) =
            std::mem::replace(&mut active.stage, VisitStage::Free)
        else {
            unreachable!("an answer came for a page that was not requested")
        };
        let served = active.link.map(|_| connection.served);
        if !matches!(answer, Answered::Closed { .. }) {
            active.used(connection);
        }
        let claim = pending
            .batch
            .iter()
            .find(|claim| claim.number == page)
            .cloned();
        let Some(claim) = claim else {
            unreachable!("an answer came for a page that was not requested")
        };
        match answer {
            Answered::Closed { sent } => {
                pending.closed += if sent { 2 } else { 1 };
                if sent {
                    // The server may have processed the request, even if the next attempt goes to
                    // another server.
                    self.frontier.bench.rest(&active.visit, now + pending.delay);
                }
                let url = pending.batch[0].url.clone();
                active.link = None;
                active.stage = VisitStage::Reconnecting(pending);
                actions.push(Action::Resolve { visit: id, url });
                self.active.insert(id, active);
                return;
            }
            Answered::Page(judged) => {
                self.apply_refusal(&mut active, judged.reply, now, actions);
                if let Some(host) = self.hosts.get_mut(active.visit.host) {
                    host.answered(judged.first_byte);
                }
                if let (false, Some(served)) = (connection.open, served) {
                    active.visit.estimate.closed_after(served);
                }
                self.arrived(id, claim, *judged);
                // The visit continues when the page is processed.
                active.stage = VisitStage::Requesting(pending);
                self.active.insert(id, active);
                return;
            }
            Answered::Failed { failure, bytes } => {
                self.request_failed(&mut active, &failure, now);
                active.visit.estimate.answered(failure.took);
                let (at, took) = (pending.at, failure.took);
                self.unanswered(&claim, (at, took), (failure.kind, bytes), now, actions);
                active.settled(page);
            }
            Answered::Unanswered => {
                self.give_back(1);
                pending.lost += 1;
            }
        }
        active.stage = VisitStage::Requesting(pending);
        self.active.insert(id, active);
        self.page_settled(id, now, actions);
    }

    /// Continues a visit after one of its pages was processed.
    pub(super) fn page_read(
        &mut self,
        id: VisitId,
        claim: &Claim,
        first_byte: Duration,
        took: Duration,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) {
        let Some(active) = self.active.get_mut(&id) else {
            return;
        };
        let several =
            matches!(&active.stage, VisitStage::Requesting(pending) if pending.batch.len() > 1);
        let took = if several { first_byte } else { took };
        active.visit.estimate.answered(took);
        active.settled(claim.number);
        self.page_settled(id, now, actions);
    }

    /// Counts a requested page as settled. After the last one the visit continues or ends.
    fn page_settled(&mut self, id: VisitId, now: Moment, actions: &mut Vec<Action<S>>) {
        let Some(mut active) = self.active.remove(&id) else {
            return;
        };
        let VisitStage::Requesting(pending) = &mut active.stage else {
            unreachable!("a page was settled that was not requested")
        };
        pending.left -= 1;
        if pending.left > 0 {
            self.active.insert(id, active);
            return;
        }
        // If no page of the batch was answered, the next page is requested alone, so that a failure
        // is reported with its reason.
        active.alone = pending.lost == pending.batch.len();
        active.due = pending.delay;
        let delay = active.due;
        if active.is_spent(delay) || active.rests() {
            return self.end_visit(active, delay, None, now, actions);
        }
        self.active.insert(id, active);
        self.proceed(id, now, actions);
    }

    /// Gives back the permissions of requests that were not made.
    fn give_back(&mut self, requests: usize) {
        self.risk.give_back(requests);
        (0..requests).for_each(|_| self.allowance.give_back());
    }

    /// Ends a visit to a host that cannot be crawled now. The host is tried again later. After a
    /// permanent or the fourth consecutive failure, the crawl gives it up ([`Self::end_visit`]).
    fn fail(
        &mut self,
        active: ActiveVisit,
        end: VisitEnd,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) {
        if let VisitStage::Reconnecting(pending) = &active.stage {
            self.give_back(pending.left);
        }
        let (kind, transient) = match &end {
            VisitEnd::Failed(failure) => (failure.kind, failure.transient),
            VisitEnd::NoRules => ("robots:unavailable", true),
        };
        let again = self.hosts.get_mut(active.visit.host).and_then(Host::failed);
        match again.filter(|_| transient) {
            Some(wait) => self.end_visit(active, wait, None, now, actions),
            None => self.end_visit(active, Duration::ZERO, Some(kind), now, actions),
        }
    }

    /// Ends a visit. If the crawl gives up the host, `given_up` is the kind of failure. A
    /// continuous crawl then pauses the server for an hour. Any other crawl pauses the server for
    /// five minutes, and parks the host for the rest of the run.
    fn end_visit(
        &mut self,
        mut active: ActiveVisit,
        delay: Duration,
        given_up: Option<&str>,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) {
        let asked = *active.asked.get_or_insert(now);
        let wait = delay.max(active.rests_until.since(asked));
        if wait > active.kept {
            self.keep_distance(&mut active, asked, wait, actions);
        }
        if let Some(link) = active.link {
            active.visit.estimate.open_after(link.served);
        }
        // The delay after the last request applies, whatever its outcome.
        let kept = asked + active.kept;
        let until = active.rests_until.max(active.closed_until).max(kept);
        let mut delay = delay.max(until.since(now));
        if let Some(kind) = given_up {
            for claim in std::mem::take(&mut active.claims) {
                self.give_up(&claim, kind, now, actions);
                active.visit.settled(claim.number);
            }
            if !self.plan.is_continuous() {
                self.frontier.bench.park(active.visit.host);
            }
            delay = delay.max(self.plan.rest());
        }
        let host = active.visit.host;
        if let Some(known) = self.hosts.get_mut(host) {
            known.measured(active.visit.estimate);
        }
        if let Some(link) = active.link {
            self.hosts.put_idle(host, link, now);
        }
        let open = active.link.is_some();
        self.frontier.bench.settle(active.visit, now, delay, open);
    }

    /// Returns why a page may not be requested; `None`: it may.
    fn forbidden(&self, url: &PageUrl, rules: &Robots) -> Option<&'static str> {
        if !rules.allows(url) {
            return Some("robots");
        }
        (!self.frontier.novelty.allows(url.pattern())).then_some("trap:pattern")
    }

    /// Counts a request for a robots.txt or a probe.
    fn count_overhead(&mut self, bytes: u64, now: Moment, actions: &mut Vec<Action<S>>) {
        self.tally.bytes += bytes;
        self.allowance.charge(now);
        actions.push(Action::Note(Note::Overhead { bytes }));
    }
}
