//! Refreshes pages to minimize the age of copies.
//!
//! Cho & Garcia-Molina (2000), "index age": the time since the page first changed after the copy
//! was made.

use crate::Curve;
use crate::plan::gain::gain;
use crate::refresh::by_rate::FIRST_LIFETIMES;

/// Below this value the closed form loses precision.
const SMALL: f64 = 0.5;

/// A curve with the worth `w(τ²/2 − g(λτ)/λ²)`, in importance times seconds squared.
///
/// It grows without bound, so no page is given up.
#[derive(Debug, Clone, Copy)]
pub struct Age {
    rate: f64,
    weight: f64,
}

impl Age {
    /// Creates the curve of a page with this change rate, per second.
    pub fn new(rate: f64, importance: f64) -> Self {
        let weight = importance;
        Self { rate, weight }
    }
}

impl Curve for Age {
    fn at(&self, age: f64) -> f64 {
        self.weight / (self.rate * self.rate) * lateness(self.rate * age)
    }

    fn missing(&self) -> Option<f64> {
        Some(self.at(FIRST_LIFETIMES / self.rate))
    }
}

/// Returns `x²/2 − g(x)`.
fn lateness(x: f64) -> f64 {
    if x >= SMALL {
        return x * x / 2.0 - gain(x);
    }
    // x³/(1!·3) − x⁴/(2!·4) + …
    let mut power = x * x * x;
    let mut sum = 0.0;
    for k in 1..16 {
        let k = f64::from(k);
        sum += power / (k + 2.0);
        power *= -x / (k + 1.0);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_lateness_equal_the_formula() {
        for (x, expected) in [
            (0.0, 0.0),
            (1e-6, 3.333_332_083_333_666_7e-19),
            (1.0, 0.5 - 0.264_241_117_657_115_4),
            (10.0, 49.000_499_399_227_39),
        ] {
            let found = lateness(x);
            assert!((found - expected).abs() <= 1e-14 * expected, "{x}: {found}");
        }
        let (below, above) = (lateness(SMALL - 1e-12), lateness(SMALL));
        assert!((above - below).abs() < 1e-12, "the two forms meet");
    }
}
