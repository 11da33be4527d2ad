//! Pages as often as they change.
//!
//! Cho & Garcia-Molina, "Effective page refresh policies for web crawlers" (TODS 2003): what one is tempted to do,
//! and worse than the same for all (.3167 against .3651 in their example).

use crate::Curve;

/// Worth is how many changes are expected since the last visit, `λτ`, whatever the page's importance: at one
/// price, visits are in proportion to changes.
#[derive(Debug, Clone, Copy)]
pub struct Proportional {
    rate: f64,
}

impl Proportional {
    /// The curve of a page that changes at this rate.
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
