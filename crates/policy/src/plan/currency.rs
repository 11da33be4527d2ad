//! (α, β)-currency: the share α of pages whose copy is at most a grace period β out of date,
//! and the interval of visits that achieves it.
//!
//! Brewington & Cybenko, "How dynamic is the web?" (2000); Baldi, Frasconi & Smyth (2003), (6.20)
//! and (6.21). A copy is β-current if the page did not change between the visit and β before now.
//! At β = 0 this is [freshness](super::freshness).
//!
//! `rate` is λ, `interval` is I and `grace` is β. Both times have the same unit as the lifetimes,
//! and λ is in changes per this unit.

use super::{Weibull, freshness};
use crate::moment::DAY;

/// Returns the share of time in which one page's copy is β-current, (6.20):
/// `β/I + (1 − e^{−λ(I−β)})/(λI)`.
///
/// It is 1 if the page is visited at least every β; (6.20) as printed exceeds 1 there.
pub fn of_page(rate: f64, interval: f64, grace: f64) -> f64 {
    if interval <= grace {
        return 1.0;
    }
    if interval.is_infinite() {
        return freshness::of_page(rate, interval);
    }
    let forgiven = grace / interval;
    forgiven + (1.0 - forgiven) * freshness::of_page(rate, interval - grace)
}

/// Returns the share α of a collection that is β-current, (6.21).
///
/// α is the mean of (6.20) at λ = 1/t over the density w of lifetimes t:
/// `∫ w(t)·[β/I + (1 − e^{−(I−β)/t})·t/I] dt`. The printed (6.21) has `e^{−(I−β/t)}`, a misprint.
pub fn of_collection(lifetimes: &Weibull, interval: f64, grace: f64) -> f64 {
    if interval <= grace {
        return 1.0;
    }
    lifetimes.expectation(|lifetime| of_page(lifetime.recip(), interval, grace))
}

/// Returns the longest interval at which a collection is (α, β)-current.
///
/// The interval is β if α is 1 or more. Returns `None` if no interval is the longest: α is not
/// above 0 or not a number, or every interval that a double can hold reaches it.
pub fn interval_for(lifetimes: &Weibull, alpha: f64, grace: f64) -> Option<f64> {
    if alpha.is_nan() || alpha <= 0.0 {
        return None;
    }
    if alpha >= 1.0 {
        return Some(grace);
    }
    let reaches = |interval| of_collection(lifetimes, interval, grace) >= alpha;
    let mut low = grace;
    let mut high = (2.0 * grace).max(lifetimes.scale());
    while reaches(high) {
        (low, high) = (high, 2.0 * high);
        if high.is_infinite() {
            return None;
        }
    }
    // The bracket is no wider than its upper end, so 60 bisections give more than the 53 bits of
    // a double.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if reaches(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(low)
}

/// Returns the fetches per second that visit each document once in `interval_days`.
pub fn documents_per_second(documents: f64, interval_days: f64) -> f64 {
    documents / (interval_days * DAY)
}

/// Returns the bandwidth in megabits (10⁶) per second of these fetches, with the mean document
/// size in kilobytes (1000 bytes).
pub fn megabits_per_second(documents_per_second: f64, kilobytes: f64) -> f64 {
    documents_per_second * kilobytes * 8.0 / 1000.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn brewington() -> Weibull {
        Weibull::new(1.4, 152.2).unwrap()
    }

    #[test]
    fn bk1_a_week_at_95_percent_takes_a_visit_every_18_and_a_half_days() {
        assert!((of_collection(&brewington(), 18.0, 7.0) - 0.9526).abs() < 5e-5);
        let interval = interval_for(&brewington(), 0.95, 7.0).unwrap();
        assert!((interval - 18.49).abs() < 5e-3, "{interval}");
    }

    #[test]
    fn bk2_exercise_6_6_takes_56_megabits_a_second() {
        let lifetimes = Weibull::new(1.0, 100.0).unwrap();
        let interval = interval_for(&lifetimes, 0.8, 7.0).unwrap();
        assert!((interval - 32.78).abs() < 5e-3, "{interval}");
        let documents = documents_per_second(2e9, interval);
        assert!((documents - 706.0).abs() < 0.5, "{documents}");
        let megabits = megabits_per_second(documents, 10.0);
        assert!((megabits - 56.5).abs() < 0.05, "{megabits}");
    }

    #[test]
    fn currency_is_1_within_the_grace_period_and_alpha_0_has_no_longest_interval() {
        for (rate, interval, grace, expected) in [
            (1.0, 5.0, 7.0, 1.0),
            (1.0, 7.0, 7.0, 1.0),
            (0.0, 90.0, 7.0, 1.0),
            (1.0, f64::INFINITY, 7.0, 0.0),
            (f64::INFINITY, 14.0, 7.0, 0.5),
            // 7/14 + (1 − e^{−7/10})·10/14.
            (0.1, 14.0, 7.0, 0.859_581_925_863_278_9),
        ] {
            let found = of_page(rate, interval, grace);
            assert!(
                (found - expected).abs() < 1e-12,
                "{rate} {interval}: {found}"
            );
        }
        assert_eq!(of_collection(&brewington(), 7.0, 7.0), 1.0);
        assert_eq!(interval_for(&brewington(), 0.0, 7.0), None);
        assert_eq!(interval_for(&brewington(), f64::NAN, 7.0), None);
        assert_eq!(interval_for(&brewington(), 1.0, 7.0), Some(7.0));
        let fresh = interval_for(&brewington(), 0.95, 0.0).unwrap();
        let found = freshness::of_collection(&brewington(), fresh);
        assert!((found - 0.95).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn currency_falls_with_the_interval_and_rises_with_the_grace(
            rate in 1e-6..1e3_f64, interval in 1e-3..1e4_f64, more in 1.01..9.0_f64, grace in 0.0..30.0_f64,
        ) {
            let current = of_page(rate, interval, grace);
            prop_assert!((0.0..=1.0).contains(&current));
            prop_assert!(of_page(rate, interval * more, grace) <= current);
            prop_assert!(of_page(rate, interval, grace + more) >= current);
            prop_assert_eq!(of_page(rate, interval, 0.0), freshness::of_page(rate, interval));
        }

        #[test]
        fn no_longer_interval_reaches_alpha(shape in 0.4..4.0_f64, alpha in 0.05..0.99_f64, grace in 0.0..30.0_f64) {
            let lifetimes = Weibull::new(shape, 152.2).unwrap();
            let interval = interval_for(&lifetimes, alpha, grace).unwrap();
            let found = of_collection(&lifetimes, interval, grace);
            prop_assert!((found - alpha).abs() < 1e-9, "{found} at {interval}");
            prop_assert!(of_collection(&lifetimes, interval * 1.001, grace) < alpha);
        }
    }
}
