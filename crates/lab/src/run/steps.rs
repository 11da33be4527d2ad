//! How good a policy keeps a repository that may refresh a number of pages every step.
//!
//! The crawl core under a budget, with a clock that jumps ([`Driver`]), in the protocol of Pandey & Olston, "User-centric web
//! crawling" (WWW 2005), §6.3. A step is a period of time in which the web stands still:
//!
//! - It begins with a repository that equals the web. The ledger that the core begins with has the first copies and what was learned
//!   from earlier visits ([`Knowledge`]).
//! - The web moves on to the next snapshot when a step begins. The core spends the budget evenly over the step. When the step ends
//!   the repository is judged against the same snapshot. To the judge all visits of a step are made at its beginning.
//! - A page is discovered at the step at which it is born. Each new page raises the budget of its step by one fetch, so a first copy
//!   costs nothing; when it is fetched the policy decides. A page that is found gone leaves the repository at once.
//! - Searchers of the repository tell the policy every few steps which pages they saw.
//!
//! **Difference to the paper:** its crawler refreshes a fixed number of pages a step and each page at most once. The core makes no
//! fetch that is worth nothing to the policy, and may fetch a page twice in a step.
//!
//! **Invariant:** the policy is told what a crawler sees: discoveries, what its own visits found and what they gave by the crawler's own
//! measure, and which pages searchers of its own repository saw. It is never told what a page that it did not visit shows.

mod gauge;
mod judged;
mod knowledge;
mod repository;
mod snapshots;

pub(crate) use gauge::Gauge;
pub use judged::Kept;
pub use knowledge::{Knowledge, Protocol};
pub use snapshots::Snapshots;

use std::time::Duration;

use crawl::{Again, Event, Plan};
use policy::published::server::Quality;
use policy::{Crawl, Policy};

use super::driver::{AtOnce, Driver, named};
use crate::measure::quality::Answers;
use crate::run::refresh::Lives;
use crate::text::{Scored, Texts};
use judged::Judged;
use repository::Repository;

/// Steps after which score-rank functions are made anew and the policy is told what searchers saw.
const CADENCE: usize = 4;

/// Fetches a second where there are none: a budget is above 0.
const NOTHING: f64 = 1e-12;

/// What all runs over a world share.
#[derive(Debug, Clone)]
pub struct Course<'a> {
    lives: &'a Lives,
    snapshots: &'a Snapshots,
    /// What texts say and how they are scored; `None`: nobody knows.
    said: Option<(&'a Texts, &'a Scored)>,
    /// What searchers get from a repository that equals the web, at each step.
    ideal: Vec<f64>,
}

impl<'a> Course<'a> {
    /// A world at even steps.
    pub fn new(
        lives: &'a Lives,
        snapshots: &'a Snapshots,
        said: Option<(&'a Texts, &'a Scored)>,
    ) -> Self {
        Self {
            lives,
            snapshots,
            said,
            ideal: said.map_or_else(Vec::new, |(_, scored)| ideal(snapshots, scored)),
        }
    }

    /// What a repository is worth at a step, over one that equals the web; 1 where the web answers nothing.
    fn quality(&self, step: usize, usefulness: f64) -> f64 {
        match self.ideal[step] {
            0.0 => 1.0,
            ideal => usefulness / ideal,
        }
    }

    /// The pages that are known at a step, in the order of their discovery.
    fn known(&self, step: usize) -> impl Iterator<Item = u32> + 'a {
        let born = self.snapshots.born();
        let end = born.partition_point(|(at, _)| *at <= step);
        born[..end].iter().map(|(_, page)| *page)
    }

    /// Refreshes so many pages a step, at every step after the knowledge was gained.
    pub fn refresh(&self, crawl: Crawl, knowledge: &Knowledge, budget: usize) -> Kept {
        let moments = self.snapshots.moments();
        let length = moments[1].since(moments[0]);
        let per_second = |fetches: usize| (fetches as f64 / length.as_secs_f64()).max(NOTHING);
        let rules = Plan {
            again: Again::Always {
                budget: per_second(budget),
            },
            pages_per_visit: 1,
            without_rules: true,
            ..Plan::default()
        };
        let searches = crawl.needs().searches && !knowledge.is_final();
        let mut repository = Repository::begin(self, knowledge);
        let ledger = repository.ledger();
        let mut views = repository.seen_before();
        let policies = (crawl, Box::new(Quality) as _);
        let connections = AtOnce::one_page(Duration::ZERO);
        let first = knowledge.from + 1;
        let begin = moments[first];
        let mut driver = Driver::resumed(repository, connections, rules, policies, ledger, begin);
        let mut judged = Judged::default();
        let mut known = self.known(knowledge.from).count();
        for (step, &now) in moments.iter().enumerate().skip(first) {
            driver.world.turn(step);
            if searches && (step - knowledge.from).is_multiple_of(CADENCE) {
                views.extend(driver.world.seen(CADENCE as f64));
            }
            let born = self.known(step).skip(known);
            let offers: Vec<_> = born
                .map(|page| named(self.lives.url(page as usize)))
                .collect();
            known += offers.len();
            driver.happen(
                now,
                [
                    Event::Paused(true),
                    Event::BudgetChanged(per_second(budget + offers.len())),
                    Event::Searched(std::mem::take(&mut views)),
                    Event::Offered(offers),
                    Event::Paused(false),
                ],
            );
            driver.run(now + length, []);
            if let Some(answers) = &mut driver.world.answers {
                let standing = answers.standing();
                let quality = self.quality(step, standing.usefulness);
                judged.add(quality, standing.embarrassment);
            }
        }
        driver.world.end(judged)
    }
}

/// What searchers get from a repository that equals the web, at each step.
fn ideal(snapshots: &Snapshots, scored: &Scored) -> Vec<f64> {
    let mut answers = Answers::new(scored, snapshots.pages());
    let each = (0..snapshots.moments().len()).map(|step| {
        for &(page, text) in snapshots.changed(step) {
            answers.set_live(page, text);
            answers.set_copy(page, text);
        }
        answers.standing().usefulness
    });
    each.collect()
}

#[cfg(test)]
mod tests;
