//! Decides when a page is examined again, and whether it is worth a fetch then.
//!
//! A page that is not worth the price now gets an appointment for the time at which it will be
//! worth the current price. The price moves, so the page is evaluated again at that time, from
//! its history. If only the ledger has that history, the choice is postponed until the caller has
//! provided it (`histories.rs`).
//!
//! A *round* is the time in which the budget pays for one fetch of every known page. Under a budget
//! no appointment is more than a round away. So a lower price takes effect within about a round,
//! and no step examines all pages at once.
//!
//! The worth of some pages also changes by what the crawl learns about others: sources, and new
//! pages that a source named. With a small budget a round may be longer than such a page is of
//! interest. These pages are examined again each time the time since their last visit or their
//! discovery has doubled. So the number of examinations grows with the logarithm of that time.

use std::time::Duration;

use page::HostId;
use policy::{Fact, History, Moment, Number, Page, Policy, Price, VisitFact, Worth};

use super::Frontier;
use super::histories::PageHistory;
use super::revaluation::RevaluationQueue;
use super::sample::{self, Sample};
use crate::bench::{self, HostVisit};
use crate::calendar::{Appointment, AppointmentKind};
use crate::price::PriceTracker;
use crate::record::PageKey;

/// How long a page of which the ledger has no record waits until it is examined again.
const NO_RECORD: Duration = Duration::from_secs(1);
/// Number of parts of a round. A page whose host has enough pages on the bench is examined again
/// after one part, and the price is computed on the sample once per part.
pub(super) const LATER: u32 = 16;
/// Maximum number of due pages that are examined in one batch.
const LOOKS: usize = 256;
/// Maximum number of pages of each revaluation queue whose worth is recomputed before a choice.
const REVALUED: usize = 8;

/// The rule for the price.
pub(super) enum PriceRule {
    /// A constant price.
    Fixed(Price),
    /// The price at which the budget is just spent.
    Budget(Box<Spending>),
}

pub(super) struct Spending {
    pub tracker: PriceTracker,
    pub per_second: f64,
    /// No page is fetched early before this moment.
    pub early_from: Moment,
    /// Pages that the current choice has examined early and not offered.
    pub looked_at: Vec<Number>,
    /// Visited pages on the bench.
    pub revisits: RevaluationQueue,
    /// New pages on the bench that lose worth while they wait.
    pub fading: RevaluationQueue,
    pub sample: Sample,
    /// When the price is computed on the sample next.
    pub next_sampling: Moment,
    /// Number of known pages when the price was last computed on the sample.
    pub known_at_sampling: usize,
}

/// The next step of a crawl, as the frontier decides it.
#[derive(Debug)]
pub enum Next {
    /// Visit this host.
    Visit(HostVisit),
    /// Wait until this moment, unless a page is discovered or a visit settled before.
    WaitUntil(Moment),
    /// No appointment is left. The server of each page on the bench is being visited, or has a
    /// delay longer than [`patience`](bench::Manners::patience).
    Idle,
    /// The choice depends on [missing histories](Frontier::wanted): call again when they are
    /// [provided](Frontier::bring).
    Unknown,
}

/// Whether a visit continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum More {
    /// It continues with the pages that were claimed for it.
    Claimed,
    /// It ends.
    Nothing,
    /// This depends on [missing histories](Frontier::wanted): call again when they are
    /// [provided](Frontier::bring).
    Unknown,
}

/// Progress of a choice that is postponed until histories are loaded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Choosing {
    #[default]
    Begun,
    /// The price is up to date.
    Priced,
    /// The worths of pages on the bench are up to date.
    Revalued,
}

/// Limits a rate in fetches per second to a range in which the arithmetic cannot overflow.
pub(super) fn affordable(per_second: f64) -> f64 {
    per_second.clamp(1e-9, 1e9)
}

impl<P: Policy> Frontier<P> {
    /// Adds a budget in fetches per second, which determines the price. The caller must call
    /// [`next`](Frontier::next) only when the budget allows a fetch.
    #[must_use]
    pub fn with_budget(mut self, per_second: f64) -> Self {
        self.bench.track();
        self.price_rule = PriceRule::Budget(Box::new(Spending {
            tracker: PriceTracker::default(),
            per_second: affordable(per_second),
            early_from: Moment::START,
            looked_at: Vec::new(),
            revisits: RevaluationQueue::default(),
            fading: RevaluationQueue::default(),
            sample: Sample::default(),
            next_sampling: Moment::START,
            known_at_sampling: 0,
        }));
        self
    }

