//! The state machine itself: which visit begins when, and what becomes of everything that is reported.

mod accounts;
mod begin;
mod claims;
mod hosts;
mod manners;
mod outbox;
mod probe;
mod reading;
mod visit;

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use frontier::{Buffer, Entry, Frontier, Next, PageKey, Present, Visited};
use page::{PageId, Robots};
use policy::focus::ON_TOPIC;
use policy::{Crawl, Fact, History, Moment, Moves, Outcome, Page, Policy, Shown, Worth};

use crate::action::{Action, Claim, Record};
use crate::change_hints::{ChangeHints, is_news};
use crate::discovery::Offer;
use crate::event::{ConnectionId, Event, Gain, Met, VisitId};
use crate::overlay::Overlay;
use crate::plan::Plan;
use crate::scope::Scope;
use crate::tally::{Summary, Tally};
use accounts::{Allowance, Risk};
use hosts::Hosts;
use outbox::Outbox;
use reading::Arrival;
use visit::Call;

pub use begin::{Begun, Policies, belongs, is_dropped};

/// How long a crawl that does not end waits before it looks again, if nothing waits at all.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// Everything that decides what a crawl does next. Fed with events, answers with actions; the same
/// events in the same order give the same actions.
///
/// `S` is what a driver makes of an answer for its archive; the core hands it through.
pub struct Core<S> {
    plan: Plan,
    mode: Mode,
    frontier: Frontier<Crawl>,
    /// What belongs to the crawl. Shared with requests under way; copied when a seed is added.
    scope: Arc<Scope>,
    allowance: Allowance,
    risk: Risk,
    tally: Tally,
    /// Room for the best pages only, if the user wants that.
    buffer: Option<Buffer<PageKey>>,
    hosts: Hosts,
    /// The rules of all servers, if the crawl is one [without](Plan::without_rules).
    no_rules: Option<Arc<Robots>>,
    /// Records that the ledger does not have yet.
    overlay: Overlay,
    outbox: Outbox<S>,
    hints: ChangeHints,
    /// Visits under way.
    calls: BTreeMap<VisitId, Call>,
    /// Visits that wait for histories.
    unsure: VecDeque<VisitId>,
    /// Pages that visits under way are loading, and those of them that have changed since.
    loading: HashSet<PageId>,
    outdated: HashSet<PageId>,
    /// What was fetched and not taken in yet, in the order in which it came.
    arrivals: VecDeque<Arrival<S>>,
    visits: u64,
    connections: u64,
    /// When facts from the future were first noticed, if there are any.
    noticed_ahead: Option<Moment>,
    finished: bool,
}

/// Whether a crawl begins something new.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// It does.
    #[default]
    Running,
    /// Not for now.
    Paused,
    /// Not any more.
    Stopping,
}

impl<S> Core<S> {
    /// Takes in an event, and says what to do.
    pub fn step(&mut self, event: Event<S>, now: Moment, actions: &mut Vec<Action<S>>) {
        match event {
            Event::Woken => {}
            Event::HistoriesLoaded(histories) => self.bring(histories, now),
            Event::VisitsLoaded(visits) => self.heed(visits, now, actions),
            Event::Committed {
                facts,
                requests,
                gains,
            } => self.committed(&facts, requests, &gains, now),
            Event::Offered(offers) => self.accept(offers),
            Event::Searched(met) => tell_searches(&mut self.frontier, &met),
            Event::BudgetChanged(per_second) => self.afford(per_second, now),
            Event::ConnectionClosed(connection) => self.connection_closed(connection),
            Event::Paused(paused) => self.pause(paused),
            Event::Stopped => self.mode = Mode::Stopping,
            of_visit => self.visit_event(of_visit, now, actions),
        }
        self.go_on(now, actions);
    }

    /// Does what can be done now, and says when there will be more.
    fn go_on(&mut self, now: Moment, actions: &mut Vec<Action<S>>) {
        if self.finished {
            // What is still told, as that the last facts are committed, begins nothing.
            return;
        }
        self.take_in(now, actions);
        self.resume_visits(now, actions);
        let mut wake = self.start_visits(now, actions);
        let hinted = self.hints.take_wanted();
        if !hinted.is_empty() {
            actions.push(Action::LoadVisits(hinted));
        }
        self.close_idle(now, actions);
        self.finish(wake.is_none(), actions);
        if !self.arrivals.is_empty() {
            wake = Some(now);
        }
        let flush = self.outbox.flush_due(now, actions);
        let moments = [wake, flush, self.hosts.next_expiry()];
        if let Some(first) = moments.into_iter().flatten().min()
            && !self.finished
        {
            actions.push(Action::WakeAt(first));
        }
    }

