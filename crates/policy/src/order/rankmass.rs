//! The RankMass ordering: pages that a random walk from the seeds reaches most often come
//! first. It also gives a lower bound on coverage.
//!
//! Cho & Schonfeld, "RankMass crawler: a crawler with high personalized PageRank coverage
//! guarantee" (VLDB 2007). Every seed has the same trust and starts with (1−d)·trust. A fetched
//! page passes d/c of its mass to each of its c links. The mass of the fetched pages is a lower
//! bound of their personalized PageRank in the whole web, because links that are not known yet
//! can only add mass.
//!
//! Trust is 1/#seeds, and all masses are proportional to it. Here each seed starts with (1−d),
//! and the bound is divided by the number of seeds. A new seed therefore changes the trust
//! without moving any page. Mass that leaves the crawl (scope, robots.txt) is never covered, so
//! the coverage of a crawl of one site may stay far below 1.

use super::pagerank::DAMPING;
use crate::estimate::RankFlow;
use crate::{Fact, Moment, Moves, Needs, Page, Policy, Report, Term, Worth};

/// Worth is the mass of a page, in units of one seed's trust: 0.1 for a seed without in-links.
#[derive(Debug, Clone)]
pub struct RankMass {
    flow: RankFlow,
    seeds: u32,
}

impl Default for RankMass {
    fn default() -> Self {
        Self {
            flow: RankFlow::new(DAMPING),
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

    fn begin_replay(&mut self) -> bool {
        self.flow.begin_replay();
        true
    }

    fn end_replay(&mut self) {
        self.flow.end_replay();
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
