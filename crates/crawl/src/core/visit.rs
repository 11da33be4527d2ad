//! One visit to one server: pages asked for over one connection, as many as pay.
//!
//! A visit passes these stages for each page, and stays in none of them without an action under way:
//!
//! 1. *load* what the ledger has of the page and its host;
//! 2. *resolve* the host and *connect*, unless a connection is open;
//! 3. *ask for robots.txt*, unless the rules are known; *probe* the host once, if pages are refreshed;
//! 4. *wait* until the request may be made: too many may be uncommitted;
//! 5. *get* the page, or several at once.
//!
//! **Invariant:** a visit is held from the claim to its settlement, whatever the server does in between. A page stays
//! in the visit until it is settled, so that what the visit does not come to waits again.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use frontier::{Bound, More, PageKey, Probe, Visit};
use page::{PageId, PageUrl, Robots};
use policy::{History, Moment, Number};

use super::hosts::Link;
use super::reading::Arrival;
use super::{Core, Mode};
use crate::action::{Action, Claim, Get, Note, Request};
use crate::event::{
    Answered, ConnectionId, ConnectionState, Event, Failure, Opened, Reply, VisitId,
};
use crate::host::{Host, RobotsFile};
use crate::verdict::Lead;

/// Every so many revisits a page is fetched whole: a server's 304 is a hint (hostile-web.md, row 68).
const WHOLE_EVERY: u32 = 8;
/// Sitemaps of one robots.txt that are followed (hostile-web.md, row 52).
const SITEMAPS: usize = 64;

/// A visit under way.
pub(super) struct Call {
    pub(super) visit: Visit,
    pub(super) stage: Stage,
    /// What is known of its pages that were not settled yet, in their order.
    pub(super) claims: VecDeque<Arc<Claim>>,
    /// The open connection.
    pub(super) link: Option<Link>,
    /// The other end of the last connection.
    pub(super) address: Option<IpAddr>,
    /// The connection that is being opened.
    pub(super) opening: Option<ConnectionId>,
    /// Until when the server wants to be left alone, as its answers say.
    pub(super) rests_until: Moment,
    /// When the last request was made.
    pub(super) asked: Option<Moment>,
    /// How long after that the server is left alone, as far as the ledger knows.
    pub(super) kept: Duration,
    /// How long the server is left alone when the visit ends. A visit that asked for nothing owes it no delay.
    pub(super) due: Duration,
    /// Whether the next page is asked for alone: several at once came to nothing.
    pub(super) alone: bool,
}

/// What a visit waits for.
pub(super) enum Stage {
    /// Nothing: it is about to go on.
    Free,
    /// Histories, or requests to be committed.
    Waiting,
    /// What the ledger has of its pages and its host.
    Loading(Vec<PageKey>),
    /// The address of the server.
    Resolving,
    /// The connection.
    Connecting,
    /// robots.txt.
    Rules,
    /// The answer to a URL that cannot exist.
    Probing(Duration),
    /// Pages.
    Asking(Asking),
    /// A connection for pages whose request found the last one closed.
    Reconnecting(Asking),
}

/// Pages that were asked for.
pub(super) struct Asking {
    batch: Vec<Arc<Claim>>,
    at: Moment,
    delay: Duration,
    /// Pages that are not settled yet.
    left: usize,
    /// Pages that were not answered.
    lost: usize,
    /// Points against another try: two if a request was sent to a connection that was closed, one if the connection
    /// was found closed before.
    closed: u8,
}

/// Why a visit ended before its pages did.
enum End {
    /// The host did not answer, for this reason.
    Failed(Failure),
    /// The host's robots.txt cannot be had, so nothing may be fetched.
    NoRules,
}

/// Whether a visit goes on by itself.
enum Flow {
    /// It waits for an event.
    Waits,
    /// It ends, and the server is left alone for so long.
    Ends(Duration),
}

impl Call {
    pub fn new(visit: Visit) -> Self {
        Self {
            visit,
            stage: Stage::Free,
            claims: VecDeque::new(),
            link: None,
            address: None,
            opening: None,
            rests_until: Moment::START,
            asked: None,
            kept: Duration::ZERO,
            due: Duration::ZERO,
            alone: false,
        }
    }

    /// Whether the server wants to be left alone.
    pub(super) fn rests(&self) -> bool {
        self.rests_until > Moment::START
    }

    /// Leaves the server alone for this time.
    pub(super) fn rest_for(&mut self, wait: Duration, now: Moment) {
        self.rests_until = self.rests_until.max(now + wait);
    }