    /// Starts visits while there is room. Returns when to look again; `None`: nothing waits.
    fn start_visits(&mut self, now: Moment, actions: &mut Vec<Action<S>>) -> Option<Moment> {
        loop {
            match self.mode {
                Mode::Stopping => return None,
                Mode::Paused => return Some(now + LOOK_AGAIN),
                Mode::Running => {}
            }
            if self.calls.len() >= self.plan.connections {
                // A visit that ends looks again.
                return Some(now + LOOK_AGAIN);
            }
            if self.allowance.is_spent() {
                return None;
            }
            if let Some(ready) = self.allowance.wait(now) {
                return Some(ready);
            }
            let next = self.frontier.next(now);
            let known = self.load_histories(actions);
            match next {
                Next::Visit(visit) => {
                    let id = VisitId(self.visits);
                    self.visits += 1;
                    self.calls.insert(id, Call::new(visit));
                    self.proceed(id, now, actions);
                }
                Next::WaitUntil(moment) => return Some(moment),
                Next::Unknown if known => {}
                // The histories that come look again.
                Next::Unknown => return Some(now + LOOK_AGAIN),
                Next::Idle if self.plan.is_continuous() => return Some(now + LOOK_AGAIN),
                Next::Idle => return None,
            }
        }
    }

    /// Asks for the histories that a choice depends on. Those on their way to the ledger are here. Returns whether
    /// all are.
    fn load_histories(&mut self, actions: &mut Vec<Action<S>>) -> bool {
        let mut wanted = self.frontier.wanted();
        wanted.retain(|key| match self.overlay.history(key.page) {
            Some(history) => {
                self.frontier.bring(key.page, Some(history));
                false
            }
            None => true,
        });
        if !wanted.is_empty() {
            actions.push(Action::LoadHistories(wanted));
        }
        !self.frontier.awaits_histories()
    }

    fn bring(&mut self, histories: Vec<(PageKey, Option<History>)>, now: Moment) {
        let present = self.present(now);
        for (key, history) in histories {
            let newer = self.overlay.history(key.page);
            let history = newer.or(history.map(|history| present.history(&history)));
            self.frontier.bring(key.page, history);
        }
    }

    /// Lets visits go on that waited for histories, or for requests to be committed.
    fn resume_visits(&mut self, now: Moment, actions: &mut Vec<Action<S>>) {
        for id in std::mem::take(&mut self.unsure) {
            self.proceed(id, now, actions);
        }
        if self.mode != Mode::Running {
            for id in self.risk.take_waiting() {
                self.proceed(id, now, actions);
            }
        }
        while let Some(id) = self.risk.next_waiting() {
            self.proceed(id, now, actions);
        }
    }

    /// Closes connections that were idle for too long.
    fn close_idle(&mut self, now: Moment, actions: &mut Vec<Action<S>>) {
        while let Some((host, connection)) = self.hosts.take_expired(now) {
            self.frontier.bench.closed(host);
            actions.push(Action::Close(connection));
        }
    }

    /// Ends the crawl, if nothing is under way and nothing waits.
    fn finish(&mut self, idle: bool, actions: &mut Vec<Action<S>>) {
        let at_rest = self.calls.is_empty() && self.arrivals.is_empty() && self.hints.is_empty();
        if self.finished || !idle || !at_rest {
            return;
        }
        self.finished = true;
        let hosts = self.hosts.facts();
        self.outbox.push_facts(hosts, actions);
        actions.push(Action::Finish);
    }

    fn pause(&mut self, paused: bool) {
        self.mode = match (self.mode, paused) {
            (Mode::Stopping, _) => Mode::Stopping,
            (_, true) => Mode::Paused,
            (_, false) => Mode::Running,
        };
    }

    fn afford(&mut self, per_second: f64, now: Moment) {
        if let Some(budget) = &mut self.allowance.budget {
            budget.change(per_second, now);
        }
        self.frontier.afford(per_second, now);
    }

    fn connection_closed(&mut self, connection: ConnectionId) {
        if let Some(host) = self.hosts.closed(connection) {
            self.frontier.bench.closed(host);
        } else {
            // A visit has it that waits for something else than an answer.
            self.calls
                .values_mut()
                .for_each(|call| call.lose(connection));
        }
    }

