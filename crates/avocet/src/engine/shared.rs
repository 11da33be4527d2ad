//! What the visits of a crawl share, behind one lock that is never held over an await.
//!
//! **Invariant:** facts reach `pending` in the order in which they changed the frontier, and leave it
//! for the committer in the same order.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::mpsc::Sender;
use std::time::Duration;

use fetch::Connection;
use frontier::{Bound, Budget, Buffer, Entry, Frontier, Next, PageKey, Visit, Visited};
use page::{HostId, PageId};
use policy::focus::ON_TOPIC;
use policy::{Crawl, History, Moment, Outcome, Page, Policy, Worth};

use super::committer::{Settled, Work};
use super::heard::{Ear, Heard, Source};
use super::host::Host;
use super::plan::GROUP;
use super::tally::{Summary, Tally};
use super::unsettled::Unsettled;
use crate::scope::Scope;
use crate::verdict::Lead;

/// Hosts whose rules are kept in memory; the ledger knows the others.
const HOSTS: usize = 20_000;

/// The memory of a running crawl.
pub struct Shared {
    /// What waits.
    pub frontier: Frontier<Crawl>,
    /// What belongs to the crawl.
    pub scope: Scope,
    /// What was done.
    pub tally: Tally,
    /// Visits under way.
    pub visits: usize,
    /// Pages that may still be fetched; `None`: any number.
    pub allowance: Option<u64>,
    /// Room for the best pages only, if the user wants that.
    pub buffer: Option<Buffer<PageKey>>,
    /// What may be fetched over time; `None`: any number.
    pub budget: Option<Budget>,
    /// Records that are on their way to the ledger.
    unsettled: Unsettled,
    drops: Vec<PageKey>,
    hosts: HashMap<HostId, Host>,
    idle: Vec<(HostId, Moment, Connection)>,
    pending: Vec<Settled>,
    /// Where the committer listens; `None` once the crawl has ended.
    work: Option<Sender<Work>>,
}

impl Shared {
    /// The memory of a crawl that begins.
    pub fn new(
        frontier: Frontier<Crawl>,
        scope: Scope,
        allowance: Option<u64>,
        work: Sender<Work>,
    ) -> Self {
        Self {
            frontier,
            scope,
            tally: Tally::default(),
            visits: 0,
            allowance,
            buffer: None,
            budget: None,
            unsettled: Unsettled::default(),
            drops: Vec::new(),
            hosts: HashMap::new(),
            idle: Vec::new(),
            pending: Vec::new(),
            work: Some(work),
        }
    }

    /// Takes the next visit off the bench; `past` is what the ledger knows of a page.
    pub fn next(&mut self, now: Moment, past: impl Fn(PageKey) -> Option<History>) -> Next {
        if self.allowance == Some(0) {
            return Next::Idle;
        }
        let paid = self.budget.as_mut().map(|budget| budget.ready(now));
        if let Some(ready) = paid.filter(|ready| *ready > now) {
            return Next::WaitUntil(ready);
        }
        let unsettled = &self.unsettled;
        let past = |_, key| unsettled.past(key, &past);
        let next = self.frontier.next(now, past);
        self.visits += usize::from(matches!(next, Next::Visit(_)));
        next
    }

    /// From now on there are so many fetches a second, where there is a budget.
    pub fn afford(
        &mut self,
        per_second: f64,
        now: Moment,
        past: impl Fn(PageKey) -> Option<History>,
    ) {
        if let Some(budget) = &mut self.budget {
            budget.change(per_second, now);
        }
        let unsettled = &self.unsettled;
        let past = |_, key| unsettled.past(key, &past);
        self.frontier.afford(per_second, now, past);
    }

    /// Claims the next pages for a visit, if that pays.
    pub fn more(
        &mut self,
        visit: &mut Visit,
        free: bool,
        now: Moment,
        past: impl Fn(PageKey) -> Option<History>,
    ) {
        let unsettled = &self.unsettled;
        let past = |_, key| unsettled.past(key, &past);
        self.frontier.more(visit, free, now, past);
    }

    /// The record of a page that the ledger does not have yet.
    pub fn unsettled(&self, page: PageId) -> Option<&Visited> {
        self.unsettled.get(page)
    }

