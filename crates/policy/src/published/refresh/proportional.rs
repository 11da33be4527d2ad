//! Visits pages in proportion to their change rates.
//!
//! Cho & Garcia-Molina, "Effective page refresh policies for web crawlers" (TODS 2003). It looks
//! intuitive but is worse than the uniform policy (freshness 0.3167 against 0.3651 in their
//! example).

use crate::Curve;

/// Worth is the expected number of changes since the last visit, `λτ`, regardless of importance.
///
/// At one price, visits are then proportional to changes.
#[derive(Debug, Clone, Copy)]
pub struct Proportional {
    rate: f64,
}

impl Proportional {
    /// Creates the curve of a page with this change rate, per second.
    pub fn new(rate: f64, _importance: f64) -> Self {
        Self { rate }
    }
}

impl Curve for Proportional {
    fn at(&self, age: f64) -> f64 {
        self.rate * age
    }

    fn age_of(&self, worth: f64) -> Option<f64> {
        Some(worth / self.rate)
    }
}
