//! Runs a refresh policy over pages of different importance, with a budget of fetches a day, and
//! measures freshness.
//!
//! The crawl core runs under a budget and finds its own price ([`LabDriver`]). All pages that exist
//! at the start are seeds. First copies compete with refreshes of other pages, so the measure
//! begins after a warm-up.
//!
//! **Invariant:** the measure is expected freshness, given the times of the visits and the true
//! change rates. After a visit a copy is still fresh at age t with probability `e^(-λt)`,
//! whatever was seen before. So random change times add no noise, not even for the few important
//! pages, which have few changes. The policy knows neither rates nor changes, unless its
//! constructor received them.

use std::time::Duration;

use crawl::verdict::Verdict;
use crawl::{Again, Claim, Plan};
use frontier::Budget;
use policy::published::server::Quality;
use policy::{Crawl, Moment};

use super::driver::{InstantServers, LabDriver, Responder, answer_of};
use super::refresh::{Lives, text_at};

const SECONDS_PER_DAY: f64 = 86_400.0;

/// Pages, their weights, and the budget.
#[derive(Debug, Clone)]
pub struct UpkeepPlan<'a> {
    /// The pages and their changes.
    pub lives: &'a Lives,
    /// True change rate of each page, per day.
    pub rates: &'a [f64],
    /// Weight of a fresh copy of each page.
    pub weights: &'a [f64],
    /// Budget in fetches per day.
    pub per_day: f64,
    /// Start of the run.
    pub from: Moment,
    /// Start of the measured period.
    pub measured: Moment,
    /// End of the run.
    pub until: Moment,
}

/// The result of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UpkeepOutcome {
    /// Expected share of fresh copies in the measured period, weighted by [`UpkeepPlan::weights`].
    pub freshness: f64,
    /// Fetches per day that were made in the measured period.
    pub per_day: f64,
}

/// Refreshes pages by a policy. Returns `None` if the budget is not positive and finite.
pub fn upkeep(plan: &UpkeepPlan<'_>, policy: Crawl) -> Option<UpkeepOutcome> {
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
    let world = WeightedPages {
        plan,
        last_visit: vec![None; plan.lives.pages()],
        fresh: vec![0.0; plan.lives.pages()],
        numbered: pages,
        visits: 0,
    };
    let policies = (policy, Box::new(Quality) as _);
    let connections = InstantServers::one_page(Duration::ZERO);
    let mut driver = LabDriver::new(world, connections, rules, policies, plan.from);
    driver.run(plan.until, []);
    Some(driver.world.end())
}

/// Pages, and the expected freshness of their copies.
struct WeightedPages<'a> {
    plan: &'a UpkeepPlan<'a>,
    /// World page of each page number.
    numbered: Vec<usize>,
    /// Time of the last visit to each page.
    last_visit: Vec<Option<Moment>>,
    /// Expected fresh time of each page's copy in the measured period, in days.
    fresh: Vec<f64>,
    visits: u64,
}

impl Responder for WeightedPages<'_> {
    fn respond(&mut self, claim: &Claim, at: Moment) -> Verdict {
        let page = self.numbered[claim.number.index()];
        self.visits += u64::from(at >= self.plan.measured);
        self.account(page, at);
        self.last_visit[page] = Some(at);
        let answer = answer_of(text_at(self.plan.lives.of(page), at));
        claim.asked(at).judge(&answer, 0, &|_| true)
    }
}

impl WeightedPages<'_> {
    /// Adds the expected fresh time from the last visit, if there was one, to `next`.
    fn account(&mut self, page: usize, next: Moment) {
        let Some(visit) = self.last_visit[page] else {
            return;
        };
        let (from, until) = (visit.max(self.plan.measured), next.min(self.plan.until));
        if from < until {
            let days = |moment: Moment| moment.since(visit).as_secs_f64() / SECONDS_PER_DAY;
            self.fresh[page] += expected(self.plan.rates[page], days(from), days(until));
        }
    }

    fn end(mut self) -> UpkeepOutcome {
        let plan = self.plan;
        for page in 0..plan.lives.pages() {
            self.account(page, plan.until);
        }
        let days = plan.until.since(plan.measured).as_secs_f64() / SECONDS_PER_DAY;
        let pages = plan.weights.iter().zip(&self.fresh);
        let fresh: f64 = pages.map(|(weight, fresh)| weight * fresh).sum();
        UpkeepOutcome {
            freshness: fresh / days / plan.weights.iter().sum::<f64>(),
            per_day: self.visits as f64 / days,
        }
    }
}

/// Returns the expected fresh time of a copy between two ages, in days: `∫ e^(-λt) dt`.
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
    fn evenly_spaced_visits_reach_the_freshness_of_the_formula() {
        let urls = (0..50).map(|n| PageUrl::parse(&format!("http://s{n}.example/")).unwrap());
        let birth = Change {
            at: Moment::START,
            text: Some(0),
        };
        let lives = Lives::new(urls.collect(), (0..50).map(|page| (page, birth)));
        let day = |days: u64| Moment::START + Duration::from_secs(days * 86_400);
        let rates: Vec<f64> = (0..50).map(|page| f64::from(page) / 100.0).collect();
        let plan = UpkeepPlan {
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
        // Every page is visited every ten days.
        let each = rates
            .iter()
            .map(|&rate| policy::plan::freshness::of_page(rate, 10.0));
        let right = each.sum::<f64>() / 50.0;
        // Evenly spaced visits are optimal here, and the frontier's visits are nearly so.
        let off = found.freshness - right;
        assert!((-0.03..1e-3).contains(&off), "{} {right}", found.freshness);
        assert!((found.per_day - 5.0).abs() < 0.1, "{}", found.per_day);
    }
}