    /// Takes note that others say that a page has changed since this visit.
    pub fn signalled(&mut self, page: PageId, mut visited: Visited, at: Moment, now: Moment) {
        let before = visited.history;
        visited.history = before.signalled(at);
        (self.frontier).learned(page, &before, &visited.history, now);
        self.unsettled.put(page, visited);
    }

    /// Takes note that these facts are in the ledger.
    pub fn committed(&mut self, entries: &[Entry]) {
        for entry in entries {
            self.unsettled.committed(entry);
        }
        self.frontier.committed(entries);
    }

    /// Says which address the host of a visit has.
    pub fn bind(&mut self, visit: Visit, address: IpAddr) -> Bound {
        let bound = self.frontier.bench.bind(visit, address);
        self.visits -= usize::from(matches!(bound, Bound::Moved));
        bound
    }

    /// Ends a visit. A connection that is still open is kept for the next one.
    pub fn settle(
        &mut self,
        visit: Visit,
        connection: Option<Connection>,
        now: Moment,
        delay: Duration,
    ) {
        self.visits -= 1;
        let host = visit.host;
        if let Some(known) = self.hosts.get_mut(&host) {
            known.measured(visit.estimate);
        }
        let open = connection.is_some();
        self.idle.extend(connection.map(|open| (host, now, open)));
        self.frontier.bench.settle(visit, now, delay, open);
    }

