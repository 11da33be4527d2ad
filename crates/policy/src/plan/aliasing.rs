//! Aliasing: changes that visits miss because the page changes again before the next visit.
//!
//! Baldi, Frasconi & Smyth (2003), §6.4.1 and figure 6.6: two consecutive changes look like one, so
//! lifetimes that are counted from visits are too long. With Poisson changes of rate λ and visits
//! every I, a visit sees a change with probability `1 − e^{−λI}` where λI changes are expected.

use super::{Weibull, freshness};

/// Returns the expected share of a page's changes that visits every `interval` do not see:
/// `1 − (1 − e^{−λI})/(λI)`. It equals the share of time in which the copy is outdated.
pub fn missed_of_page(rate: f64, interval: f64) -> f64 {
    1.0 - freshness::of_page(rate, interval)
}

/// Returns the expected share of all changes of a collection that visits every `interval` do not
/// see, with this distribution of mean lifetimes.
///
/// Returns `None` for a shape of at most 1, because the mean change rate is infinite then.
pub fn missed_of_collection(lifetimes: &Weibull, interval: f64) -> Option<f64> {
    if lifetimes.shape() <= 1.0 {
        return None;
    }
    if interval == 0.0 {
        return Some(0.0);
    }
    // E[1/t] = Γ(1 − 1/shape)/scale. By Γ(x) = Γ(x + 1)/x it is a mean of another Weibull
    // distribution: Γ(1 + y) is the mean of shape 1/y.
    let below = 1.0 - lifetimes.shape().recip();
    let changes = Weibull::new(below.recip(), 1.0)?.mean() / below / lifetimes.scale();
    let seen = lifetimes.expectation(|lifetime| -(-interval / lifetime).exp_m1()) / interval;
    Some((1.0 - seen / changes).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chance::TestDraws;

    #[test]
    fn missed_shares_of_a_page_equal_the_formula() {
        for (rate, interval, missed) in [
            (0.0, 5.0, 0.0),
            (1.0, 1.0, 0.367_879_441_171_442_3),
            (0.5, 4.0, 0.567_667_641_618_306_4),
        ] {
            assert!((missed_of_page(rate, interval) - missed).abs() < 1e-12);
        }
    }

    /// Counts changes and seen changes of pages whose lifetimes are drawn.
    #[test]
    fn missed_shares_of_a_collection_equal_a_simulation() {
        let lifetimes = Weibull::new(2.5, 10.0).unwrap();
        let mut draws = TestDraws(9);
        let (mut changes, mut seen) = (0.0, 0.0);
        for _ in 0..20_000 {
            let lifetime = lifetimes.quantile(draws.next());
            let (mut now, mut visit) = (0.0, 0.0);
            while now < 200.0 {
                now -= lifetime * draws.next().ln();
                if now < 200.0 {
                    changes += 1.0;
                    // A visit sees all changes since the one before as one.
                    if now > visit {
                        seen += 1.0;
                        visit = (now / 8.0).ceil() * 8.0;
                    }
                }
            }
        }
        let expected = missed_of_collection(&lifetimes, 8.0).unwrap();
        let found = 1.0 - seen / changes;
        assert!((found - expected).abs() < 0.005, "{found}, not {expected}");
    }

    #[test]
    fn without_a_mean_rate_there_is_no_share() {
        assert_eq!(
            missed_of_collection(&Weibull::new(1.0, 9.0).unwrap(), 1.0),
            None
        );
        let lifetimes = Weibull::new(1.4, 152.2).unwrap();
        assert_eq!(missed_of_collection(&lifetimes, 0.0), Some(0.0));
    }

    proptest! {
        #[test]
        fn longer_intervals_miss_more(shape in 1.2..8.0_f64, interval in 0.01..50.0_f64, more in 1.0..4.0_f64) {
            let lifetimes = Weibull::new(shape, 10.0).unwrap();
            let missed = |interval| missed_of_collection(&lifetimes, interval).unwrap();
            prop_assert!(missed(interval * more) >= missed(interval) - 1e-9);
        }
    }
}
