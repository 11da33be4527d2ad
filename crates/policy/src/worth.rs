//! The one currency: what a fetch is expected to give, and what the marginal fetch costs.
//!
//! **Invariant:** both are finite and not negative, so they can be compared and sorted without
//! exceptions.

use std::cmp::Ordering;

/// Expected user value of a fetch.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Worth(f64);

/// The worth of the marginal fetch that the budget can still pay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price(f64);

impl Worth {
    /// Not worth a fetch now.
    pub const NONE: Self = Self(0.0);

    /// A worth; what is negative or not a number is no worth, what is infinite is the largest.
    pub fn new(value: f64) -> Self {
        Self(if value > 0.0 {
            value.min(f64::MAX)
        } else {
            0.0
        })
    }

    /// The number.
    pub fn value(self) -> f64 {
        self.0
    }

    /// Whether a fetch at this price pays.
    pub fn pays(self, price: Price) -> bool {
        self.0 >= price.0
    }
}

impl Price {
    /// One refresh that is fully due: the price of a crawl without a budget.
    pub const ONE: Self = Self(1.0);

    /// A price above zero; `None` for what is not a positive finite number.
    pub fn new(value: f64) -> Option<Self> {
        (value > 0.0 && value.is_finite()).then_some(Self(value))
    }

    /// The number.
    pub fn value(self) -> f64 {
        self.0
    }
}

impl Eq for Worth {}

impl PartialOrd for Worth {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Worth {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_worth_is_finite_and_ordered() {
        for odd in [f64::NAN, f64::NEG_INFINITY, -1.0, -0.0] {
            assert_eq!(Worth::new(odd).value(), 0.0, "{odd}");
        }
        assert_eq!(Worth::new(f64::INFINITY).value(), f64::MAX);
        assert!(Worth::new(2.0) > Worth::new(1.0));
        assert!(Price::new(0.0).is_none() && Price::new(f64::NAN).is_none());
    }
}
