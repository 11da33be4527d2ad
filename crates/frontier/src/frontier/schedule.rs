//! When is a page looked at again, and is it worth a fetch then?
//!
//! A page that does not pay now gets an appointment for the moment at which it will, at the price of today.
//! The price moves; so what an appointment means is looked at when its time has come, from the page's
//! history. A choice that needs a history which only the ledger has is put off until the caller has brought it
//! (`histories.rs`). Under a budget every page is looked at once a round, a round
//! being the time in which the budget could pay for a fetch of every page: so a price that has fallen is
//! noticed, and nothing ever looks at all pages at once.

use std::time::Duration;

use page::HostId;
use policy::{Fact, History, Moment, Number, Page, Policy, Price, Visited, Worth};

use super::Frontier;
use super::histories::Past;
use super::returning::Returning;
use super::sample::{self, Sample};
use crate::bench::{self, Visit};
use crate::calendar::{Appointment, Why};
use crate::price::Follower;
use crate::record::PageKey;

/// How long a page waits whose history cannot be read now.
const UNREADABLE: Duration = Duration::from_secs(1);
/// A page of a host that has enough on the bench is looked at again after such a part of a round, and so often
/// in a round the price is found anew.
pub(super) const LATER: u32 = 16;
/// Pages whose time has come that are looked at in one go.
const LOOKS: usize = 256;
/// Known pages on the bench that are quoted anew before a choice.
const QUOTES: usize = 8;

/// What a fetch must be worth.
pub(super) enum Tariff {
    /// The same, always.
    Fixed(Price),
    /// What the budget can pay.
    Budget(Box<Spending>),
}

pub(super) struct Spending {
    pub follower: Follower,
    pub per_second: f64,
    /// Nothing is fetched before its time until then.
    pub rests: Moment,
    /// Pages that the choice under way has looked at before their time.
    pub looked_at: Vec<Number>,
    /// Known pages on the bench.
    pub returning: Returning,
    /// New pages on the bench that lose worth while they wait.
    pub fading: Returning,
    pub sample: Sample,
    /// When the sample is asked for the price next.
    pub asks: Moment,
    /// The pages that were known when it was asked last.
    pub asked_of: usize,
}

/// What to do now.
#[derive(Debug)]
pub enum Next {
    /// Visit this host.
    Visit(Visit),
    /// Nothing before this moment, unless something is heard of or settled.
    WaitUntil(Moment),
    /// Nothing waits at all.
    Idle,
    /// The choice depends on histories that are [wanted](Frontier::wanted): ask again when they are
    /// [brought](Frontier::bring).
    Unknown,
}

/// Whether a visit goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum More {
    /// With the pages that were claimed for it.
    Claimed,
    /// It ends.
    Nothing,
    /// That depends on histories that are [wanted](Frontier::wanted): ask again when they are
    /// [brought](Frontier::bring).
    Unknown,
}

/// How far a choice has come that is put off until histories are brought.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Choosing {
    #[default]
    Begun,
    /// The price is that of now.
    Priced,
    /// Pages on the bench are worth what they are worth now.
    Quoted,
}

/// A number of fetches a second that can be reckoned with.
pub(super) fn affordable(per_second: f64) -> f64 {
    per_second.clamp(1e-9, 1e9)
}

impl<P: Policy> Frontier<P> {
    /// The frontier under a budget of so many fetches a second: the price follows it. The caller asks for the
    /// [next](Frontier::next) visit only when a fetch may be made.
    #[must_use]
    pub fn with_budget(mut self, per_second: f64) -> Self {
        self.bench.track();
        self.tariff = Tariff::Budget(Box::new(Spending {
            follower: Follower::default(),
            per_second: affordable(per_second),
            rests: Moment::START,
            looked_at: Vec::new(),
            returning: Returning::default(),
            fading: Returning::default(),
            sample: Sample::default(),
            asks: Moment::START,
            asked_of: 0,
        }));
        self
    }

