//! Breadth-first order: pages near the seeds come first.
//!
//! Cho, Garcia-Molina & Page, "Efficient crawling through URL ordering" (1998), use it as the
//! baseline for other orderings. Ties go to the page that was discovered first.

use crate::{Moment, Page, Policy, Term, Worth};

/// Worth falls with the distance from the seeds.
#[derive(Debug, Clone, Copy, Default)]
pub struct BreadthFirst;

impl Policy for BreadthFirst {
    /// Returns 1/(1 + depth), which is 1 for a seed.
    fn worth(&self, page: Page<'_>, _now: Moment) -> Worth {
        Worth::new(1.0 / (1.0 + f64::from(page.history.depth)))
    }

    fn terms(&self, page: Page<'_>) -> Vec<Term> {
        vec![Term::new("depth", f64::from(page.history.depth))]
    }
}
