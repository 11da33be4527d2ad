//! The index that one might be tempted to use: what is expected to have changed, by importance.
//!
//! Worth `w·λ·τ`: the first-order form of every worth here. It keeps on visiting pages that change too often to
//! be caught; in the lab only, to be beaten.

use policy::{Curve, Fact, Needs, Page, Rates, Refresh};

/// Worth grows evenly with age, by rate and importance.
pub(super) struct Linear(pub Rates);

/// Worth so much more a second.
struct Line(f64);

impl Curve for Line {
    fn at(&self, age: f64) -> f64 {
        self.0 * age
    }

    fn age_of(&self, worth: f64) -> Option<f64> {
        Some(worth / self.0)
    }
}

impl Refresh for Linear {
    fn needs(&self) -> Needs {
        self.0.needs()
    }

    fn observe(&mut self, fact: &Fact<'_>) {
        self.0.observe(fact);
    }

    fn curve<'a>(&'a self, page: Page<'_>, importance: f64) -> Box<dyn Curve + 'a> {
        Box::new(Line(importance * self.0.rate(page)))
    }
}
