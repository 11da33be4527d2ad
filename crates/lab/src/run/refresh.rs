//! Runs a refresh policy over pages that change, at a fixed price of a fetch, and measures how
//! recent its copies are.
//!
//! The crawl core runs under a clock that jumps from one due visit to the next ([`LabDriver`]).
//! Servers answer at once and need no delay, so politeness never limits the crawl: the policy alone
//! chooses the times of visits. The number of visits is the budget that it used.
//!
//! Pages that exist at the start are discovered one by one, at even intervals over
//! [`RefreshPlan::spread`] and in random order, as by a crawl of limited speed. If all were
//! discovered at once, all would stay due at the same times. A page born later is discovered at
//! its birth, because discovery is the subject of another experiment.
//!
//! **Invariant:** the policy receives what a crawler sees: that a page exists, and at each visit
//! whether it has changed, has not changed, or is gone. Only the judge knows when it changed.

pub use crate::kinds::{Change, Lives, text_at};

use std::time::Duration;

use crawl::verdict::Verdict;
use crawl::{Again, Claim, Plan};
use policy::published::server::Quality;
use policy::{Crawl, History, Moment, Price};
use rand::seq::SliceRandom;
use testweb::chance::{For, stream};

use super::driver::{InstantServers, LabDriver, Responder, answer_of, offer};
use crate::measure::recency::Recency;

/// The times and measures of a refresh run.
#[derive(Debug, Clone)]
pub struct RefreshPlan {
    /// Start of the run.
    pub from: Moment,
    /// End of the run.
    pub until: Moment,
    /// Period over which the pages that exist at the start are discovered.
    pub spread: Duration,
    /// Period after the start that is not measured.
    pub warm_up: Duration,
    /// Minimum worth of a visit that is made.
    pub price: Price,
    /// Grace periods β for the measure of currency.
    pub graces: Vec<Duration>,
    /// Seed of the random order of the first visits.
    pub seed: u64,
}

/// The result of a refresh run.
#[derive(Debug, Clone)]
pub struct Refreshed {
    /// Recency of the copies after the warm-up.
    pub recency: Recency,
    /// Visits after the warm-up.
    pub visits: u64,
    /// History of each page at the end; `None` if the page was never discovered.
    pub histories: Vec<Option<History>>,
}

/// Refreshes pages by a policy and measures the copies.
pub fn refresh(lives: &Lives, policy: Crawl, plan: &RefreshPlan) -> Refreshed {
    let measured = plan.from + plan.warm_up;
    let discoveries = discoveries(lives, plan);
    let mut histories = vec![None; lives.pages()];
    for &(at, page) in discoveries.iter().filter(|(at, _)| *at < plan.until) {
        histories[page as usize] = Some(History::discovered(at, 0));
    }
    let world = ChangingPages {
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
    let connections = InstantServers::one_page(Duration::ZERO);
    let mut driver = LabDriver::new(world, connections, rules, policies, plan.from);
    let named = discoveries
        .iter()
        .map(|&(at, page)| (at, offer(lives.url(page as usize))));
    driver.run(plan.until, named);
    driver.world.end(plan.until)
}

/// Returns when each page is discovered, by time.
fn discoveries(lives: &Lives, plan: &RefreshPlan) -> Vec<(Moment, u32)> {
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

/// Pages that change, and the measured recency of their copies.
struct ChangingPages<'a> {
    lives: &'a Lives,
    /// World page of each page number, in the order of discovery.
    numbered: Vec<u32>,
    measured: Moment,
    done: Refreshed,
}

impl Responder for ChangingPages<'_> {
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

impl ChangingPages<'_> {
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