    /// Returns the price: the worth that a fetch must have now.
    pub fn price(&self) -> Price {
        match &self.price_rule {
            PriceRule::Fixed(price) => *price,
            PriceRule::Budget(spending) => spending.tracker.price(),
        }
    }

    /// Decides the next step of the crawl.
    pub fn next(&mut self, now: Moment) -> Next {
        if self.histories.are_awaited() {
            return Next::Unknown;
        }
        while self.has_moves() {
            self.follow_moves();
        }
        if self.choosing < Choosing::Priced {
            self.find_price(now);
            self.choosing = Choosing::Priced;
        }
        if !self.wake(now) {
            return Next::Unknown;
        }
        if self.choosing < Choosing::Revalued {
            self.revalue(now);
            self.choosing = Choosing::Revalued;
        }
        if !self.bring_forward(now) {
            return Next::Unknown;
        }
        self.choosing = Choosing::Begun;
        self.histories.forget();
        let mut next = self.bench.next(now);
        if matches!(next, bench::Turn::Idle) && self.use_spare_capacity() {
            next = self.bench.next(now);
        }
        match next {
            bench::Turn::Visit(visit) => {
                self.pay(&visit, 0);
                Next::Visit(visit)
            }
            bench::Turn::WaitUntil(ready) => self.wait_until(Some(ready), now),
            bench::Turn::Idle => self.wait_until(None, now),
        }
    }

    /// Claims the next pages for a visit, as [`Bench::more`](crate::Bench::more) does, after the
    /// pages whose appointments have come are examined.
    pub fn more(&mut self, visit: &mut HostVisit, free: bool, now: Moment) -> More {
        if self.histories.are_awaited() || !self.wake(now) {
            return More::Unknown;
        }
        let before = visit.left().count();
        let taken = self.bench.more(visit, free, now);
        self.pay(visit, before);
        if taken { More::Claimed } else { More::Nothing }
    }

    /// Takes the list of pages whose histories a choice depends on. Each is listed once; the
    /// caller must [provide](Self::bring) its history.
    pub fn wanted(&mut self) -> Vec<PageKey> {
        self.histories.take_wanted()
    }

    /// Returns whether the choice waits for histories.
    pub fn awaits_histories(&self) -> bool {
        self.histories.are_awaited()
    }

    /// Takes in a history that was requested; `None`: the ledger has no record of the page.
    pub fn bring(&mut self, page: page::PageId, history: Option<History>) {
        let Some(number) = self.seen.number(page) else {
            return;
        };
        self.histories.bring(number, history);
        if let (PriceRule::Budget(spending), Some(history)) = (&mut self.price_rule, &history) {
            spending.fading.learn(number, history);
        }
    }

    /// Changes the budget to `per_second` fetches per second. Does nothing without a budget.
    ///
    /// The price is computed again, since the current one belongs to the old budget. If rounds
    /// become shorter, appointments come nearer in proportion, so that none is more than a round
    /// away.
    pub fn afford(&mut self, per_second: f64, now: Moment) {
        let PriceRule::Budget(spending) = &mut self.price_rule else {
            return;
        };
        let before = spending.per_second;
        spending.per_second = affordable(per_second);
        // These two moments were computed from the old budget.
        (spending.early_from, spending.next_sampling) = (now, now);
        let share = before / spending.per_second;
        if share < 1.0 {
            self.calendar.hasten(now, share);
        }
        let found = self.sampled_price(now);
        if let (PriceRule::Budget(spending), Some(price)) = (&mut self.price_rule, found) {
            spending.tracker = PriceTracker::at(price);
        }
    }

    /// Takes in the result of a visit and schedules the next one.
    pub fn visited(&mut self, page: page::PageId, before: &History, after: &History, now: Moment) {
        self.recent.remove(page);
        if let Some(number) = self.seen.number(page) {
            self.observe_visit(number, before, after);
            self.wait(page.host(), number, after, now);
        }
    }

