//! How recent a policy keeps its copies of pages that change, at a given price of a fetch.
//!
//! The crawl core, driven by a clock that jumps from one due visit to the next ([`Driver`]). Servers
//! answer at once and want no delay, so that manners do not bind, however many pages a host has: what is
//! measured is the policy's choice of moments, and the budget is the number of visits that it makes.
//!
//! Pages that exist when it begins are discovered one by one, evenly over a while and in drawn order, as a
//! crawl of limited speed would: all at once would also be all due at once, for ever. Pages that are born
//! later are discovered at birth: finding them is another experiment.
//!
//! **Invariant:** the policy is told what a crawler sees: that a page is there, and at each visit whether
//! it has changed, has not, or is gone. When it changed only the judge knows.

pub use crate::kinds::{Change, Lives, text_at};

use std::time::Duration;

use crawl::verdict::Verdict;
use crawl::{Again, Claim, Plan};
use policy::published::server::Quality;
use policy::{Crawl, History, Moment, Price};
use rand::seq::SliceRandom;
use testweb::chance::{For, stream};

use super::driver::{AtOnce, Driver, Responder, answer_of, named};
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
pub fn refresh(lives: &Lives, policy: Crawl, plan: &Refresh) -> Refreshed {
    let measured = plan.from + plan.warm_up;
    let discoveries = discoveries(lives, plan);
    let mut histories = vec![None; lives.pages()];
    for &(at, page) in discoveries.iter().filter(|(at, _)| *at < plan.until) {
        histories[page as usize] = Some(History::discovered(at, 0));
    }
    let world = Living {
        lives,
        numbered: discoveries.iter().map(|&(_, page)| page).collect(),
        measured,
        done: Refreshed {
            recency: Recency::new(measured, plan.until, &plan.graces),
            visits: 0,
            histories,
        },
    };
    let rules = Plan {
        again: Again::AtPrice(plan.price),
        pages_per_visit: 1,
        without_rules: true,
        ..Plan::default()
    };
    let policies = (policy, Box::new(Quality) as _);
    let connections = AtOnce::one_page(Duration::ZERO);
    let mut driver = Driver::new(world, connections, rules, policies, plan.from);
    let named = discoveries
        .iter()
        .map(|&(at, page)| (at, named(lives.url(page as usize))));
    driver.run(plan.until, named);
    driver.world.end(plan.until)
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

/// Pages that live, and what becomes of their copies.
struct Living<'a> {
    lives: &'a Lives,
    /// The page of each number: pages are numbered as they are discovered.
    numbered: Vec<u32>,
    measured: Moment,
    done: Refreshed,
}

impl Responder for Living<'_> {
    fn respond(&mut self, claim: &Claim, at: Moment) -> Verdict {
        let page = self.numbered[claim.number.index()] as usize;
        let changes = self.lives.of(page);
        let asked = claim.history().asked;
        self.done.recency.account(changes, asked, at);
        self.done.visits += u64::from(at >= self.measured);
        let answer = answer_of(text_at(changes, at));
        let verdict = claim.asked(at).judge(&answer, 0, &|_| true);
        self.done.histories[page] = Some(verdict.visited.history);
        verdict
    }
}

impl Living<'_> {
    fn end(mut self, until: Moment) -> Refreshed {
        for page in 0..self.lives.pages() {
            let asked = self.done.histories[page].and_then(|history| history.asked);
            let changes = self.lives.of(page);
            self.done.recency.account(changes, asked, until);
        }
        self.done
    }
}

#[cfg(test)]
mod tests;
