//! The one currency: what a fetch is expected to give, what it costs, and what the marginal fetch must
//! give.
//!
//! **Invariant:** all are finite and not negative, so they can be compared and sorted without
//! exceptions.

use std::cmp::Ordering;

/// Expected user value of a fetch.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Worth(f64);

/// The worth of the marginal fetch that the budget can still pay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price(f64);

/// Seconds of connection time that fetches take.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Cost(f64);

/// Worth per second of connection time: what servers are chosen by.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rank(f64);

impl Worth {
    /// Not worth a fetch, at any price.
    pub const NONE: Self = Self(0.0);
    /// Worth a fetch when there is nothing better to do.
    pub const LEAST: Self = Self(1e-12);

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

impl Cost {
    /// So many seconds; less than a microsecond, and what is no number, is a microsecond: nothing is
    /// fetched for nothing.
    pub fn seconds(seconds: f64) -> Self {
        Self(if seconds > 1e-6 {
            seconds.min(f64::MAX)
        } else {
            1e-6
        })
    }

    /// The number of seconds.
    pub fn value(self) -> f64 {
        self.0
    }
}

impl Rank {
    /// What is gained a second; what is negative or not a number is nothing.
    pub fn new(value: f64) -> Self {
        Self(Worth::new(value).0)
    }

    /// The number.
    pub fn value(self) -> f64 {
        self.0
    }
}

impl std::ops::Div<Cost> for Worth {
    type Output = Rank;

    fn div(self, cost: Cost) -> Rank {
        Rank::new(self.0 / cost.0)
    }
}

impl Price {
    /// Everything that is worth anything.
    pub const LEAST: Self = Self(1e-12);
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

impl Eq for Rank {}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
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