    /// Takes in news about a visited page: the gain of its last copy, or a hint that it has
    /// changed.
    pub fn learned(&mut self, page: page::PageId, before: &History, after: &History, now: Moment) {
        let Some(number) = self.seen.number(page) else {
            return;
        };
        self.observe_visit(number, before, after);
        if let PriceRule::Budget(spending) = &mut self.price_rule {
            spending.revisits.learn(number, after);
        }
        if self.calendar.has(number) {
            self.wait(page.host(), number, after, now);
        }
    }

    pub(super) fn spending(&self) -> Option<&Spending> {
        match &self.price_rule {
            PriceRule::Fixed(_) => None,
            PriceRule::Budget(spending) => Some(spending),
        }
    }

    /// Returns the number of pages that are on the bench, deferred or in the calendar.
    pub fn waiting(&self) -> usize {
        self.bench.waiting() + self.bench.deferred() + self.calendar.len()
    }

    pub(super) fn observe_visit(&mut self, page: Number, before: &History, after: &History) {
        let fact = Fact::Visited(VisitFact {
            page,
            before,
            after,
        });
        // A visit changes no worth of a page that was never fetched.
        self.policy.observe(&fact, &mut policy::Moves::default());
        self.histories.learn(page, after);
        if let PriceRule::Budget(spending) = &mut self.price_rule {
            spending.sample.learn(page, after);
        }
    }

    /// Offers a page if it is worth the price, else makes an appointment for it. Without a budget
    /// a page that will never be worth the price gets none.
    pub(super) fn wait(&mut self, host: HostId, page: Number, history: &History, now: Moment) {
        let facts = Page {
            number: page,
            history,
        };
        let mut due = self.policy.due(facts, self.price());
        if due.is_some_and(|due| due <= now) {
            let worth = self.policy.worth(facts, now);
            if !self.policy.fades(page) || worth.pays(self.price()) {
                return self.offer(page, host, worth, Some(history));
            }
            // The worth of the page has fallen below the price while it waited.
            due = None;
        }
        if history.outcome.is_none() && due.is_none() {
            self.bench.hold(page, host);
        }
        let review = self.round().map(|round| {
            let unsettled = self.policy.unsettled(facts);
            let known = history.asked.unwrap_or(history.discovered);
            let doubled = unsettled.map(|least| now.since(known).max(least));
            now + doubled.map_or(round, |doubled| doubled.min(round))
        });
        let (at, kind) = match (due, review) {
            (Some(due), Some(review)) if due > review => (review, AppointmentKind::Review),
            (Some(due), _) => (due, AppointmentKind::Due),
            (None, Some(review)) => (review, AppointmentKind::Review),
            (None, None) => return self.calendar.cancel(page),
        };
        let host = self.bench.host(host);
        self.calendar.set(Appointment { at, page, host }, kind);
    }

    /// Offers a page to the bench. A new page beyond the budget of its domain is deferred.
    /// `history` is `None` only for a new page whose discovery is not in memory.
    pub(super) fn offer(
        &mut self,
        page: Number,
        host: HostId,
        worth: Worth,
        history: Option<&History>,
    ) {
        self.calendar.cancel(page);
        let visited = history.is_some_and(|history| history.outcome.is_some());
        if visited || self.is_within_budget(page) {
            self.put(page, host, worth, history);
        } else {
            self.bench.defer(page, host, worth);
        }
    }

    /// Puts a page on the bench, and into the revaluation queue that it belongs to.
    pub(super) fn put(
        &mut self,
        page: Number,
        host: HostId,
        worth: Worth,
        history: Option<&History>,
    ) {
        self.bench.offer(page, host, worth);
        let visited = history.is_some_and(|history| history.outcome.is_some());
        let fades = !visited && self.policy.fades(page);
        if let PriceRule::Budget(spending) = &mut self.price_rule
            && self.bench.waits(page)
        {
            let host = self.bench.host(host);
            match (visited, fades) {
                (true, _) => spending.revisits.insert(page, host, history),
                (false, true) => spending.fading.insert(page, host, history),
                (false, false) => {}
            }
        }
    }

    /// Returns the length of a round: the time in which the budget pays for one fetch of every
    /// known page. `None`: there is no budget.
    fn round(&self) -> Option<Duration> {
        let per_second = self.spending()?.per_second;
        Duration::try_from_secs_f64(self.known().max(1) as f64 / per_second).ok()
    }

