//! The state machine of a crawl: starts visits, processes the events of drivers, and returns the
//! actions that follow.

mod accounts;
mod active;
mod begin;
mod claims;
mod hosts;
mod outbox;
mod politeness;
mod probe;
mod reading;
mod visit;

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use frontier::{Buffer, Entry, Frontier, Next, PageKey, Present, Visited};
use page::{PageId, Robots};
use policy::focus::ON_TOPIC;
use policy::{Crawl, Fact, History, Moment, Moves, Outcome, Page, Policy, Shown, Worth};

use crate::action::{Action, Claim, Record};
use crate::change_hints::{ChangeHints, is_news};
use crate::event::{ConnectionId, Event, Gain, Met, VisitId};
use crate::overlay::Overlay;
use crate::plan::Plan;
use crate::scope::Scope;
use crate::tally::{Summary, Tally};
use accounts::{Allowance, Risk};
use active::ActiveVisit;
use hosts::HostCache;
use outbox::Outbox;
use reading::Arrival;

pub use begin::{Begun, Policies, belongs, is_dropped};

/// Longest time until the next check for new work, while the crawl waits for an event.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// The complete state of a running crawl. It takes events and returns actions; the same events
/// in the same order give the same actions.
///
/// `S` is the driver's form of an answer for its archive. The core passes it through.
pub struct Core<S> {
    plan: Plan,
    mode: Mode,
    frontier: Frontier<Crawl>,
    /// The scope of the crawl. Shared with requests under way; copied when a seed is added.
    scope: Arc<Scope>,
    allowance: Allowance,
    risk: Risk,
    tally: Tally,
    /// Keeps only the best pages, if the user limits their number.
    buffer: Option<Buffer<PageKey>>,
    hosts: HostCache,
    /// Number of other nodes that request pages from an address.
    shared: BTreeMap<IpAddr, u32>,
    /// The rules for all hosts, in a crawl [without robots.txt](Plan::without_rules).
    no_rules: Option<Arc<Robots>>,
    /// Records that are not in the ledger yet.
    overlay: Overlay,
    outbox: Outbox<S>,
    hints: ChangeHints,
    /// Visits under way.
    active: BTreeMap<VisitId, ActiveVisit>,
    /// Visits that wait for histories.
    awaiting_histories: VecDeque<VisitId>,
    /// Pages whose records are being loaded for visits under way.
    loading: HashSet<PageId>,
    /// Pages of `loading` about which something new became known after the load began.
    outdated: HashSet<PageId>,
    /// Fetched pages and other sources of links that are not processed yet, in order of
    /// arrival.
    arrivals: VecDeque<Arrival<S>>,
    /// Number of visits that were started. The next [`VisitId`].
    visits: u64,
    /// Number of connections that were requested. The next [`ConnectionId`].
    connections: u64,
    /// When facts dated in the future were first noticed, if there are any.
    noticed_ahead: Option<Moment>,
    finished: bool,
}

/// Whether a crawl starts new work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// Starts new visits.
    #[default]
    Running,
    /// Starts no visit until it is resumed.
    Paused,
    /// Starts no further visit, and ends when all work under way is done.
    Stopping,
}

impl<S> Core<S> {
    /// Processes an event and appends the actions that follow from it.
    pub fn step(&mut self, event: Event<S>, now: Moment, actions: &mut Vec<Action<S>>) {
        match event {
            Event::Woken => {}
            Event::HistoriesLoaded(histories) => self.bring(histories, now),
            Event::VisitsLoaded(visits) => self.apply_hints(visits, now, actions),
            Event::Committed {
                facts,
                requests,
                gains,
            } => self.committed(&facts, requests, &gains, now),
            Event::Offered(offers) => self.arrivals.push_back(Arrival::Offered(offers)),
            Event::Mark(number) => self.arrivals.push_back(Arrival::Mark(number)),
            Event::Searched(met) => tell_searches(&mut self.frontier, &met),
            Event::BudgetChanged(per_second) => self.afford(per_second, now),
            Event::AddressesShared(shared) => self.shared = shared,
            Event::ConnectionClosed(connection) => self.connection_closed(connection),
            Event::Paused(paused) => self.pause(paused),
            Event::Stopped => self.mode = Mode::Stopping,
            of_visit => self.visit_event(of_visit, now, actions),
        }
        self.continue_work(now, actions);
    }