    /// Takes in seeds, which have no `source`, and the links of a page.
    pub fn admit<'l>(
        &mut self,
        leads: &'l [Lead],
        source: Option<&Source<'_>>,
        now: Moment,
    ) -> Heard<'l> {
        let mut ear = Ear {
            frontier: &mut self.frontier,
            scope: Some(&mut self.scope),
            tally: &mut self.tally,
        };
        ear.hear(leads, source, now)
    }

    /// Takes in a settled page.
    pub fn push(&mut self, settled: Settled, now: Moment) {
        let tally = &mut self.tally;
        tally.bytes += settled.visited.bytes;
        if let Some(error) = &settled.visited.error {
            tally.error(error);
        }
        match settled.visited.history.outcome {
            Some(Outcome::Changed) => tally.pages += 1,
            Some(Outcome::Unchanged) => tally.unchanged += 1,
            _ => {}
        }
        let history = &settled.visited.history;
        self.frontier
            .visited(settled.key.page, &settled.before, history, now);
        if settled.visited.copy.is_some() {
            self.keep(settled.key, history.depth);
        }
        self.unsettled
            .put(settled.key.page, settled.visited.clone());
        self.pending.push(settled);
        if self.pending.len() >= GROUP {
            self.flush();
        }
    }

    /// Takes a page into the buffer, if there is one; what falls out is dropped with the next flush.
    pub fn keep(&mut self, key: PageKey, depth: u16) {
        let (Some(buffer), Some(number)) = (&mut self.buffer, self.frontier.number(key.page))
        else {
            return;
        };
        buffer.keep(number, depth, key);
        while let Some(dropped) = buffer.overflow(self.frontier.policy()) {
            self.tally.dropped += 1;
            self.drops.push(dropped);
        }
    }

    /// Hands over facts that belong to no page.
    pub fn push_facts(&mut self, facts: Vec<Entry>) {
        self.flush();
        self.send(Work::Facts(facts));
    }

    /// Hands all settled pages to the committer.
    pub fn flush(&mut self) {
        if !self.pending.is_empty() {
            let pages = std::mem::take(&mut self.pending);
            self.send(Work::Pages(pages));
        }
        if !self.drops.is_empty() {
            let drops = std::mem::take(&mut self.drops);
            self.send(Work::Drop(drops));
        }
    }

    /// Hands over what is left; the committer ends when it has written that.
    pub fn close(&mut self) {
        let hosts: Vec<_> = self.hosts.values().filter_map(Host::fact).collect();
        self.push_facts(hosts);
        self.work = None;
    }

    /// Hands over work.
    pub(super) fn send(&mut self, work: Work) {
        if let Some(sender) = &self.work {
            // The receiver ends early only after an error, and that error ends the crawl.
            sender.send(work).ok();
        }
    }

    /// What was done so far, and what is left.
    pub fn summary(&mut self, took: Duration) -> Summary {
        let queued = self.frontier.waiting() + self.frontier.bench.left_alone();
        let report = self.frontier.policy().report();
        let price = self.frontier.price().value();
        Summary {
            price: self.budget.as_ref().map(|_| price),
            deferred: self.frontier.bench.deferred(),
            deferred_domains: self.frontier.deferring_domains(3),
            ..self
                .tally
                .summary(self.frontier.known(), queued, report, took)
        }
    }

    /// Whether the fetched pages hold this share of all importance.
    pub fn covers(&mut self, share: f64) -> bool {
        let coverage = self.frontier.policy().report().coverage;
        coverage.is_some_and(|coverage| coverage >= share)
    }

    /// Whether so many pages of the topic were read.
    pub fn has_found(&mut self, wanted: u64) -> bool {
        let found = self.frontier.policy().report().found;
        found.is_some_and(|found| found >= wanted)
    }

    /// Whether a page that was read is of the topic.
    pub fn is_on_topic(&mut self, page: PageId, history: &History) -> bool {
        let Some(number) = self.frontier.number(page) else {
            return false;
        };
        let found = self.frontier.policy().importance(Page { number, history });
        found >= Worth::new(f64::from(ON_TOPIC))
    }

    /// Takes one page of the allowance and of the budget; `false`: there is none left, or not yet.
    pub fn take_allowance(&mut self, now: Moment) -> bool {
        let paid = |budget: &mut Budget| budget.ready(now) <= now;
        if self.allowance == Some(0) || !self.budget.as_mut().is_none_or(paid) {
            return false;
        }
        if let Some(left) = &mut self.allowance {
            *left -= 1;
        }
        self.spend(now);
        true
    }

    /// Takes note of a request that nobody was asked about.
    pub fn spend(&mut self, now: Moment) {
        if let Some(budget) = &mut self.budget {
            budget.spend(now);
        }
    }

    /// Gives one page of the allowance back: what was asked for was no page.
    pub fn return_allowance(&mut self) {
        if let Some(left) = &mut self.allowance {
            *left += 1;
        }
    }

    /// Gives one page of the allowance and of the budget back: nobody was asked.
    pub fn return_unasked(&mut self) {
        self.return_allowance();
        if let Some(budget) = &mut self.budget {
            budget.give_back();
        }
    }

    /// What is remembered of a host.
    pub fn host(&mut self, id: HostId) -> Option<&mut Host> {
        self.hosts.get_mut(&id)
    }

    /// Remembers a host.
    pub fn remember(&mut self, id: HostId, host: Host) {
        if self.hosts.len() >= HOSTS {
            self.hosts.clear();
        }
        self.hosts.entry(id).or_insert(host);
    }

    /// Takes an open connection to a host, if there is one.
    pub fn take_connection(&mut self, host: HostId) -> Option<Connection> {
        let place = self.idle.iter().position(|(id, ..)| *id == host)?;
        Some(self.idle.swap_remove(place).2)
    }

    /// Closes connections that were idle for long.
    pub fn close_idle(&mut self, now: Moment) {
        const PATIENCE: Duration = Duration::from_secs(30);
        let before = std::mem::take(&mut self.idle);
        let (open, closed): (Vec<_>, Vec<_>) = before
            .into_iter()
            .partition(|(_, since, open)| open.is_open() && now.since(*since) < PATIENCE);
        self.idle = open;
        for (host, ..) in closed {
            self.frontier.bench.closed(host);
        }
    }

    /// Closes the connections that were idle for longest, so that with one more, for a visit that is
    /// under way, there are at most so many.
    pub fn make_room(&mut self, most: usize) {
        while !self.idle.is_empty() && self.visits + self.idle.len() > most {
            let oldest = (0..self.idle.len()).min_by_key(|&place| self.idle[place].1);
            if let Some(place) = oldest {
                let (host, ..) = self.idle.swap_remove(place);
                self.frontier.bench.closed(host);
            }
        }
    }

    /// Connections that are open and not in use.
    pub fn idle_connections(&self) -> usize {
        self.idle.len()
    }
}
