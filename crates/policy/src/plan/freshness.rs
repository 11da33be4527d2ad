//! The freshness of copies: the share of time in which they equal their pages.
//!
//! Cho & Garcia-Molina (2000): a copy is fresh until the page changes. Changes are a Poisson
//! process of rate `rate`. Visits come every `interval`.

use super::Weibull;

/// Returns the freshness of one page, averaged over time: `(1 − e^{−λI})/(λI)`.
///
/// It is 1 for a page that never changes or is visited continuously, and 0 for a page that
/// changes and is never visited again.
pub fn of_page(rate: f64, interval: f64) -> f64 {
    if rate == 0.0 || interval == 0.0 {
        return 1.0;
    }
    let changes = rate * interval;
    if changes.is_infinite() {
        return 0.0;
    }
    if changes == 0.0 {
        return 1.0;
    }
    -(-changes).exp_m1() / changes
}

/// Returns the freshness of one page with `frequency` visits per unit of time. Without visits a
/// page is fresh only if it never changes.
pub fn at_frequency(rate: f64, frequency: f64) -> f64 {
    of_page(rate, frequency.recip())
}

/// Returns the mean freshness of a collection with this distribution of mean lifetimes.
pub fn of_collection(lifetimes: &Weibull, interval: f64) -> f64 {
    lifetimes.expectation(|lifetime| of_page(lifetime.recip(), interval))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_freshness_of_a_page_equals_the_formula() {
        for (rate, interval, expected) in [
            (0.0, 5.0, 1.0),
            (0.0, f64::INFINITY, 1.0),
            (5.0, 0.0, 1.0),
            (1.0, 1.0, 0.632_120_558_828_557_7),
            (0.5, 4.0, 0.432_332_358_381_693_65),
            (1e-200, 1e-200, 1.0),
            (1e-9, 1.0, 1.0 - 0.5e-9),
            (1e9, 1e9, 1e-18),
            (3.0, f64::INFINITY, 0.0),
        ] {
            let found = of_page(rate, interval);
            let close = (found - expected).abs() <= 1e-15 * expected.max(1e-300);
            assert!(close, "{rate} {interval}: {found}");
        }
        assert_eq!(at_frequency(2.0, 0.0), 0.0);
        assert_eq!(at_frequency(0.0, 0.0), 1.0);
    }

    proptest! {
        #[test]
        fn a_longer_interval_never_makes_copies_fresher(rate in 1e-9..1e6_f64, interval in 1e-6..1e6_f64, more in 1.01..9.0_f64) {
            prop_assert!(of_page(rate, interval * more) <= of_page(rate, interval));
            prop_assert!((0.0..=1.0).contains(&of_page(rate, interval)));
            // Bounds from the alternating series: 1 − x/2 ≤ (1 − e^{−x})/x ≤ 1/x.
            let changes = rate * interval;
            prop_assert!(of_page(rate, interval) >= 1.0 - changes / 2.0 - 1e-15);
            prop_assert!(of_page(rate, interval) <= changes.recip() * (1.0 + 1e-15));
        }
    }
}
