//! Pages near the seeds first.
//!
//! Cho, Garcia-Molina & Page, "Efficient crawling through URL ordering" (1998): the baseline that
//! every other ordering is measured against. Ties go to the page that was heard of first.

use crate::{History, Moment, Policy, Price, Worth};

/// Worth falls with the distance from the seeds.
#[derive(Debug, Clone, Copy, Default)]
pub struct BreadthFirst;

impl Policy for BreadthFirst {
    /// 1 + 1/(1 + depth): a page never seen is worth at least a refresh that is fully due.
    fn worth(&self, page: &History, _now: Moment) -> Worth {
        Worth::new(1.0 + 1.0 / (1.0 + f64::from(page.depth)))
    }

    fn due(&self, page: &History, price: Price) -> Option<Moment> {
        self.worth(page, page.discovered)
            .pays(price)
            .then_some(page.discovered)
    }
}