    /// Takes note of the connection after a request.
    fn used(&mut self, connection: ConnectionState) {
        if !connection.open {
            self.link = None;
        } else if let Some(link) = &mut self.link {
            link.served = connection.served;
        }
    }

    /// Forgets a connection that its server closed while no request used it.
    pub fn lose(&mut self, connection: ConnectionId) {
        if self.link.is_some_and(|link| link.id == connection) {
            self.link = None;
        }
    }

    /// Takes in what has become known of a page since its last visit, if it is claimed and not being asked for. One whose
    /// request found the connection closed is asked for again, so its claim learns too.
    pub fn learned(&mut self, page: PageId, history: &History) {
        let held = match &mut self.stage {
            Stage::Reconnecting(asking) => asking.batch.iter_mut(),
            _ => [].iter_mut(),
        };
        let claims = self.claims.iter_mut().chain(held);
        for claim in claims.filter(|claim| claim.key.page == page) {
            if let Some(before) = &mut Arc::make_mut(claim).before
                && before.history.asked == history.asked
            {
                before.history = *history;
            }
        }
    }

    /// Takes note that a page is settled.
    fn settled(&mut self, page: Number) {
        self.visit.settled(page);
        self.claims.retain(|claim| claim.number != page);
    }
}

impl<S> Core<S> {
    /// Takes in what was reported of a visit.
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
                if let Some(call) = self.calls.get_mut(&visit) {
                    call.used(connection);
                    retry_after
                        .into_iter()
                        .for_each(|wait| call.rest_for(wait, now));
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
            _ => unreachable!("only events of a visit come here"),
        }
    }

    /// Lets a visit go on until it waits for something or ends.
    pub(super) fn proceed(&mut self, id: VisitId, now: Moment, actions: &mut Vec<Action<S>>) {
        let Some(mut call) = self.calls.remove(&id) else {
            return;
        };
        call.stage = Stage::Free;
        match self.advance(id, &mut call, now, actions) {
            Flow::Waits => {
                self.calls.insert(id, call);
            }
            Flow::Ends(delay) => self.hang_up(call, delay, None, now, actions),
        }
    }

    fn advance(
        &mut self,
        id: VisitId,
        call: &mut Call,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) -> Flow {
        loop {
            if self.mode != Mode::Running {
                return Flow::Ends(call.due);
            }
            if call.visit.first().is_none() {
                if call.link.is_none() {
                    return Flow::Ends(call.due);
                }
                let free = self.calls.len() + 1 < self.plan.connections;
                let more = self.frontier.more(&mut call.visit, free, now);
                let known = self.load_histories(actions);
                match more {
                    More::Nothing => return Flow::Ends(call.due),
                    More::Claimed => {}
                    More::Unknown if known => continue,
                    More::Unknown => {
                        self.unsure.push_back(id);
                        call.stage = Stage::Waiting;
                        return Flow::Waits;
                    }
                }
            }
            if !self.recall(id, call, now, actions) {
                return Flow::Waits;
            }
            let Some(claim) = call.claims.front().cloned() else {
                continue;
            };
            while call.link.is_none()
                && let Some(link) = self.hosts.take_idle(claim.url.host())
            {
                if self.leads_to_server(&link, call) {
                    call.address = Some(link.address);
                    call.link = Some(link);
                } else {
                    actions.push(Action::Close(link.id));
                }
            }
            let Some(link) = call.link else {
                call.stage = Stage::Resolving;
                let (visit, url) = (id, claim.url.clone());
                actions.push(Action::Resolve { visit, url });
                return Flow::Waits;
            };
            let host = self.hosts.get(claim.url.host());
            let rules = match &self.no_rules {
                Some(none) => Some(Arc::clone(none)),
                None => host.and_then(|host| host.rules(now)),
            };
            let Some(rules) = rules else {
                // What an older file asked for holds until there is another.
                let delay = self.delay(call, host.and_then(Host::crawl_delay));
                call.stage = Stage::Rules;
                actions.push(Action::AskRules {
                    visit: id,
                    connection: link.id,
                    url: claim.url.clone(),
                    distance: self.ask(call, delay, now),
                });
                return Flow::Waits;
            };
            if let Some(reason) = self.forbidden(&claim.url, &rules) {
                self.refuse(&claim, reason, now, actions);
                call.settled(claim.number);
                continue;
            }
            let delay = self.delay(call, rules.crawl_delay());
            if let Some(url) = self.probe_of(&claim, &rules) {
                call.stage = Stage::Probing(delay);
                actions.push(Action::Probe {
                    visit: id,
                    connection: link.id,
                    url,
                    distance: self.ask(call, delay, now),
                });
                return Flow::Waits;
            }
            if !self.risk.take() {
                self.risk.await_turn(id);
                call.stage = Stage::Waiting;
                return Flow::Waits;
            }
            if !self.allowance.take(now) {
                self.risk.give_back(1);
                return Flow::Ends(call.due);
            }
            let alone = std::mem::take(&mut call.alone) || !delay.is_zero();
            let width = if alone {
                1
            } else {
                link.width.min(self.plan.width)
            };
            let batch = self.batch(call, claim, &rules, width, now, actions);
            let asking = Asking {
                left: batch.len(),
                batch,
                at: now,
                delay,
                lost: 0,
                closed: 0,
            };
            self.get(id, call, asking, now, actions);
            return Flow::Waits;
        }
    }

    fn resolved(
        &mut self,
        id: VisitId,
        address: Result<Option<IpAddr>, Failure>,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) {
        let Some(mut call) = self.calls.remove(&id) else {
            return;
        };
        let address = match address {
            Ok(address) => address,
            Err(failure) => return self.fail(call, End::Failed(failure), now, actions),
        };
        if let Some(address) = address {
            match self.frontier.bench.bind(call.visit, address.to_canonical()) {
                Bound::Go(visit) => call.visit = visit,
                Bound::Moved => {
                    // Another host has the address: the pages wait there.
                    if let Stage::Reconnecting(asking) = call.stage {
                        self.give_back(asking.left);
                    }
                    return actions.push(Action::Abandon(id));
                }
            }
        }
        // With one more, for this visit, there are at most so many connections.
        let room = self.plan.connections.saturating_sub(self.calls.len() + 1);
        while let Some((host, connection)) = self.hosts.take_oldest(room) {
            self.frontier.bench.closed(host);
            actions.push(Action::Close(connection));
        }
        let connection = ConnectionId(self.connections);
        self.connections += 1;
        let url = match (&call.stage, call.claims.front()) {
            (Stage::Reconnecting(asking), _) => asking.batch[0].url.clone(),
            (_, Some(claim)) => claim.url.clone(),
            (_, None) => unreachable!("a host is resolved for a page"),
        };
        if !matches!(call.stage, Stage::Reconnecting(_)) {
            call.stage = Stage::Connecting;
        }
        call.link = None;
        actions.push(Action::Connect {
            visit: id,
            connection,
            url,
        });
        call.opening = Some(connection);
        self.calls.insert(id, call);
    }

    fn connected(
        &mut self,
        id: VisitId,
        opened: Result<Opened, Failure>,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) {
        let Some(mut call) = self.calls.remove(&id) else {
            return;
        };
        let connection = call.opening.take();
        // A connection that failed cost its time too.
        let took = opened
            .as_ref()
            .map_or_else(|failed| failed.took, |opened| opened.took);
        call.visit.estimate.connected(took);
        let (opened, connection) = match (opened, connection) {
            (Ok(opened), Some(connection)) => (opened, connection),
            (Err(failure), _) => return self.fail(call, End::Failed(failure), now, actions),
            (Ok(_), None) => unreachable!("a connection is opened that was asked for"),
        };
        if let Some(host) = self.hosts.get_mut(call.visit.host) {
            host.connected(opened.connect_time);
        }
        call.address = Some(opened.address);
        call.link = Some(Link {
            id: connection,
            server: self.frontier.bench.server(&call.visit),
            address: opened.address,
            width: opened.width,
            served: 0,
        });
        match std::mem::replace(&mut call.stage, Stage::Free) {
            Stage::Reconnecting(asking) => {
                self.get(id, &mut call, asking, now, actions);
                self.calls.insert(id, call);
            }
            _ => {
                self.calls.insert(id, call);
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
        let Some(mut call) = self.calls.remove(&id) else {
            return;
        };
        let url = match call.claims.front() {
            Some(claim) => claim.url.clone(),
            None => unreachable!("rules are asked for because of a page"),
        };
        let Some(host) = self.hosts.get_mut(url.host()) else {
            return self.fail(call, End::NoRules, now, actions);
        };
        let learned = host.learn_rules(file, now);
        let fact = host.fact().into_iter().collect();
        // The ledger has the delay that the file asks for before it has the file: the next run must not take the
        // file for one that was read long ago.
        let crawl_delay = learned.as_ref().and_then(|rules| rules.crawl_delay());
        let delay = self.delay(&call, crawl_delay);
        if let Some(asked) = call.asked.filter(|_| delay > call.kept) {
            self.keep_distance(&mut call, asked, delay, actions);
        }
        self.outbox.push_facts(fact, actions);
        let Some(rules) = learned else {
            return self.fail(call, End::NoRules, now, actions);
        };
        if self.plan.is_continuous() {
            // What robots.txt names is a way in, as a seed is.
            let sitemaps = rules.sitemaps(&url).into_iter().take(SITEMAPS);
            let leads: Vec<Lead> = sitemaps.map(Lead::listing).collect();
            if !leads.is_empty() {
                self.arrivals.push_back(Arrival::Leads(leads));
            }
        }
        if !delay.is_zero() {
            // The file was a request too: the page waits its turn.
            return self.hang_up(call, delay, None, now, actions);
        }
        self.calls.insert(id, call);
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
        let Some(mut call) = self.calls.remove(&id) else {
            return;
        };
        call.used(connection);
        if let Some(reply) = reply {
            self.heed_refusal(&mut call, reply, now, actions);
        }
        if let (Some(host), Some(found)) = (self.hosts.get_mut(call.visit.host), found) {
            host.probed(found);
        } else if let Some(host) = self.hosts.get_mut(call.visit.host) {
            host.probe_failed();
        }
        let Stage::Probing(delay) = call.stage else {
            unreachable!("a host is probed by a visit that asked for it")
        };
        call.stage = Stage::Free;
        if !delay.is_zero() || call.rests() {
            // That was a request too.
            return self.hang_up(call, delay, None, now, actions);
        }
        self.calls.insert(id, call);
        self.proceed(id, now, actions);
    }

    /// The pages that may be asked for together with the first, for which the right was taken.
    fn batch(
        &mut self,
        call: &mut Call,
        first: Arc<Claim>,
        rules: &Robots,
        width: usize,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) -> Vec<Arc<Claim>> {
        let others: Vec<Arc<Claim>> = call.claims.iter().skip(1).cloned().collect();
        let mut batch = vec![first];
        for claim in others {
            if batch.len() >= width {
                break;
            }
            if let Some(reason) = self.forbidden(&claim.url, rules) {
                self.refuse(&claim, reason, now, actions);
                call.settled(claim.number);
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

    /// Asks for pages over the connection that is open.
    fn get(
        &mut self,
        id: VisitId,
        call: &mut Call,
        asking: Asking,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) {
        let Some(link) = call.link else {
            unreachable!("pages are asked for over a connection")
        };
        let host = self.hosts.get(call.visit.host);
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
            requests: asking.batch.iter().map(request).collect(),
            at: asking.at,
            distance: self.ask(call, asking.delay, now),
            scope: Arc::clone(&self.scope),
            missing,
            places: self.wants_places(),
            last_try: asking.closed >= 2,
        };
        call.stage = Stage::Asking(asking);
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
        let Some(mut call) = self.calls.remove(&id) else {
            return;
        };
        let Stage::Asking(mut asking) = std::mem::replace(&mut call.stage, Stage::Free) else {
            unreachable!("a page is answered that was asked for")
        };
        let served = call.link.map(|_| connection.served);
        if !matches!(answer, Answered::Closed { .. }) {
            call.used(connection);
        }
        let claim = asking
            .batch
            .iter()
            .find(|claim| claim.number == page)
            .cloned();
        let Some(claim) = claim else {
            unreachable!("a page is answered that was asked for")
        };
        match answer {
            Answered::Closed { sent } => {
                asking.closed += if sent { 2 } else { 1 };
                let url = asking.batch[0].url.clone();
                call.link = None;
                call.stage = Stage::Reconnecting(asking);
                actions.push(Action::Resolve { visit: id, url });
                self.calls.insert(id, call);
                return;
            }
            Answered::Page(judged) => {
                self.heed_refusal(&mut call, judged.reply, now, actions);
                if let Some(host) = self.hosts.get_mut(call.visit.host) {
                    host.answered(judged.first_byte);
                }
                if let (false, Some(served)) = (connection.open, served) {
                    call.visit.estimate.closed_after(served);
                }
                self.arrived(id, claim, *judged);
                // The visit goes on when the page is read.
                call.stage = Stage::Asking(asking);
                self.calls.insert(id, call);
                return;
            }
            Answered::Failed { failure, bytes } => {
                self.falter(&mut call, &failure, now);
                call.visit.estimate.answered(failure.took);
                let (at, took) = (asking.at, failure.took);
                self.unanswered(&claim, (at, took), (failure.kind, bytes), now, actions);
                call.settled(page);
            }
            Answered::Unanswered => {
                self.give_back(1);
                asking.lost += 1;
            }
        }
        call.stage = Stage::Asking(asking);
        self.calls.insert(id, call);
        self.one_less(id, now, actions);
    }

    /// Lets the visit of a page go on that was read.
    pub(super) fn page_read(
        &mut self,
        id: VisitId,
        claim: &Claim,
        first_byte: Duration,
        took: Duration,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) {
        let Some(call) = self.calls.get_mut(&id) else {
            return;
        };
        let several = matches!(&call.stage, Stage::Asking(asking) if asking.batch.len() > 1);
        let took = if several { first_byte } else { took };
        call.visit.estimate.answered(took);
        call.settled(claim.number);
        self.one_less(id, now, actions);
    }

    /// Takes note that a page that was asked for is settled. When all are, the visit goes on or ends.
    fn one_less(&mut self, id: VisitId, now: Moment, actions: &mut Vec<Action<S>>) {
        let Some(mut call) = self.calls.remove(&id) else {
            return;
        };
        let Stage::Asking(asking) = &mut call.stage else {
            unreachable!("a page is settled that was asked for")
        };
        asking.left -= 1;
        if asking.left > 0 {
            self.calls.insert(id, call);
            return;
        }
        // Nothing came: the next is asked for alone, and its answer says why.
        call.alone = asking.lost == asking.batch.len();
        call.due = asking.delay;
        if !call.due.is_zero() || call.rests() {
            let delay = call.due;
            return self.hang_up(call, delay, None, now, actions);
        }
        self.calls.insert(id, call);
        self.proceed(id, now, actions);
    }

    /// Gives back the rights to requests that were not made.
    fn give_back(&mut self, requests: usize) {
        self.risk.give_back(requests);
        (0..requests).for_each(|_| self.allowance.give_back());
    }

    /// Ends a visit to a host that cannot be crawled now.
    fn fail(&mut self, call: Call, end: End, now: Moment, actions: &mut Vec<Action<S>>) {
        if let Stage::Reconnecting(asking) = &call.stage {
            self.give_back(asking.left);
        }
        let (kind, transient) = match &end {
            End::Failed(failure) => (failure.kind, failure.transient),
            End::NoRules => ("robots:unavailable", true),
        };
        let again = self.hosts.get_mut(call.visit.host).and_then(Host::failed);
        match again.filter(|_| transient) {
            Some(wait) => self.hang_up(call, wait, None, now, actions),
            None => self.hang_up(call, Duration::ZERO, Some(kind), now, actions),
        }
    }

    /// Settles a visit; `given_up` is why its host is left alone until the crawl begins again, if it is. A crawl that
    /// does not end lets it rest.
    fn hang_up(
        &mut self,
        mut call: Call,
        delay: Duration,
        given_up: Option<&str>,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) {
        let asked = *call.asked.get_or_insert(now);
        let wait = delay.max(call.rests_until.since(asked));
        if wait > call.kept {
            self.keep_distance(&mut call, asked, wait, actions);
        }
        if let Some(link) = call.link {
            call.visit.estimate.open_after(link.served);
        }
        // Whatever came of its requests, the delay after the last of them is due.
        let kept = asked + call.kept;
        let mut delay = delay.max(call.rests_until.max(kept).since(now));
        if let Some(kind) = given_up {
            for claim in std::mem::take(&mut call.claims) {
                self.give_up(&claim, kind, now, actions);
                call.visit.settled(claim.number);
            }
            if !self.plan.is_continuous() {
                self.frontier.bench.park(call.visit.host);
            }
            delay = delay.max(self.plan.rest());
        }
        let host = call.visit.host;
        if let Some(known) = self.hosts.get_mut(host) {
            known.measured(call.visit.estimate);
        }
        if let Some(link) = call.link {
            self.hosts.put_idle(host, link, now);
        }
        let open = call.link.is_some();
        self.frontier.bench.settle(call.visit, now, delay, open);
    }

    /// Why a page may not be asked for.
    fn forbidden(&self, url: &PageUrl, rules: &Robots) -> Option<&'static str> {
        if !rules.allows(url) {
            return Some("robots");
        }
        (!self.frontier.novelty.allows(url.pattern())).then_some("trap:pattern")
    }

    /// Counts a request for something that is no page.
    fn count_overhead(&mut self, bytes: u64, now: Moment, actions: &mut Vec<Action<S>>) {
        self.tally.bytes += bytes;
        self.allowance.charge(now);
        actions.push(Action::Note(Note::Overhead { bytes }));
    }
}
