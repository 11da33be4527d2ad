//! Pages near the seeds first.
//!
//! Cho, Garcia-Molina & Page, "Efficient crawling through URL ordering" (1998): the baseline that
//! every other ordering is measured against. Ties go to the page that was heard of first.

use crate::{Moment, Page, Policy, Term, Worth};

/// Worth falls with the distance from the seeds.
#[derive(Debug, Clone, Copy, Default)]
pub struct BreadthFirst;

impl Policy for BreadthFirst {
    /// 1/(1 + depth): a seed is worth one.
    fn worth(&self, page: Page<'_>, _now: Moment) -> Worth {
        Worth::new(1.0 / (1.0 + f64::from(page.history.depth)))
    }

    fn terms(&self, page: Page<'_>) -> Vec<Term> {
        vec![Term::new("depth", f64::from(page.history.depth))]
    }
}