    /// Adds a new page to the sample for the price, if there is a budget.
    pub(super) fn sample(&mut self, page: Number, host: HostId, history: Option<&History>) {
        if let PriceRule::Budget(spending) = &mut self.price_rule {
            spending.sample.add(page, host, history);
        }
    }

    /// Computes the price on the sample, 16 times per round and when the number of pages has
    /// doubled.
    fn find_price(&mut self, now: Moment) {
        if self.spending().is_none() {
            return;
        }
        let known = self.known();
        let pause = self.round().unwrap_or_default() / LATER;
        let PriceRule::Budget(spending) = &mut self.price_rule else {
            return;
        };
        if now < spending.next_sampling && known < 2 * spending.known_at_sampling {
            return;
        }
        (spending.next_sampling, spending.known_at_sampling) = (now + pause, known);
        let found = self.sampled_price(now);
        if let (PriceRule::Budget(spending), Some(price)) = (&mut self.price_rule, found) {
            spending.tracker.found(price);
        }
    }

    /// Returns the price that the sample gives; `None`: no page of the sample has a known history,
    /// or there is no budget.
    pub(super) fn sampled_price(&self, now: Moment) -> Option<Price> {
        let spending = self.spending()?;
        let sample = spending.sample.known();
        let per_second = spending.per_second;
        sample::price(&self.policy, &sample, self.known(), per_second, now)
    }

    /// Returns the fetches per second that the pages of this frontier are worth at each of
    /// `prices`, by the sample. `round` is the time in seconds in which the budget of the whole
    /// crawl pays for one fetch of every page that the whole crawl knows.
    pub fn demand(&self, prices: &[Price], round: f64, now: Moment) -> Vec<f64> {
        let sample = self.spending().map(|spending| spending.sample.known());
        let sample = sample.unwrap_or_default();
        let each = self.known() as f64 / sample.len().max(1) as f64;
        let demand = sample::demand(&self.policy, &sample, round, now);
        prices.iter().map(|price| demand(*price) * each).collect()
    }

    /// Examines the pages whose appointments have come, in batches, until the limit of visited
    /// pages on the bench is reached. Returns `false` if histories must be loaded first; no page of
    /// that batch was examined then.
    fn wake(&mut self, now: Moment) -> bool {
        loop {
            // Each page takes at most one place on the bench. If one place is left, one history
            // is loaded, and not those of all due pages.
            let most = self
                .revisits()
                .map_or(LOOKS, |pages| pages.room().min(LOOKS));
            let mut due = Vec::new();
            while due.len() < most
                && let Some(first) = self.calendar.first()
                && first.at <= now
            {
                due.extend(self.calendar.pop());
            }
            if due.is_empty() {
                return true;
            }
            let looked_at = due
                .iter()
                .filter(|(first, _)| !self.has_enough_of(first.host));
            let looked_at: Vec<Appointment> = looked_at.map(|(first, _)| *first).collect();
            if !self.request_missing(&looked_at) {
                for (appointment, kind) in due {
                    self.calendar.set(appointment, kind);
                }
                return false;
            }
            for (first, _) in due {
                if self.has_enough_of(first.host) {
                    let at = now + self.round().unwrap_or_default() / LATER;
                    self.calendar
                        .set(Appointment { at, ..first }, AppointmentKind::Due);
                } else {
                    self.look(first, now, 1.0);
                }
            }
        }
    }

    /// Requests the missing histories of these pages. Returns whether none was missing.
    pub(super) fn request_missing(&mut self, appointments: &[Appointment]) -> bool {
        let mut all = true;
        for appointment in appointments {
            let host = self.bench.host_id(appointment.host);
            if matches!(self.past(host, appointment.page), PageHistory::Absent) {
                let page = self.seen.page(host, appointment.page);
                if let Some(key) = self.key(page) {
                    self.histories.want(appointment.page, key);
                    all = false;
                }
            }
        }
        all
    }

    fn has_enough_of(&self, host: bench::HostIndex) -> bool {
        self.revisits()
            .is_some_and(|pages| pages.has_enough_of(host))
    }

    pub(super) fn revisits(&self) -> Option<&RevaluationQueue> {
        self.spending().map(|spending| &spending.revisits)
    }