    fn accept(&mut self, offers: Vec<Offer>) {
        self.arrivals.push_back(Arrival::Offered(offers));
    }

    fn committed(&mut self, facts: &[Entry], requests: usize, gains: &[Gain], now: Moment) {
        self.risk.give_back(requests);
        for gain in gains {
            self.gained(gain, now);
        }
        for fact in facts {
            self.overlay.committed(fact);
            // What is being loaded was read before the commit, perhaps, and is no longer in the overlay.
            if let Entry::Visited(key, _) | Entry::Signalled(key, _) = fact {
                self.changed(key.page);
            }
        }
        self.frontier.committed(facts);
    }

    /// Takes in what the copy of a visit gave to searchers. Hints that came since the visit are kept. If a later
    /// visit is settled already, the gain is of a copy that is no more.
    fn gained(&mut self, gain: &Gain, now: Moment) {
        let (mut before, mut after) = (gain.before, gain.after);
        if let Some(last) = self.overlay.history(gain.page) {
            if last.asked != after.asked {
                return;
            }
            (before.signals, after.signals) = (last.signals, last.signals);
        }
        self.learned(gain.page, &before, &after, now);
    }

    /// Takes in what else has become known of a page that was visited. A visit that has claimed it and not asked for
    /// it yet learns of it too: a hint that brings a visit about counts as one that it followed.
    fn learned(&mut self, page: PageId, before: &History, after: &History, now: Moment) {
        self.frontier.learned(page, before, after, now);
        self.changed(page);
        let calls = self.calls.values_mut();
        for call in calls.filter(|call| call.visit.host == page.host()) {
            call.learned(page, after);
        }
    }

    /// Takes note that what is being loaded of a page is no longer the last that is known of it.
    fn changed(&mut self, page: PageId) {
        self.hints.changed(page);
        if self.loading.contains(&page) {
            self.outdated.insert(page);
        }
    }

    /// Takes in what listings say of pages whose last visits were loaded.
    fn heed(
        &mut self,
        visits: Vec<(PageKey, Option<Visited>)>,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) {
        let present = self.present(now);
        let mut facts = Vec::new();
        for (key, stored) in visits {
            let Some((_, modified)) = self.hints.loaded(key.page) else {
                continue;
            };
            let newer = self.overlay.get(key.page).cloned();
            let stored = stored.map(|visited| Visited {
                history: present.history(&visited.history),
                ..visited
            });
            let Some(mut visited) = newer.or(stored) else {
                continue;
            };
            let before = visited.history;
            if is_news(&before, modified) {
                facts.push(Entry::Signalled(key, modified));
                visited.history = before.signalled(modified);
                self.learned(key.page, &before, &visited.history, now);
                self.overlay.signal(key.page, visited);
            }
        }
        if !facts.is_empty() {
            self.outbox.push_facts(facts, actions);
        }
    }

    /// Takes in a settled page.
    fn settle(
        &mut self,
        claim: &Claim,
        record: Record<S>,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) {
        self.tally.count(&record.visited);
        let history = &record.visited.history;
        let page = record.key.page;
        self.frontier.visited(page, &record.before, history, now);
        if record.visited.copy.is_some() {
            self.keep(record.key, history.depth, now);
        }
        let discovery = claim.discovery.clone();
        self.overlay.visit(page, record.visited.clone(), discovery);
        self.changed(page);
        self.outbox.push(record, now, actions);
    }

    /// Takes a page into the buffer, if there is one; what falls out is dropped with the next commit.
    fn keep(&mut self, key: PageKey, depth: u16, now: Moment) {
        let (Some(buffer), Some(number)) = (&mut self.buffer, self.frontier.number(key.page))
        else {
            return;
        };
        buffer.keep(number, depth, key);
        while let Some(dropped) = buffer.overflow(self.frontier.policy()) {
            self.tally.dropped += 1;
            self.outbox.drop_page(dropped, now);
        }
    }

    /// Whether the crawl has found what it was to find.
    fn has_enough(&mut self) -> bool {
        let (share, wanted) = (self.plan.stop_coverage, self.plan.until_found);
        if share.is_none() && wanted.is_none() {
            return false;
        }
        let report = self.frontier.policy().report();
        let reached = |have: Option<f64>, want: Option<f64>| {
            have.zip(want).is_some_and(|(have, want)| have >= want)
        };
        reached(report.coverage, share)
            || report
                .found
                .zip(wanted)
                .is_some_and(|(have, want)| have >= want)
    }

