//! Breadth-first order with a limit on depth.
//!
//! Baldi, Frasconi & Smyth, "Modeling the Internet and the Web" (2003), equation 6.1: s_depth
//! is 1 up to a depth and 0 beyond. The printed condition is |root → u| < δ. Here `N` is the
//! largest depth that is fetched, so δ = N + 1.

use super::BreadthFirst;
use crate::{Moment, Page, Policy, Term, Worth};

/// Breadth-first order up to a depth.
#[derive(Debug, Clone, Copy)]
pub struct DepthLimited {
    deepest: u16,
}

impl DepthLimited {
    /// Creates an ordering for pages up to `deepest` links from a seed. 0: the seeds alone.
    pub fn new(deepest: u16) -> Self {
        Self { deepest }
    }
}

impl Policy for DepthLimited {
    fn worth(&self, page: Page<'_>, now: Moment) -> Worth {
        if page.history.depth > self.deepest {
            return Worth::NONE;
        }
        BreadthFirst.worth(page, now)
    }

    fn terms(&self, page: Page<'_>) -> Vec<Term> {
        let mut terms = BreadthFirst.terms(page);
        terms.push(Term::new("deepest", f64::from(self.deepest)));
        terms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{History, Number};

    #[test]
    fn pages_beyond_the_largest_depth_have_no_worth() {
        for (depth, worth) in [(0, 1.0), (2, 1.0 / 3.0), (3, 0.0), (u16::MAX, 0.0)] {
            let history = History::discovered(Moment::START, depth);
            let page = Page {
                number: Number(0),
                history: &history,
            };
            assert_eq!(
                DepthLimited::new(2).worth(page, Moment::START).value(),
                worth,
                "{depth}"
            );
        }
    }
}