    /// Recomputes the worth of up to 8 pages of each revaluation queue: visited pages gain worth,
    /// and new pages that a source named may lose it.
    fn revalue(&mut self, now: Moment) {
        for _ in 0..self
            .revisits()
            .map_or(0, RevaluationQueue::len)
            .min(REVALUED)
        {
            self.revalue_next(|spending| &mut spending.revisits, now);
        }
        let fading = self.spending().map(|spending| spending.fading.len());
        for _ in 0..fading.unwrap_or(0).min(REVALUED) {
            self.revalue_next(|spending| &mut spending.fading, now);
        }
    }

    fn revalue_next(&mut self, of: impl Fn(&mut Spending) -> &mut RevaluationQueue, now: Moment) {
        let PriceRule::Budget(spending) = &mut self.price_rule else {
            return;
        };
        let Some((number, index)) = of(spending).next_page() else {
            return;
        };
        // The host of the page has been parked since the offer. The page will not be claimed, and
        // must not count against the limits.
        if !self.bench.waits(number) {
            return of(spending).remove(number, index);
        }
        let host = self.bench.host_id(index);
        let Some(history) = of(spending).history(number) else {
            // The page was offered without a history. Once the history is loaded, the next turn of
            // the page recomputes its worth.
            let key = self.key(self.seen.page(host, number));
            return (key.into_iter()).for_each(|key| self.histories.want(number, key));
        };
        let page = Page {
            number,
            history: &history,
        };
        let worth = self.policy.worth(page, now);
        let new = history.outcome.is_none();
        if !new || worth.pays(self.price()) {
            self.bench.change(number, worth, Worth::NONE);
        } else if self.bench.withdraw(number) {
            if let PriceRule::Budget(spending) = &mut self.price_rule {
                of(spending).remove(number, index);
            }
            self.wait(host, number, &history, now);
        }
    }

    /// Evaluates a page: offers it if it is worth at least this share of the price, else makes an
    /// appointment for it. Returns whether the page has no appointment now: it was offered, or it
    /// will never be due.
    pub(super) fn look(&mut self, appointment: Appointment, now: Moment, share: f64) -> bool {
        let number = appointment.page;
        let host = self.bench.host_id(appointment.host);
        let PageHistory::Known(history) = self.past(host, number) else {
            let at = now + NO_RECORD;
            self.calendar
                .set(Appointment { at, ..appointment }, AppointmentKind::Review);
            return false;
        };
        let page = Page {
            number,
            history: &history,
        };
        let worth = self.policy.worth(page, now);
        let pays = worth.value() >= self.price().value() * share;
        if pays && worth > Worth::NONE {
            self.offer(number, host, worth, Some(&history));
            return true;
        }
        self.wait(host, number, &history, now);
        !self.calendar.has(number)
    }

    /// Returns the history of a page, as far as it is in memory.
    fn past(&self, host: HostId, number: Number) -> PageHistory {
        let page = self.seen.page(host, number);
        match self.recent(page) {
            Some(found) => PageHistory::Known(History::discovered(found.at, found.depth)),
            None => self.histories.get(number),
        }
    }

    /// Moves the price according to the pages claimed for a visit, except the first `before`.
    fn pay(&mut self, visit: &HostVisit, before: usize) {
        let known = self.known();
        let PriceRule::Budget(spending) = &mut self.price_rule else {
            return;
        };
        let host = visit.host_index();
        let next = self.bench.best(host);
        for (page, worth) in visit.left().zip(visit.worths()).skip(before) {
            spending.revisits.remove(page, host);
            spending.fading.remove(page, host);
            spending.tracker.claimed(worth, next, known);
        }
    }

    /// Returns the first moment at which a server is ready, an appointment has come or a page
    /// may be fetched early. Returns [`Next::Idle`] if there is no such moment.
    fn wait_until(&mut self, ready: Option<Moment>, now: Moment) -> Next {
        let look = self.calendar.first().map(|first| first.at);
        let early_from = self.spending().map(|spending| spending.early_from);
        let early_from = early_from.filter(|early_from| look.is_some() && *early_from > now);
        let first = [ready, look, early_from].into_iter().flatten().min();
        first.map_or(Next::Idle, Next::WaitUntil)
    }
}
