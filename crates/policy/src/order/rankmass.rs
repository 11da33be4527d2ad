//! Pages that a walk from the seeds comes to most often first, with a bound on what was covered.
//!
//! Cho & Schonfeld, "RankMass crawler: a crawler with high personalized PageRank coverage guarantee"
//! (VLDB 2007): every seed is trusted alike and starts with (1−d)·trust; a page that is fetched passes
//! d/c of its mass to each of its c links. The mass of the fetched pages is a lower bound of their
//! personalised PageRank in the whole web, since what is not seen yet can only add to it.
//!
//! Trust is 1/#seeds. All masses are proportional to it, so here each seed starts with (1−d), whenever
//! it comes, and the bound is divided by the seeds there are: a new seed re-shares the trust without
//! moving any page. Mass that leaves the crawl (scope, robots) is never covered: a crawl confined to one
//! site may not reach .95.

use super::pagerank::DAMPING;
use crate::estimate::Flow;
use crate::{Fact, Moment, Moves, Needs, Page, Policy, Report, Term, Worth};

/// Worth is mass, in units of one seed's trust: .1 for a seed that nobody links to.
#[derive(Debug, Clone)]
pub struct RankMass {
    flow: Flow,
    seeds: u32,
}

impl Default for RankMass {
    fn default() -> Self {
        Self {
            flow: Flow::new(DAMPING),
            seeds: 0,
        }
    }
}

impl RankMass {
    fn share(&self, mass: f64) -> f64 {
        mass / f64::from(self.seeds.max(1))
    }
}

impl Policy for RankMass {
    fn needs(&self) -> Needs {
        Needs::LINKS
    }

    fn observe(&mut self, fact: &Fact<'_>, moves: &mut Moves) {
        match fact {
            Fact::Discovered(discovered) => {
                self.seeds += u32::from(discovered.seed);
                let own = if discovered.seed { 1.0 - DAMPING } else { 0.0 };
                self.flow.add(discovered.page, own);
            }
            Fact::Read(read) => {
                for page in self.flow.read(read) {
                    moves.push(page, self.flow.worth(page));
                }
            }
            Fact::Visited(_) | Fact::Shown(_) => {}
        }
    }

    fn worth(&self, page: Page<'_>, _now: Moment) -> Worth {
        self.flow.worth(page.number)
    }

    fn terms(&self, page: Page<'_>) -> Vec<Term> {
        let mass = self.flow.estimate(page.number);
        vec![Term::new("rankmass", self.share(mass))]
    }

    fn report(&self) -> Report {
        Report {
            coverage: Some(self.share(self.flow.covered()).min(1.0)),
            ..Report::default()
        }
    }
}
