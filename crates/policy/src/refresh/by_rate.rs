//! Refresh policies that use only the change rate and the importance of a page.

use super::{NEW_FIRST, Refresh};
use crate::curve::{self, Curve};
use crate::moment::DAY;
use crate::{Fact, Needs, Number, Page, Rates, Term, Worth};

/// Age that a page without a copy is given, in mean lifetimes.
///
/// After three lifetimes 95 % of copies are outdated. Some curves grow without bound, so an
/// infinite age would have infinite worth: no refresh would come before any new page.
pub const FIRST_LIFETIMES: f64 = 3.0;

/// Creates the curve of a page from its change rate, per second, and its importance.
pub type Shape = Box<dyn Fn(f64, f64) -> Box<dyn Curve> + Send>;

/// A policy by change rate and importance.
pub struct ByRate {
    rates: Rates,
    shape: Shape,
}

impl ByRate {
    /// Creates a policy with the curves of `shape` and these estimated rates.
    pub fn new<C: Curve + 'static>(
        rates: Rates,
        shape: impl Fn(f64, f64) -> C + Send + 'static,
    ) -> Self {
        let shape: Shape = Box::new(move |rate, importance| Box::new(shape(rate, importance)));
        Self { rates, shape }
    }
}

impl Refresh for ByRate {
    fn needs(&self) -> Needs {
        self.rates.needs()
    }

    fn observe(&mut self, fact: &Fact<'_>) {
        self.rates.observe(fact);
    }

    fn curve<'a>(&'a self, page: Page<'_>, importance: f64) -> Box<dyn Curve + 'a> {
        (self.shape)(self.rates.rate(page), importance)
    }

    fn first(&self, page: Number, importance: f64) -> Worth {
        let missing = (self.shape)(self.rates.prior(page), importance).missing();
        Worth::new(missing.unwrap_or(importance * NEW_FIRST))
    }

    fn terms(&self, page: Page<'_>, importance: f64) -> Vec<Term> {
        terms(self.rates.rate(page), page, importance)
    }
}

/// Returns the terms that all policies with change rates report. `rate` is in changes per second.
pub fn terms(rate: f64, page: Page<'_>, importance: f64) -> Vec<Term> {
    let gap = curve::days_between_visits(page);
    let mut terms = vec![
        Term::new("importance", importance),
        Term::new("changes a day", rate * DAY),
    ];
    terms.extend(gap.map(|days| Term::new("days between visits", days)));
    terms
}
