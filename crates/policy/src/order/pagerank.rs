//! The PageRank ordering: pages that important pages link to come first.
//!
//! Cho, Garcia-Molina & Page, "Efficient crawling through URL ordering" (1998), Algorithm 5.1
//! with IR′(p) = (1−d) + d·Σ IR′(t)/c(t) and damping d = 0.9. The sum is over the pages t that
//! link to p, and c(t) is the number of links of t. IR′ is the PageRank of the graph known so
//! far. Pages that were not read have no links yet, and links that leave the crawl carry their
//! share away. The paper solves the equation again from time to time. Here every read updates
//! the solution (`estimate/flow.rs`, which states the error).

use crate::estimate::RankFlow;
use crate::{Fact, Moment, Moves, Needs, Page, Policy, Term, Worth};

/// The damping of the paper.
pub(super) const DAMPING: f64 = 0.9;

/// Worth is PageRank: 0.1 for a page without known in-links. The mean is at most 1.
#[derive(Debug, Clone)]
pub struct PageRank {
    flow: RankFlow,
}

impl Default for PageRank {
    fn default() -> Self {
        Self {
            flow: RankFlow::new(DAMPING),
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
        vec![Term::new("pagerank", self.flow.estimate(page.number))]
    }
}
