//! Runs a refresh policy in steps, with a fixed number of refreshes a step, and scores the
//! repository for its searchers.
//!
//! The crawl core runs under a budget with a clock that jumps ([`LabDriver`]). The protocol is
//! that of Pandey & Olston, "User-centric web crawling" (WWW 2005), §6.3. A step is a period in
//! which the web does not change:
//!
//! - At the start the repository equals the web. The ledger that the core starts with has the
//!   first copies, and what earlier visits learned ([`InitialKnowledge`]).
//! - The web moves to the next snapshot when a step begins. The core spends the budget evenly
//!   over the step. At the end of the step the judge compares the repository with the same
//!   snapshot. For the judge all visits of a step happen at its beginning.
//! - A page is discovered at the step at which it is born. Each new page raises the budget of
//!   that step by one fetch, so a first copy costs nothing. The policy decides when to fetch it.
//!   A page found gone leaves the repository at once.
//! - Every four steps the policy receives which pages the searchers of the repository saw.
//!
//! **Difference to the paper:** its crawler refreshes a fixed number of pages a step, each page
//! at most once. The core makes no fetch that has no worth to the policy, and may fetch a page
//! twice in a step.
//!
//! **Invariant:** the policy receives what a crawler sees: discoveries, the outcomes of its own
//! visits, their gains by the crawler's own measure, and which pages the searchers of its
//! repository saw. It never receives what an unvisited page shows.

mod gain_estimator;
mod knowledge;
mod repository;
mod scores;
mod snapshots;

pub(crate) use gain_estimator::GainEstimator;
pub use knowledge::{InitialKnowledge, Protocol};
pub use scores::RepositoryScores;
pub use snapshots::Snapshots;

use std::time::Duration;

use crawl::{Again, Event, Plan};
use policy::published::server::Quality;
use policy::{Crawl, Policy};

use super::driver::{InstantServers, LabDriver, offer};
use crate::measure::quality::Answers;
use crate::run::refresh::Lives;
use crate::text::{CountedTexts, Scored};
use repository::Repository;
use scores::ScoreSums;

/// Steps between two updates of the score-rank functions, and of the searches that the policy
/// receives.
const CADENCE: usize = 4;

/// Fetches a second for a budget of zero, because the core needs a budget above 0.
const NOTHING: f64 = 1e-12;

/// A world at even steps, shared by all runs over it.
#[derive(Debug, Clone)]
pub struct SteppedWorld<'a> {
    lives: &'a Lives,
    snapshots: &'a Snapshots,
    /// The texts and their scores; `None` if the world has no texts or no queries.
    texts: Option<(&'a CountedTexts, &'a Scored)>,
    /// Usefulness to searchers, at each step, of a repository that equals the web.
    ideal: Vec<f64>,
}

impl<'a> SteppedWorld<'a> {
    /// Prepares a world for runs.
    pub fn new(
        lives: &'a Lives,
        snapshots: &'a Snapshots,
        texts: Option<(&'a CountedTexts, &'a Scored)>,
    ) -> Self {
        Self {
            lives,
            snapshots,
            texts,
            ideal: texts.map_or_else(Vec::new, |(_, scored)| ideal(snapshots, scored)),
        }
    }

    /// Returns the repository quality at a step: usefulness over that of a repository that
    /// equals the web.
    ///
    /// Returns 1 where even that repository answers nothing.
    fn quality(&self, step: usize, usefulness: f64) -> f64 {
        match self.ideal[step] {
            0.0 => 1.0,
            ideal => usefulness / ideal,
        }
    }

    /// Returns the pages discovered up to a step, in the order of discovery.
    fn known(&self, step: usize) -> impl Iterator<Item = u32> + 'a {
        let born = self.snapshots.born();
        let end = born.partition_point(|(at, _)| *at <= step);
        born[..end].iter().map(|(_, page)| *page)
    }

    /// Refreshes `budget` pages a step, at every step after the initial knowledge, and scores
    /// the repository.
    pub fn refresh(
        &self,
        crawl: Crawl,
        knowledge: &InitialKnowledge,
        budget: usize,
    ) -> RepositoryScores {
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
        let mut views = repository.initial_views();
        let policies = (crawl, Box::new(Quality) as _);
        let connections = InstantServers::one_page(Duration::ZERO);
        let first = knowledge.from + 1;
        let begin = moments[first];
        let mut driver =
            LabDriver::resumed(repository, connections, rules, policies, ledger, begin);
        let mut sums = ScoreSums::default();
        let mut known = self.known(knowledge.from).count();
        for (step, &now) in moments.iter().enumerate().skip(first) {
            driver.world.advance(step);
            if searches && (step - knowledge.from).is_multiple_of(CADENCE) {
                views.extend(driver.world.views(CADENCE as f64));
            }
            let born = self.known(step).skip(known);
            let offers: Vec<_> = born
                .map(|page| offer(self.lives.url(page as usize)))
                .collect();
            known += offers.len();
            driver.deliver(
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
                sums.add(quality, standing.embarrassment);
            }
        }
        driver.world.end(sums)
    }
}

/// Returns the usefulness to searchers, at each step, of a repository that equals the web.
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
