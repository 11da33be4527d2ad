//! Runs a refresh policy in steps, with a fixed number of refreshes per step, and scores the
//! repository for its searchers.
//!
//! The crawl core and its frontier choose every page, with a clock that jumps ([`LabDriver`]).
//! The protocol is that of Pandey & Olston, "User-centric web crawling" (WWW 2005), §6.3. A step
//! is a period in which the web does not change:
//!
//! - At the start the repository equals the web. The ledger that the core starts with has the
//!   first copies, and what earlier visits learned ([`InitialKnowledge`]).
//! - The web moves to the next snapshot when a step begins. All visits of a step happen at its
//!   beginning. Then the judge compares the repository with the same snapshot.
//! - A step refreshes exactly the budget of pages, those with the most worth, each at most once
//!   ([`OnceAStep`]). Pages without worth come last, so that every policy spends the whole
//!   budget. A budget above the number of pages known before the step refreshes all of these.
//! - A page is discovered at the step at which it is born. Its first copy is made at once and
//!   costs nothing. A page found gone leaves the repository at once.
//! - Every four steps, a policy that learns from searches receives which pages the searchers of
//!   the repository saw. With [`Protocol::Whole`] it receives this only at the start.
//!
//! **Invariant:** the policy receives what a crawler sees: discoveries, the outcomes of its own
//! visits, their gains by the crawler's own measure, and which pages the searchers of its
//! repository saw. It never receives what an unvisited page shows.

mod gain_estimator;
mod knowledge;
mod once_a_step;
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
use once_a_step::OnceAStep;
use repository::Repository;
use scores::ScoreSums;

/// Steps between two updates of the score-rank functions, and of the searches that the policy
/// receives.
const CADENCE: usize = 4;

/// A world at evenly spaced steps, shared by all runs over it.
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

    /// Refreshes `budget` pages at each step after the step `knowledge.from`, and scores the
    /// repository.
    pub fn refresh(
        &self,
        crawl: Crawl,
        knowledge: &InitialKnowledge,
        budget: usize,
    ) -> RepositoryScores {
        let moments = self.snapshots.moments();
        let length = moments[1].since(moments[0]);
        let rules = Plan {
            again: Again::AtPrice(OnceAStep::price()),
            pages_per_visit: 1,
            without_rules: true,
            ..Plan::default()
        };
        let once = |policy| Box::new(OnceAStep::new(policy, length)) as _;
        let crawl = Crawl {
            refresh: crawl.refresh.map(once),
            ..crawl
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
            LabDriver::resumed(repository, connections, rules, policies, ledger, begin)
                .one_at_a_time();
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
            let fetches = budget + offers.len();
            let views = std::mem::take(&mut views);
            driver.deliver(now, [Event::Searched(views), Event::Offered(offers)]);
            driver.revalue();
            (0..fetches).for_each(|_| driver.fetch_one());
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