    /// Does the work that is possible now and schedules the next wake-up.
    fn continue_work(&mut self, now: Moment, actions: &mut Vec<Action<S>>) {
        if self.finished {
            // Late events, such as the last commit, start nothing.
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
        if !self.arrivals.is_empty() || self.frontier.has_moves() {
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

    /// Starts visits while connections are free. Returns when to check again. `None`: the crawl
    /// can start no further visit. Either it is stopping, or its page limit is reached, or it is
    /// not continuous and no page can be fetched within five minutes.
    fn start_visits(&mut self, now: Moment, actions: &mut Vec<Action<S>>) -> Option<Moment> {
        loop {
            match self.mode {
                Mode::Stopping => return None,
                Mode::Paused => return Some(now + LOOK_AGAIN),
                Mode::Running => {}
            }
            if self.active.len() >= self.plan.connections {
                // The end of a visit triggers the next check.
                return Some(now + LOOK_AGAIN);
            }
            if self.allowance.is_spent() {
                return None;
            }
            if let Some(ready) = self.allowance.wait(now) {
                return Some(ready);
            }
            if self.frontier.has_moves() {
                // The next step goes on to move waiting pages. A choice then knows their worth.
                return Some(now);
            }
            let next = self.frontier.next(now);
            let known = self.load_histories(actions);
            match next {
                Next::Visit(visit) => {
                    let id = VisitId(self.visits);
                    self.visits += 1;
                    self.active.insert(id, ActiveVisit::new(visit));
                    self.proceed(id, now, actions);
                }
                Next::WaitUntil(moment) => return Some(moment),
                Next::Unknown if known => {}
                // The arrival of the histories triggers the next check.
                Next::Unknown => return Some(now + LOOK_AGAIN),
                Next::Idle if self.plan.is_continuous() => return Some(now + LOOK_AGAIN),
                Next::Idle => return None,
            }
        }
    }

    /// Requests the histories that a choice depends on. Uncommitted ones are taken from the
    /// overlay. Returns whether none is missing.
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

    /// Continues visits that waited for histories or for commits.
    fn resume_visits(&mut self, now: Moment, actions: &mut Vec<Action<S>>) {
        for id in std::mem::take(&mut self.awaiting_histories) {
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

    /// Closes connections that have been idle for 30 s or more.
    fn close_idle(&mut self, now: Moment, actions: &mut Vec<Action<S>>) {
        while let Some((host, connection)) = self.hosts.take_expired(now) {
            self.frontier.bench.closed(host);
            actions.push(Action::Close(connection));
        }
    }

    /// Ends the crawl if nothing is under way and nothing waits.
    fn finish(&mut self, idle: bool, actions: &mut Vec<Action<S>>) {
        let at_rest = self.active.is_empty() && self.arrivals.is_empty() && self.hints.is_empty();
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
            // A visit holds this connection, but no request uses it.
            self.active
                .values_mut()
                .for_each(|active| active.lose(connection));
        }
    }

    fn committed(&mut self, facts: &[Entry], requests: usize, gains: &[Gain], now: Moment) {
        self.risk.give_back(requests);
        for gain in gains {
            self.gained(gain, now);
        }
        for fact in facts {
            self.overlay.committed(fact);
            // A load under way may have read the ledger before the commit, and the overlay no
            // longer has the record.
            if let Entry::Visited(key, _) | Entry::Signalled(key, _) = fact {
                self.changed(key.page);
            }
        }
        self.frontier.committed(facts);
    }

    /// Processes the gain of a new copy for searchers. Hints since the visit that fetched the copy
    /// are kept. If a later visit is settled already, the gain belongs to a replaced copy and is
    /// ignored.
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

    /// Processes a gain or a hint of a visited page. Visits that have claimed the page and not
    /// requested it yet are updated too, so that the result of the visit counts the hint as right
    /// or wrong.
    fn learned(&mut self, page: PageId, before: &History, after: &History, now: Moment) {
        self.frontier.learned(page, before, after, now);
        self.changed(page);
        let active = self.active.values_mut();
        for active in active.filter(|active| active.visit.host == page.host()) {
            active.learned(page, after);
        }
    }

    /// Marks loads of a page that are under way as outdated.
    fn changed(&mut self, page: PageId) {
        self.hints.changed(page);
        if self.loading.contains(&page) {
            self.outdated.insert(page);
        }
    }

    /// Processes hints for pages whose last visits were loaded.
    fn apply_hints(
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

    /// Processes a settled page.
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

    /// Adds a page to the buffer, if there is one. Pages that no longer fit are dropped with
    /// the next commit.
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

    /// Returns whether the crawl has reached one of its stop conditions.
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

    /// Returns whether a page that was read matches the topic, by the ordering.
    fn is_on_topic(&mut self, page: PageId, history: &History) -> bool {
        let Some(number) = self.frontier.number(page) else {
            return false;
        };
        let found = self.frontier.policy().importance(Page { number, history });
        found >= Worth::new(f64::from(ON_TOPIC))
    }

    /// Returns the present, which corrects facts dated in the future.
    fn present(&self, now: Moment) -> Present {
        Present::new(now, self.noticed_ahead)
    }
}

/// Read access for monitoring.
impl<S> Core<S> {
    /// Returns the counts of a run that took this long, and of the pages that are left.
    pub fn summary(&mut self, took: Duration) -> Summary {
        let queued = self.frontier.waiting() + self.frontier.bench.left_alone();
        let report = self.frontier.policy().report();
        let price = self.frontier.price().value();
        let known = self.frontier.known();
        Summary {
            price: self.allowance.budget.as_ref().map(|_| price),
            due: self.frontier.bench.waiting(),
            deferred: self.frontier.bench.deferred(),
            deferred_domains: self.frontier.deferring_domains(3),
            ..self.tally.summary(known, queued, report, took)
        }
    }

    /// Returns the frontier.
    pub fn frontier(&mut self) -> &mut Frontier<Crawl> {
        &mut self.frontier
    }

    /// Returns the frontier and the scope.
    pub fn frontier_and_scope(&mut self) -> (&mut Frontier<Crawl>, &Scope) {
        (&mut self.frontier, &self.scope)
    }

    /// Returns the counts of the run.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Number of pages that may still be fetched; `None`: unlimited.
    pub fn pages_left(&self) -> Option<u64> {
        self.allowance.pages
    }

    /// Fetches per second that the budget allows; `None`: the crawl has no budget.
    pub fn budget(&self) -> Option<f64> {
        let budget = self.allowance.budget.as_ref();
        budget.map(frontier::Budget::per_second)
    }

    /// Returns the record of a page, if it is not in the ledger yet.
    pub fn uncommitted_record(&self, page: PageId) -> Option<&Visited> {
        self.overlay.get(page)
    }

    /// Returns what is known in memory about a host.
    pub fn host(&self, id: page::HostId) -> Option<&crate::host::Host> {
        self.hosts.get(id)
    }

    /// Returns whether some links of fetched pages or offers are not admitted yet. The next step
    /// continues with them.
    pub fn is_behind(&self) -> bool {
        !self.arrivals.is_empty()
    }

    /// Number of visits under way.
    pub fn visits(&self) -> usize {
        self.active.len()
    }

    /// Number of open connections that are not in use.
    pub fn idle_connections(&self) -> usize {
        self.hosts.idle()
    }

    /// Number of requests for pages that are not committed.
    pub fn uncommitted(&self) -> usize {
        self.risk.uncommitted()
    }

    /// Returns whether it starts new work.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Number of due pages that the crawl leaves when it ends by itself: their servers need a
    /// longer pause than the crawl waits. 0 if the crawl was stopped or reached its page limit.
    pub fn left_for_later(&self) -> usize {
        let done = self.mode != Mode::Running || self.allowance.is_spent();
        if done {
            0
        } else {
            self.frontier.bench.waiting()
        }
    }
}

/// Lets the policy observe the pages that searches showed, and their clicks.
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
        // Clicks do not move waiting pages now. The worth of pages that a source named is computed
        // again when their calendar entry is due.
        let mut none = Moves::default();
        frontier.policy().observe(&fact, &mut none);
    }
    // After a restart, all clicks are replayed at once, after all visits. So the plan for sources
    // is advanced to the time of the last click or view.
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
