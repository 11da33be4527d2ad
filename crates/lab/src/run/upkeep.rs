//! How fresh does a policy keep pages of different importance, with so many fetches a day?
//!
//! The production frontier under a budget, which finds its own price, with a clock that jumps. All pages are heard of at the
//! beginning and compete for their first copies with the refreshes of others; what is measured begins after a warm-up.
//!
//! **Invariant:** freshness is the expected one, given when pages were visited and the rates at which they truly change: after a
//! visit a copy is fresh for another t with `e^(-λt)`, whatever was seen before. So chance in the changes, of which a few
//! important pages have few, does not blur it. The policy is told neither rates nor changes, unless it was built with them.

use std::time::Duration;

use frontier::bench::Manners;
use frontier::{Budget, Frontier, Link, Next};
use page::PageId;
use policy::server::Quality;
use policy::{History, Moment, Number, Policy, Price, Visit};

use super::refresh::{Lives, seen, text_at};

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
pub fn upkeep(plan: &Upkeep<'_>, policy: Box<dyn Policy>) -> Option<Upheld> {
    let per_second = plan.per_day / SECONDS_PER_DAY;
    let budget = Budget::new(per_second, plan.from)?;
    let manners = Manners {
        pages_per_visit: 1,
        pages_per_host: u32::MAX,
        ..Manners::default()
    };
    let frontier = Frontier::new(policy, Box::new(Quality), Price::ONE, manners, 0);
    let mut run = Run {
        plan,
        frontier: frontier.with_budget(per_second),
        budget,
        numbered: Vec::with_capacity(plan.lives.pages()),
        copies: vec![None; plan.lives.pages()],
        histories: vec![None; plan.lives.pages()],
        fresh: vec![0.0; plan.lives.pages()],
        visits: 0,
    };
    for page in 0..plan.lives.pages() {
        if text_at(plan.lives.of(page), plan.from).is_some() {
            run.discover(page);
        }
    }
    run.go();
    Some(run.end())
}

struct Run<'a> {
    plan: &'a Upkeep<'a>,
    frontier: Frontier<Box<dyn Policy>>,
    budget: Budget,
    /// The page of each number.
    numbered: Vec<usize>,
    copies: Vec<Option<u64>>,
    histories: Vec<Option<History>>,
    /// For how long the copy of each page is expected to have been fresh, in days.
    fresh: Vec<f64>,
    visits: u64,
}

impl Run<'_> {
    fn discover(&mut self, page: usize) {
        let url = self.plan.lives.url(page);
        self.numbered.push(page);
        self.histories[page] = Some(History::discovered(self.plan.from, 0));
        let link = Link {
            url,
            depth: 0,
            hops: 0,
            source: None,
            absent: None,
        };
        self.frontier.hear(link, self.plan.from);
    }

    fn go(&mut self) {
        let mut now = self.plan.from;
        while now < self.plan.until {
            let ready = self.budget.ready(now);
            if ready > now {
                now = ready;
                continue;
            }
            let (numbered, histories) = (&self.numbered, &self.histories);
            let past = |page: Number, _| histories[numbered[page.index()]];
            match self.frontier.next(now, past) {
                Next::Visit(mut visit) => {
                    while let Some(number) = visit.first() {
                        let id = self.frontier.page(visit.host, number);
                        self.ask(self.numbered[number.index()], id, now);
                        visit.settled(number);
                    }
                    let bench = &mut self.frontier.bench;
                    bench.settle(visit, now, Duration::ZERO, false);
                }
                Next::WaitUntil(due) => now = due.max(now + Duration::from_micros(1)),
                Next::Idle => return,
            }
        }
    }

    fn ask(&mut self, page: usize, id: PageId, now: Moment) {
        self.budget.spend(now);
        self.visits += u64::from(now >= self.plan.measured);
        let history = self.histories[page].unwrap_or_default();
        self.account(page, history.asked, now);
        let outcome = seen(self.plan.lives.of(page), &mut self.copies[page], now);
        let after = history.after(Visit::new(now, outcome));
        self.histories[page] = Some(after);
        self.frontier.visited(id, &history, &after, now);
    }

    /// Accounts for the time from a visit, if there was one, to the next.
    fn account(&mut self, page: usize, visit: Option<Moment>, next: Moment) {
        let Some(visit) = visit else { return };
        let (from, until) = (visit.max(self.plan.measured), next.min(self.plan.until));
        if from < until {
            let days = |moment: Moment| moment.since(visit).as_secs_f64() / SECONDS_PER_DAY;
            self.fresh[page] += expected(self.plan.rates[page], days(from), days(until));
        }
    }

    fn end(mut self) -> Upheld {
        let plan = self.plan;
        for page in 0..plan.lives.pages() {
            let asked = self.histories[page].and_then(|history| history.asked);
            self.account(page, asked, plan.until);
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
    use policy::Crawl;
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
        let found = upkeep(&plan, Box::new(crawl)).unwrap();
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