    /// Whether a page that was read is of the topic.
    fn is_on_topic(&mut self, page: PageId, history: &History) -> bool {
        let Some(number) = self.frontier.number(page) else {
            return false;
        };
        let found = self.frontier.policy().importance(Page { number, history });
        found >= Worth::new(f64::from(ON_TOPIC))
    }

    /// The present, as facts of earlier runs are seen from it.
    fn present(&self, now: Moment) -> Present {
        Present::new(now, self.noticed_ahead)
    }
}

/// What is known of a crawl, for those who watch it.
impl<S> Core<S> {
    /// What was done so far, and what is left.
    pub fn summary(&mut self, took: Duration) -> Summary {
        let queued = self.frontier.waiting() + self.frontier.bench.left_alone();
        let report = self.frontier.policy().report();
        let price = self.frontier.price().value();
        let known = self.frontier.known();
        Summary {
            price: self.allowance.budget.as_ref().map(|_| price),
            deferred: self.frontier.bench.deferred(),
            deferred_domains: self.frontier.deferring_domains(3),
            ..self.tally.summary(known, queued, report, took)
        }
    }

    /// The frontier.
    pub fn frontier(&mut self) -> &mut Frontier<Crawl> {
        &mut self.frontier
    }

    /// The frontier, and what belongs to the crawl.
    pub fn frontier_and_scope(&mut self) -> (&mut Frontier<Crawl>, &Scope) {
        (&mut self.frontier, &self.scope)
    }

    /// What was counted.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Pages that may still be fetched; `None`: any number.
    pub fn pages_left(&self) -> Option<u64> {
        self.allowance.pages
    }

    /// Fetches a second that the budget pays for; `None`: any number.
    pub fn budget(&self) -> Option<f64> {
        let budget = self.allowance.budget.as_ref();
        budget.map(frontier::Budget::per_second)
    }

    /// The record of a page that the ledger does not have yet.
    pub fn uncommitted_record(&self, page: PageId) -> Option<&Visited> {
        self.overlay.get(page)
    }

    /// What is remembered of a host.
    pub fn host(&self, id: page::HostId) -> Option<&crate::host::Host> {
        self.hosts.get(id)
    }

    /// Whether something that was reported is not taken in yet: the next step goes on with it.
    pub fn is_behind(&self) -> bool {
        !self.arrivals.is_empty()
    }

    /// Visits under way.
    pub fn visits(&self) -> usize {
        self.calls.len()
    }

    /// Connections that are open and not in use.
    pub fn idle_connections(&self) -> usize {
        self.hosts.idle()
    }

    /// Requests that are not committed.
    pub fn uncommitted(&self) -> usize {
        self.risk.uncommitted()
    }

    /// Whether it begins something new.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Pages that wait although the crawl has come to its end: their servers want to be left alone for longer than
    /// it waits.
    pub fn left_for_later(&self) -> usize {
        let done = self.mode != Mode::Running || self.allowance.is_spent();
        if done {
            0
        } else {
            self.frontier.bench.waiting()
        }
    }
}

/// Tells the policy what searchers met, and lets it learn from it.
pub fn tell_searches(frontier: &mut Frontier<Crawl>, met: &[Met]) {
    for met in met {
        let Some(page) = frontier.number(met.page) else {
            continue;
        };
        let fact = Fact::Shown(Shown {
            page,
            at: met.at,
            views: met.views,
            clicks: met.clicks,
        });
        // What is clicked moves no page that waits: those of its source are looked at when their time comes.
        let mut none = Moves::default();
        frontier.policy().observe(&fact, &mut none);
    }
    // After a stop all clicks come at once, behind all visits.
    if let Some(sources) = &mut frontier.policy().sources {
        let last = met.iter().map(|met| met.at).max();
        sources.wait(last.unwrap_or_default());
    }
}

impl Tally {
    /// Counts a settled page.
    fn count(&mut self, visited: &Visited) {
        self.bytes += visited.bytes;
        if let Some(error) = &visited.error {
            self.error(error);
        }
        match visited.history.outcome {
            Some(Outcome::Changed) => self.pages += 1,
            Some(Outcome::Unchanged) => self.unchanged += 1,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
