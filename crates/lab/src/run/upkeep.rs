//! How fresh a policy keeps pages of different importance, with a budget of fetches a day.
//!
//! The crawl core under a budget, which finds its own price, with a clock that jumps ([`Driver`]). All pages are heard of at the
//! beginning and compete for their first copies with the refreshes of others; what is measured begins after a warm-up.
//!
//! **Invariant:** freshness is the expected one, given when pages were visited and the rates at which they truly change: after a
//! visit a copy is fresh for another t with `e^(-λt)`, whatever was seen before. So chance in the changes, of which a few
//! important pages have few, does not blur it. The policy is told neither rates nor changes, unless it was built with them.

use std::time::Duration;

use crawl::verdict::Verdict;
use crawl::{Again, Claim, Plan};
use frontier::Budget;
use policy::published::server::Quality;
use policy::{Crawl, Moment};

use super::driver::{AtOnce, Driver, Responder, answer_of};
use super::refresh::{Lives, text_at};

const SECONDS_PER_DAY: f64 = 86_400.0;

/// Pages, what they are worth, and what may be fetched.
#[derive(Debug, Clone)]
pub struct Upkeep<'a> {
    /// The pages.
    pub lives: &'a Lives,
    /// How often each truly changes, a day.
    pub rates: &'a [f64],
    /// What a fresh copy of each is worth.
    pub weights: &'a [f64],
    /// Fetches a day.
    pub per_day: f64,
    /// When it begins.
    pub from: Moment,
    /// When it is measured from.
    pub measured: Moment,
    /// When it ends.
    pub until: Moment,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Upheld {
    /// The expected freshness of copies, weighted, over the time that is measured.
    pub freshness: f64,
    /// Fetches a day in that time.
    pub per_day: f64,
}

/// Keeps pages by a policy. `None`: the budget is no positive finite number.
pub fn upkeep(plan: &Upkeep<'_>, policy: Crawl) -> Option<Upheld> {
    let budget = plan.per_day / SECONDS_PER_DAY;
    Budget::new(budget, plan.from)?;
    let there = |page: &usize| text_at(plan.lives.of(*page), plan.from).is_some();
    let pages: Vec<usize> = (0..plan.lives.pages()).filter(there).collect();
    let rules = Plan {
        seeds: pages
            .iter()
            .map(|&page| plan.lives.url(page).clone())
            .collect(),
        again: Again::Always { budget },
        pages_per_visit: 1,
        without_rules: true,
        ..Plan::default()
    };
    let world = Kept {
        plan,
        asked: vec![None; plan.lives.pages()],
        fresh: vec![0.0; plan.lives.pages()],
        numbered: pages,
        visits: 0,
    };
    let policies = (policy, Box::new(Quality) as _);
    let connections = AtOnce::one_page(Duration::ZERO);
    let mut driver = Driver::new(world, connections, rules, policies, plan.from);
    driver.run(plan.until, []);
    Some(driver.world.end())
}

/// Pages, and how fresh their copies are expected to be.
struct Kept<'a> {
    plan: &'a Upkeep<'a>,
    /// The page of each number.
    numbered: Vec<usize>,
    /// When each page was last asked for.
    asked: Vec<Option<Moment>>,
    /// For how long the copy of each page is expected to have been fresh, in days.
    fresh: Vec<f64>,
    visits: u64,
}

impl Responder for Kept<'_> {
    fn respond(&mut self, claim: &Claim, at: Moment) -> Verdict {
        let page = self.numbered[claim.number.index()];
        self.visits += u64::from(at >= self.plan.measured);
        self.account(page, at);
        self.asked[page] = Some(at);
        let answer = answer_of(text_at(self.plan.lives.of(page), at));
        claim.asked(at).judge(&answer, 0, &|_| true)
    }
}

impl Kept<'_> {
    /// Accounts for the time from the last visit, if there was one, to the next.
    fn account(&mut self, page: usize, next: Moment) {
        let Some(visit) = self.asked[page] else {
            return;
        };
        let (from, until) = (visit.max(self.plan.measured), next.min(self.plan.until));
        if from < until {
            let days = |moment: Moment| moment.since(visit).as_secs_f64() / SECONDS_PER_DAY;
            self.fresh[page] += expected(self.plan.rates[page], days(from), days(until));
        }
    }

    fn end(mut self) -> Upheld {
        let plan = self.plan;
        for page in 0..plan.lives.pages() {
            self.account(page, plan.until);
        }
        let days = plan.until.since(plan.measured).as_secs_f64() / SECONDS_PER_DAY;
        let pages = plan.weights.iter().zip(&self.fresh);
        let fresh: f64 = pages.map(|(weight, fresh)| weight * fresh).sum();
        Upheld {
            freshness: fresh / days / plan.weights.iter().sum::<f64>(),
            per_day: self.visits as f64 / days,
        }
    }
}

/// For how long a copy is expected to be fresh between two ages: `∫ e^(-λt) dt`.
fn expected(rate: f64, from: f64, until: f64) -> f64 {
    if rate == 0.0 {
        return until - from;
    }
    (-rate * from).exp() * -(-rate * (until - from)).exp_m1() / rate
}

#[cfg(test)]
mod tests {
    use page::PageUrl;
    use policy::refresh::Uniform;

    use super::*;
    use crate::run::refresh::Change;

    #[test]
    fn even_visits_give_what_the_formula_says() {
        let urls = (0..50).map(|n| PageUrl::parse(&format!("http://s{n}.example/")).unwrap());
        let birth = Change {
            at: Moment::START,
            text: Some(0),
        };
        let lives = Lives::new(urls.collect(), (0..50).map(|page| (page, birth)));
        let day = |days: u64| Moment::START + Duration::from_secs(days * 86_400);
        let rates: Vec<f64> = (0..50).map(|page| f64::from(page) / 100.0).collect();
        let plan = Upkeep {
            lives: &lives,
            rates: &rates,
            weights: &[1.0; 50],
            per_day: 5.0,
            from: day(0),
            measured: day(30),
            until: day(130),
        };
        let crawl = Crawl {
            refresh: Some(Box::new(Uniform::every(Duration::from_secs(86_400)))),
            ..Crawl::default()
        };
        let found = upkeep(&plan, crawl).unwrap();
        // Every page every ten days.
        let each = rates
            .iter()
            .map(|&rate| policy::plan::freshness::of_page(rate, 10.0));
        let right = each.sum::<f64>() / 50.0;
        // Nothing is better than even visits, and the frontier's are nearly so.
        let off = found.freshness - right;
        assert!((-0.03..1e-3).contains(&off), "{} {right}", found.freshness);
        assert!((found.per_day - 5.0).abs() < 0.1, "{}", found.per_day);
    }
}
