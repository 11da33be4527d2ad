//! How recent does a policy keep its copies of pages that change?
//!
//! The production frontier and policy, with a clock that jumps from one due visit to the next. Servers
//! answer at once and want no delay, so that manners do not bind, however many pages a host has: what is
//! measured is the policy's choice of moments, and the budget is the number of visits that it makes.
//!
//! Pages that exist when it begins are discovered one by one, evenly over a while and in drawn order, as a
//! crawl of limited speed would: all at once would also be all due at once, for ever. Pages that are born
//! later are discovered at birth: finding them is another experiment.
//!
//! **Invariant:** the policy is told what a crawler sees: that a page is there, and at each visit whether
//! it has changed, has not, or is gone. When it changed only the judge knows.

mod lives;

pub use lives::{Change, Lives, seen, text_at};

use std::time::Duration;

use frontier::bench::Manners;
use frontier::{Frontier, Link, Next};
use page::PageId;
use policy::server::Quality;
use policy::{History, Moment, Number, Policy, Price, Visit};
use rand::seq::SliceRandom;

use crate::chance::{For, stream};
use crate::measure::recency::Recency;

/// When pages are refreshed and what is measured.
#[derive(Debug, Clone)]
pub struct Refresh {
    /// When it begins.
    pub from: Moment,
    /// When it ends.
    pub until: Moment,
    /// Over how long the pages that exist at the beginning are discovered.
    pub spread: Duration,
    /// How long nothing is measured.
    pub warm_up: Duration,
    /// What a visit must be worth.
    pub price: Price,
    /// The grace periods β to measure currency with.
    pub graces: Vec<Duration>,
    /// Where the order of the first visits is drawn from.
    pub seed: u64,
}

/// What became of it.
#[derive(Debug, Clone)]
pub struct Refreshed {
    /// How recent copies were after the warm-up.
    pub recency: Recency,
    /// Visits after the warm-up.
    pub visits: u64,
    /// What the policy knew of each page in the end; `None`: the page was never discovered.
    pub histories: Vec<Option<History>>,
}

/// Refreshes pages by a policy.
pub fn refresh(lives: &Lives, policy: Box<dyn Policy>, plan: &Refresh) -> Refreshed {
    let manners = Manners {
        pages_per_visit: 1,
        pages_per_host: u32::MAX,
        ..Manners::default()
    };
    let measured = plan.from + plan.warm_up;
    let mut run = Run {
        lives,
        frontier: Frontier::new(policy, Box::new(Quality), plan.price, manners, 0),
        numbered: Vec::with_capacity(lives.pages()),
        copies: vec![None; lives.pages()],
        done: Refreshed {
            recency: Recency::new(measured, plan.until, &plan.graces),
            visits: 0,
            histories: vec![None; lives.pages()],
        },
        measured,
        until: plan.until,
    };
    run.go(&discoveries(lives, plan), plan.from);
    run.end()
}

/// When each page is discovered, by time.
fn discoveries(lives: &Lives, plan: &Refresh) -> Vec<(Moment, u32)> {
    let (mut known, mut found) = (Vec::new(), Vec::new());
    for page in 0..lives.pages() as u32 {
        let changes = lives.of(page as usize);
        if text_at(changes, plan.from).is_some() {
            known.push(page);
            continue;
        }
        let later = changes.partition_point(|change| change.at <= plan.from);
        let born = changes[later..].iter().find(|change| change.text.is_some());
        found.extend(born.map(|born| (born.at, page)));
    }
    known.shuffle(&mut stream(plan.seed, For::FirstVisits, 0, 0));
    let count = known.len().max(1) as u128;
    let spread = |(place, page): (u128, u32)| {
        let wait = plan.spread.as_micros() * place / count;
        let wait = u64::try_from(wait).unwrap_or(u64::MAX);
        (plan.from + Duration::from_micros(wait), page)
    };
    found.extend((0..).zip(known).map(spread));
    found.sort_unstable();
    found
}

struct Run<'a> {
    lives: &'a Lives,
    frontier: Frontier<Box<dyn Policy>>,
    /// The page of each number.
    numbered: Vec<u32>,
    /// The text of the copy that the crawler has.
    copies: Vec<Option<u64>>,
    done: Refreshed,
    measured: Moment,
    until: Moment,
}

impl Run<'_> {
    fn go(&mut self, discoveries: &[(Moment, u32)], from: Moment) {
        let mut discoveries = discoveries.iter().peekable();
        let mut now = from;
        while now < self.until {
            while let Some((_, page)) = discoveries.next_if(|(at, _)| *at <= now) {
                self.discover(*page, now);
            }
            let soonest = discoveries.peek().map(|(at, _)| *at);
            let (numbered, histories) = (&self.numbered, &self.done.histories);
            let past = |page: Number, _| histories[numbered[page.index()] as usize];
            match self.frontier.next(now, past) {
                Next::Visit(mut visit) => {
                    while let Some(number) = visit.first() {
                        let id = self.frontier.page(visit.host, number);
                        self.ask(self.numbered[number.index()] as usize, id, now);
                        visit.settled(number);
                    }
                    let bench = &mut self.frontier.bench;
                    bench.settle(visit, now, Duration::ZERO, false);
                }
                Next::WaitUntil(due) => now = soonest.map_or(due, |soonest| soonest.min(due)),
                Next::Idle => match soonest {
                    Some(soonest) => now = soonest,
                    None => return,
                },
            }
        }
    }

    fn discover(&mut self, page: u32, now: Moment) {
        self.numbered.push(page);
        self.done.histories[page as usize] = Some(History::discovered(now, 0));
        let link = Link {
            url: self.lives.url(page as usize),
            depth: 0,
            hops: 0,
            source: None,
            absent: None,
        };
        self.frontier.hear(link, now);
    }

    /// Asks for a page, and tells the policy what a crawler sees.
    fn ask(&mut self, page: usize, id: PageId, now: Moment) {
        let changes = self.lives.of(page);
        let history = self.done.histories[page].unwrap_or_default();
        self.done.recency.account(changes, history.asked, now);
        self.done.visits += u64::from(now >= self.measured);
        let outcome = seen(changes, &mut self.copies[page], now);
        let after = history.after(Visit::new(now, outcome));
        self.done.histories[page] = Some(after);
        self.frontier.visited(id, &history, &after, now);
    }

    fn end(mut self) -> Refreshed {
        for page in 0..self.lives.pages() {
            let asked = self.done.histories[page].and_then(|history| history.asked);
            let changes = self.lives.of(page);
            self.done.recency.account(changes, asked, self.until);
        }
        self.done
    }
}

#[cfg(test)]
mod tests;
