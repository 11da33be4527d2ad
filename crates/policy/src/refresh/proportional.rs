//! Pages as often as they change.
//!
//! Cho & Garcia-Molina, "Effective page refresh policies for web crawlers" (TODS 2003): what one is tempted to do,
//! and worse than the same for all (.3167 against .3651 in their example).

use super::by_rate::Rule;
use super::curve::Curve;

/// Worth is how many changes are expected since the last visit, `λτ`, whatever the page's importance: at one
/// price, visits are in proportion to changes.
#[derive(Debug, Clone, Copy)]
pub struct Proportional;

struct Changes {
    rate: f64,
}

impl Rule for Proportional {
    fn curve(&self, rate: f64, _importance: f64) -> impl Curve + 'static {
        Changes { rate }
    }
}

impl Curve for Changes {
    fn at(&self, age: f64) -> f64 {
        self.rate * age
    }

    fn age_of(&self, worth: f64) -> Option<f64> {
        Some(worth / self.rate)
    }
}
