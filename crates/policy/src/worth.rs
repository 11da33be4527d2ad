//! The numbers that fetches are compared by: worth, price, cost and rank.
//!
//! **Invariant:** all are finite and not negative, so they can be compared and sorted without
//! special cases.

use std::cmp::Ordering;

/// Expected value of a fetch to users, in the unit of the policy. The catalog states the unit or
/// the range of each policy (`scale`).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Worth(f64);

/// Minimum worth of a fetch that the budget pays for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price(f64);

/// Connection time that fetches take, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Cost(f64);

/// Worth per second of connection time. Servers are ranked by it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rank(f64);

impl Worth {
    /// The worth of a page that is not fetched at any price.
    pub const NONE: Self = Self(0.0);
    /// Minimum worth of a page that is fetched. Such a page comes after all better ones.
    pub const LEAST: Self = Self(1e-12);

    /// Creates a worth. Negative values and NaN become 0; infinity becomes `f64::MAX`.
    pub fn new(value: f64) -> Self {
        Self(if value > 0.0 {
            value.min(f64::MAX)
        } else {
            0.0
        })
    }

    /// Returns the number.
    pub fn value(self) -> f64 {
        self.0
    }

    /// Returns whether a fetch pays: its worth is at least the price.
    pub fn pays(self, price: Price) -> bool {
        self.0 >= price.0
    }
}

impl Cost {
    /// Creates a cost. Values below one microsecond, and NaN, become one microsecond, so that
    /// no fetch is free.
    pub fn seconds(seconds: f64) -> Self {
        Self(if seconds > 1e-6 {
            seconds.min(f64::MAX)
        } else {
            1e-6
        })
    }

    /// Returns the cost in seconds.
    pub fn value(self) -> f64 {
        self.0
    }
}

impl Rank {
    /// Creates a rank, in worth per second. Negative values and NaN become 0; infinity becomes
    /// `f64::MAX`.
    pub fn new(value: f64) -> Self {
        Self(Worth::new(value).0)
    }

    /// Returns the number.
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
    /// The price of a crawl without a budget. [`Worth::LEAST`] still reaches it.
    pub const LEAST: Self = Self(1e-12);
    /// The worth of a page after one interval of `uniform` or `adaptive`. At this price these
    /// policies visit every page once per interval.
    pub const ONE: Self = Self(1.0);

    /// Creates a price. Returns `None` unless the value is positive and finite.
    pub fn new(value: f64) -> Option<Self> {
        (value > 0.0 && value.is_finite()).then_some(Self(value))
    }

    /// Returns the number.
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
    fn worths_are_finite_and_prices_are_above_0() {
        for odd in [f64::NAN, f64::NEG_INFINITY, -1.0, -0.0] {
            assert_eq!(Worth::new(odd).value(), 0.0, "{odd}");
        }
        assert_eq!(Worth::new(f64::INFINITY).value(), f64::MAX);
        assert!(Worth::new(2.0) > Worth::new(1.0));
        assert!(Price::new(0.0).is_none() && Price::new(f64::NAN).is_none());
    }
}
