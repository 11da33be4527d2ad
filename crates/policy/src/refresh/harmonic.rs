//! Penalizes every change that a copy misses, with decreasing weight.
//!
//! Kolobov, Peres, Lu & Horvitz, "Staying up to date with online content changes using
//! reinforcement learning for scheduling" (NeurIPS 2019: LambdaCrawl): `N` missed changes cost
//! `H_N = 1 + 1/2 + … + 1/N`.

use super::by_rate::FIRST_LIFETIMES;
use crate::Curve;

/// Below this x the closed form of [`missed`] loses precision.
const SMALL: f64 = 0.5;

/// Worth is `w(τ − (1 − e^{−λτ})/λ)`.
///
/// The worth grows without bound, so a page that always changes is visited, too. A page without a
/// copy has the worth of a page of age [`FIRST_LIFETIMES`].
#[derive(Debug, Clone, Copy)]
pub struct Harmonic {
    rate: f64,
    weight: f64,
}

impl Harmonic {
    /// Creates the curve of a page with this change rate, per second.
    pub fn new(rate: f64, importance: f64) -> Self {
        let weight = importance;
        Self { rate, weight }
    }
}

impl Curve for Harmonic {
    fn at(&self, age: f64) -> f64 {
        self.weight / self.rate * missed(self.rate * age)
    }

    fn missing(&self) -> Option<f64> {
        Some(self.at(FIRST_LIFETIMES / self.rate))
    }
}

/// Returns `x − (1 − e^{−x})`.
fn missed(x: f64) -> f64 {
    if x >= SMALL {
        return x + (-x).exp_m1();
    }
    // x²/2! − x³/3! + …
    let mut term = x * x / 2.0;
    let mut sum = 0.0;
    for k in 3..18 {
        sum += term;
        term *= -x / f64::from(k);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_missed_equal_the_formula() {
        for (x, expected) in [
            (0.0, 0.0),
            (1e-6, 4.999_998_333_333_75e-13),
            (1.0, 0.367_879_441_171_442_33),
            (40.0, 39.0),
        ] {
            let found = missed(x);
            assert!((found - expected).abs() <= 1e-14 * expected, "{x}: {found}");
        }
        let (below, above) = (missed(SMALL - 1e-12), missed(SMALL));
        assert!((above - below).abs() < 1e-12, "the two forms meet");
    }
}
