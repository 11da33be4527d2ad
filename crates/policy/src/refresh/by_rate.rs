//! Policies that know how often a page changes and how important it is, and nothing else.

use super::{NEW_FIRST, Refresh};
use crate::curve::{self, Curve};
use crate::moment::DAY;
use crate::{Fact, Needs, Number, Page, Rates, Term, Worth};

/// A page that was never fetched counts as a copy of this many mean lifetimes, of which 95 % are wrong. An infinitely
/// old one is worth infinitely much: no refresh would ever come before a new page, however unimportant.
pub const FIRST_LIFETIMES: f64 = 3.0;

/// Makes the curve of a page of its change rate, in changes a second, and its importance.
pub type Shape = Box<dyn Fn(f64, f64) -> Box<dyn Curve> + Send>;

/// A policy by change rate and importance.
pub struct ByRate {
    rates: Rates,
    shape: Shape,
}

impl ByRate {
    /// The policy by which visits are worth what `shape` says, with rates as these are estimated.
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

/// What is said of every page whose rate is known.
pub fn terms(rate: f64, page: Page<'_>, importance: f64) -> Vec<Term> {
    let gap = curve::days_between_visits(page);
    let mut terms = vec![
        Term::new("importance", importance),
        Term::new("changes a day", rate * DAY),
    ];
    terms.extend(gap.map(|days| Term::new("days between visits", days)));
    terms
}