    /// What a fetch must be worth now.
    pub fn price(&self) -> Price {
        match &self.tariff {
            Tariff::Fixed(price) => *price,
            Tariff::Budget(spending) => spending.follower.price(),
        }
    }

    /// What to do now.
    pub fn next(&mut self, now: Moment) -> Next {
        if self.histories.are_awaited() {
            return Next::Unknown;
        }
        if self.choosing < Choosing::Priced {
            self.find_price(now);
            self.choosing = Choosing::Priced;
        }
        if !self.wake(now) {
            return Next::Unknown;
        }
        if self.choosing < Choosing::Quoted {
            self.quote(now);
            self.choosing = Choosing::Quoted;
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

    /// Claims the next pages for a visit, as [`Bench::more`](crate::Bench::more) does.
    pub fn more(&mut self, visit: &mut Visit, free: bool, now: Moment) -> More {
        if self.histories.are_awaited() || !self.wake(now) {
            return More::Unknown;
        }
        let before = visit.left().count();
        let taken = self.bench.more(visit, free, now);
        self.pay(visit, before);
        if taken { More::Claimed } else { More::Nothing }
    }

    /// Takes the pages whose histories a choice depends on. Each is named once, and has to be
    /// [brought](Self::bring) then.
    pub fn wanted(&mut self) -> Vec<PageKey> {
        self.histories.take_wanted()
    }

    /// Whether histories that were wanted have not been brought yet.
    pub fn awaits_histories(&self) -> bool {
        self.histories.are_awaited()
    }

    /// Takes in the history of a page that was wanted; `None`: it cannot be read now.
    pub fn bring(&mut self, page: page::PageId, history: Option<History>) {
        let Some(number) = self.roll.number(page) else {
            return;
        };
        self.histories.bring(number, history);
        if let (Tariff::Budget(spending), Some(history)) = (&mut self.tariff, &history) {
            spending.fading.learn(number, history);
        }
    }

    /// From now on there are so many fetches a second. Nothing happens to a frontier without a budget.
    ///
    /// The price is found anew, since the one that was followed is that of another budget. Where a round has become
    /// shorter, appointments come nearer in proportion, so that every page is still looked at once a round.
    pub fn afford(&mut self, per_second: f64, now: Moment) {
        let Tariff::Budget(spending) = &mut self.tariff else {
            return;
        };
        let before = spending.per_second;
        spending.per_second = affordable(per_second);
        // A rest was as long as a fetch of the other budget takes to be earned.
        (spending.rests, spending.asks) = (now, now);
        let share = before / spending.per_second;
        if share < 1.0 {
            self.calendar.hasten(now, share);
        }
        let found = self.sampled_price(now);
        if let (Tariff::Budget(spending), Some(price)) = (&mut self.tariff, found) {
            spending.follower = Follower::at(price);
        }
    }

    /// Takes in what a visit found, and has the page wait if it is worth another.
    pub fn visited(&mut self, page: page::PageId, before: &History, after: &History, now: Moment) {
        self.forget(page);
        if let Some(number) = self.roll.number(page) {
            self.tell_visited(number, before, after);
            self.wait(page.host(), number, after, now);
        }
    }

    /// Takes in what else has become known of a page that was visited: what its last copy gave, or that it
    /// was said to have changed.
    pub fn learned(&mut self, page: page::PageId, before: &History, after: &History, now: Moment) {
        let Some(number) = self.roll.number(page) else {
            return;
        };
        self.tell_visited(number, before, after);
        if let Tariff::Budget(spending) = &mut self.tariff {
            spending.returning.learn(number, after);
        }
        if self.calendar.has(number) {
            self.wait(page.host(), number, after, now);
        }
    }

    pub(super) fn spending(&self) -> Option<&Spending> {
        match &self.tariff {
            Tariff::Fixed(_) => None,
            Tariff::Budget(spending) => Some(spending),
        }
    }

    /// Pages that are ready, deferred or will be looked at later.
    pub fn waiting(&self) -> usize {
        self.bench.waiting() + self.bench.deferred() + self.calendar.len()
    }

    pub(super) fn tell_visited(&mut self, page: Number, before: &History, after: &History) {
        let fact = Fact::Visited(Visited {
            page,
            before,
            after,
        });
        self.policy.observe(&fact, &mut self.moves);
        self.moves.drain().for_each(drop);
        self.histories.learn(page, after);
        if let Tariff::Budget(spending) = &mut self.tariff {
            spending.sample.learn(page, after);
        }
    }

    /// Offers a page if it pays, or makes an appointment with it.
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
            // Its time is over.
            due = None;
        }
        if history.outcome.is_none() && due.is_none() {
            self.bench.hold(page, host);
        }
        let round = self.round().map(|round| now + round);
        let (at, why) = match (due, round) {
            (Some(due), Some(round)) if due > round => (round, Why::Seen),
            (Some(due), _) => (due, Why::Due),
            (None, Some(round)) => (round, Why::Seen),
            (None, None) => return self.calendar.cancel(page),
        };
        let host = self.bench.host(host);
        self.calendar.set(Appointment { at, page, host }, why);
    }

