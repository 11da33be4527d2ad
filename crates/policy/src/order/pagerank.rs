//! Pages that important pages link to first.
//!
//! Cho, Garcia-Molina & Page, "Efficient crawling through URL ordering" (1998), Algorithm 5.1 with
//! IR′(p) = (1−d) + d·Σ IR′(t)/c(t), d = .9 (the damping; in the two-level paper d is the teleport
//! share 1−d). It is the PageRank of what was seen so far: pages not read have no links yet, links
//! that leave the crawl take their share with them. The paper solves it anew now and then; here it is
//! kept up to date with every page (`estimate/flow.rs`, which states the error).

use crate::estimate::Flow;
use crate::{Fact, Moment, Moves, Needs, Page, Policy, Term, Worth};

/// The paper's damping.
pub(super) const DAMPING: f64 = 0.9;

/// Worth is PageRank, .1 for a page that nobody links to; the mean is at most 1.
#[derive(Debug, Clone)]
pub struct PageRank {
    flow: Flow,
}

impl Default for PageRank {
    fn default() -> Self {
        Self {
            flow: Flow::new(DAMPING),
        }
    }
}

impl Policy for PageRank {
    fn needs(&self) -> Needs {
        Needs::LINKS
    }

    fn observe(&mut self, fact: &Fact<'_>, moves: &mut Moves) {
        match fact {
            Fact::Discovered(discovered) => self.flow.add(discovered.page, 1.0 - DAMPING),
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
        vec![Term::new("pagerank", self.flow.estimate(page.number))]
    }
}
