//! The mean age of copies: how long they have been out of date.
//!
//! Cho & Garcia-Molina (2000), "index age": the time since the page first changed after the
//! copy was made, 0 while the copy is fresh. Changes are a Poisson process of rate `rate`.
//! Visits come every `interval`.

use super::Weibull;

/// Below this argument the closed form loses digits, and the series needs few terms.
const SMALL: f64 = 0.5;

/// Returns the age of one page's copy, averaged over time: `(1 − e^{−λI})/(λ²I) − 1/λ + I/2`.
///
/// The age is 0 for a page that never changes or is visited continuously, and infinite for a page
/// that changes and is never visited again. With a growing rate it tends to half the interval.
pub fn of_page(rate: f64, interval: f64) -> f64 {
    if rate == 0.0 || interval == 0.0 {
        return 0.0;
    }
    interval * in_intervals(rate * interval)
}

/// Returns the mean age of a collection with this distribution of mean lifetimes.
pub fn of_collection(lifetimes: &Weibull, interval: f64) -> f64 {
    lifetimes.expectation(|lifetime| of_page(lifetime.recip(), interval))
}

/// Returns the age in units of the interval, for `x` changes per interval:
/// `(1 − e^{−x})/x² − 1/x + 1/2`.
fn in_intervals(x: f64) -> f64 {
    if x >= SMALL {
        return (-(-x).exp_m1() / x - 1.0) / x + 0.5;
    }
    // x/3! − x²/4! + x³/5! − …
    let mut term = x / 6.0;
    let mut sum = 0.0;
    for k in 0..16 {
        sum += term;
        term *= -x / (f64::from(k) + 4.0);
    }
    sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_age_of_a_page_equals_the_formula() {
        for (rate, interval, expected) in [
            (0.0, 5.0, 0.0),
            (5.0, 0.0, 0.0),
            (1.0, 1.0, 0.132_120_558_828_557_7),
            (0.5, 4.0, 0.864_664_716_763_387_3),
            (1e-9, 1.0, 1e-9 / 6.0),
            (1e9, 4.0, 2.0 - 1e-9),
            (1.0, f64::INFINITY, f64::INFINITY),
        ] {
            let found = of_page(rate, interval);
            let close = found == expected || (found - expected).abs() <= 1e-9 * expected;
            assert!(close, "{rate} {interval}: {found}");
        }
        let (below, above) = (in_intervals(SMALL - 1e-12), in_intervals(SMALL));
        assert!((above - below).abs() < 1e-12, "the two forms meet");
    }

    proptest! {
        #[test]
        fn a_longer_interval_makes_copies_older(rate in 1e-9..1e6_f64, interval in 1e-6..1e6_f64, more in 1.01..9.0_f64) {
            let age = of_page(rate, interval);
            prop_assert!(of_page(rate, interval * more) > age);
            prop_assert!(age > 0.0 && age <= interval / 2.0);
            // A copy ages only while it is not fresh.
            let stale = 1.0 - super::super::freshness::of_page(rate, interval);
            prop_assert!(age <= interval * stale + 1e-15 * interval);
        }
    }
}
