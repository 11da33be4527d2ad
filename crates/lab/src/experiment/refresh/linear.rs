//! A linear index policy, as a baseline of the laboratory only: worth `w·λ·τ`.
//!
//! This worth is the expected number of changes in the time τ since the visit, weighted by
//! importance. The policy wastes visits on pages that change too often to stay fresh.

use policy::{Curve, Fact, Needs, Page, Rates, Refresh};

/// A policy whose worth is importance times change rate times age.
pub(super) struct LinearIndex(pub Rates);

/// Linear worth, with the increase per second.
struct LinearCurve(f64);

impl Curve for LinearCurve {
    fn at(&self, age: f64) -> f64 {
        self.0 * age
    }

    fn age_of(&self, worth: f64) -> Option<f64> {
        Some(worth / self.0)
    }
}

impl Refresh for LinearIndex {
    fn needs(&self) -> Needs {
        self.0.needs()
    }

    fn observe(&mut self, fact: &Fact<'_>) {
        self.0.observe(fact);
    }

    fn curve<'a>(&'a self, page: Page<'_>, importance: f64) -> Box<dyn Curve + 'a> {
        Box::new(LinearCurve(importance * self.0.rate(page)))
    }
}