    /// Offers a page with its history; `None`: it was never visited. A new page beyond the budget of its
    /// domain is deferred.
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

    /// Puts a page on the bench.
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
        if let Tariff::Budget(spending) = &mut self.tariff
            && self.bench.waits(page)
        {
            let host = self.bench.host(host);
            match (visited, fades) {
                (true, _) => spending.returning.insert(page, host, history),
                (false, true) => spending.fading.insert(page, host, history),
                (false, false) => {}
            }
        }
    }

    /// The time in which the budget pays for a fetch of every page; `None`: there is no budget.
    fn round(&self) -> Option<Duration> {
        let per_second = self.spending()?.per_second;
        Duration::try_from_secs_f64(self.known().max(1) as f64 / per_second).ok()
    }

    /// Takes a page that was heard of into the sample that the price is found on.
    pub(super) fn sample(&mut self, page: Number, host: HostId, history: Option<&History>) {
        if let Tariff::Budget(spending) = &mut self.tariff {
            spending.sample.hear(page, host, history);
        }
    }

    /// Finds the price anew, a few times a round and when the pages have doubled.
    fn find_price(&mut self, now: Moment) {
        if self.spending().is_none() {
            return;
        }
        let known = self.known();
        let pause = self.round().unwrap_or_default() / LATER;
        let Tariff::Budget(spending) = &mut self.tariff else {
            return;
        };
        if now < spending.asks && known < 2 * spending.asked_of {
            return;
        }
        (spending.asks, spending.asked_of) = (now + pause, known);
        let found = self.sampled_price(now);
        if let (Tariff::Budget(spending), Some(price)) = (&mut self.tariff, found) {
            spending.follower.found(price);
        }
    }

    /// The price by what the pages of the sample are worth; `None`: there are none, or no budget.
    pub(super) fn sampled_price(&self, now: Moment) -> Option<Price> {
        let spending = self.spending()?;
        let sample = spending.sample.known();
        let per_second = spending.per_second;
        sample::price(&self.policy, &sample, self.known(), per_second, now)
    }

    /// Looks at the pages whose time has come. Returns `false` if histories are wanted for that; nothing was looked
    /// at then.
    fn wake(&mut self, now: Moment) -> bool {
        loop {
            let mut due = Vec::new();
            while let Some(first) = self.calendar.first()
                && first.at <= now
                && due.len() < LOOKS
                && !self.returning().is_some_and(Returning::is_full)
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
            if !self.want_absent(&looked_at) {
                for (appointment, why) in due {
                    self.calendar.set(appointment, why);
                }
                return false;
            }
            let mut due = due.into_iter();
            for (first, why) in due.by_ref() {
                if self.returning().is_some_and(Returning::is_full) {
                    self.calendar.set(first, why);
                    break;
                }
                if self.has_enough_of(first.host) {
                    let at = now + self.round().unwrap_or_default() / LATER;
                    self.calendar.set(Appointment { at, ..first }, Why::Due);
                } else {
                    self.look(first, now, 1.0);
                }
            }
            due.for_each(|(first, why)| self.calendar.set(first, why));
        }
    }

    /// Asks for the histories that looks at these pages need. Returns whether all are here.
    pub(super) fn want_absent(&mut self, appointments: &[Appointment]) -> bool {
        let mut all = true;
        for appointment in appointments {
            let host = self.bench.host_id(appointment.host);
            if matches!(self.past(host, appointment.page), Past::Absent) {
                let page = self.roll.page(host, appointment.page);
                if let Some(key) = self.key(page) {
                    self.histories.want(appointment.page, key);
                    all = false;
                }
            }
        }
        all
    }

    fn has_enough_of(&self, host: bench::HostIndex) -> bool {
        self.returning()
            .is_some_and(|pages| pages.has_enough_of(host))
    }

    pub(super) fn returning(&self) -> Option<&Returning> {
        self.spending().map(|spending| &spending.returning)
    }

    /// Tells the bench what some of the pages that wait there are worth by now: known ones grow, and those
    /// that a source named fade.
    fn quote(&mut self, now: Moment) {
        for _ in 0..self.returning().map_or(0, Returning::len).min(QUOTES) {
            self.quote_next(|spending| &mut spending.returning, now);
        }
        let fading = self.spending().map(|spending| spending.fading.len());
        for _ in 0..fading.unwrap_or(0).min(QUOTES) {
            self.quote_next(|spending| &mut spending.fading, now);
        }
    }

    fn quote_next(&mut self, of: impl Fn(&mut Spending) -> &mut Returning, now: Moment) {
        let Tariff::Budget(spending) = &mut self.tariff else {
            return;
        };
        let Some((number, index)) = of(spending).turn() else {
            return;
        };
        // Its host was given up since. Nobody will claim it, and it must not keep others from the bench.
        if !self.bench.waits(number) {
            return of(spending).remove(number, index);
        }
        let host = self.bench.host_id(index);
        let Some(history) = of(spending).history(number) else {
            // It was offered without: it is quoted when its turn has come again.
            let key = self.key(self.roll.page(host, number));
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
            if let Tariff::Budget(spending) = &mut self.tariff {
                of(spending).remove(number, index);
            }
            self.wait(host, number, &history, now);
        }
    }

    /// Looks at a page: offers it if it is worth this share of the price, and else sees it later. Returns
    /// whether it was offered.
    pub(super) fn look(&mut self, appointment: Appointment, now: Moment, share: f64) -> bool {
        let number = appointment.page;
        let host = self.bench.host_id(appointment.host);
        let Past::Known(history) = self.past(host, number) else {
            let at = now + UNREADABLE;
            self.calendar
                .set(Appointment { at, ..appointment }, Why::Seen);
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

    /// What is known here of the visits to a page.
    fn past(&self, host: HostId, number: Number) -> Past {
        let page = self.roll.page(host, number);
        match self.recent.get(&page) {
            Some((_, found)) => Past::Known(History::discovered(found.at, found.depth)),
            None => self.histories.get(number),
        }
    }

    /// Moves the price by what was claimed for a visit, beside what it had `before`.
    fn pay(&mut self, visit: &Visit, before: usize) {
        let known = self.known();
        let Tariff::Budget(spending) = &mut self.tariff else {
            return;
        };
        let host = visit.host_index();
        let next = self.bench.best(host);
        for (page, worth) in visit.left().zip(visit.worths()).skip(before) {
            spending.returning.remove(page, host);
            spending.fading.remove(page, host);
            spending.follower.claimed(worth, next, known);
        }
    }

    fn wait_until(&mut self, ready: Option<Moment>, now: Moment) -> Next {
        let look = self.calendar.first().map(|first| first.at);
        let rests = self.spending().map(|spending| spending.rests);
        let rests = rests.filter(|rests| look.is_some() && *rests > now);
        let first = [ready, look, rests].into_iter().flatten().min();
        first.map_or(Next::Idle, Next::WaitUntil)
    }
}
