//! The distribution of page ages in a growing web.
//!
//! Baldi, Frasconi & Smyth (2003), (6.15) and (6.16), after Brewington & Cybenko (2000). The web
//! has `P₀·e^{ξτ}` pages at time τ. Pages are created and never edited, so the age of a page is
//! the time since its creation.

/// Returns the share of pages younger than `t` in a web that has grown for `lifespan` (τ) at
/// `rate` (ξ), (6.15): `(e^{ξτ} − e^{ξ(τ−t)})/(e^{ξτ} − 1)`.
///
/// Numerator and denominator are multiplied by `e^{−ξτ}`, so that nothing overflows. Without
/// growth the share is `t/τ`.
pub fn age_distribution(t: f64, lifespan: f64, rate: f64) -> f64 {
    if t <= 0.0 {
        return 0.0;
    }
    if t >= lifespan {
        return 1.0;
    }
    if rate == 0.0 {
        return t / lifespan;
    }
    (-rate * t).exp_m1() / (-rate * lifespan).exp_m1()
}

/// Returns the density of that distribution, (6.16): `ξe^{ξ(τ−t)}/(e^{ξτ} − 1)` from 0 to τ,
/// and 0 elsewhere.
pub fn age_density(t: f64, lifespan: f64, rate: f64) -> f64 {
    if t < 0.0 || t >= lifespan {
        return 0.0;
    }
    if rate == 0.0 {
        return lifespan.recip();
    }
    -rate * (-rate * t).exp() / (-rate * lifespan).exp_m1()
}

/// Returns the time in which a web of this growth rate doubles: `ln 2/ξ`. Infinite without
/// growth.
pub fn doubling_time(rate: f64) -> f64 {
    std::f64::consts::LN_2 / rate
}

/// Returns the growth rate ξ of a quantity that grew from `before` to `after` in `time`.
pub fn rate_between(before: f64, after: f64, time: f64) -> f64 {
    (after / before).ln() / time
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bk4_the_web_doubled_in_394_days() {
        assert!((doubling_time(0.00176) - 393.83).abs() < 0.01);
        // Baldi, Frasconi & Smyth print .022 and 315 days for 320 to 800 million in 426 days.
        let rate = rate_between(320e6, 800e6, 426.0);
        assert!((rate - 0.002_151).abs() < 1e-6, "{rate}");
        assert!((doubling_time(rate) - 322.25).abs() < 0.01);
        assert_eq!(doubling_time(0.0), f64::INFINITY);
    }

    #[test]
    fn the_distribution_of_ages_equals_the_formula() {
        for (t, lifespan, rate, expected) in [
            (-1.0, 100.0, 0.01, 0.0),
            (100.0, 100.0, 0.01, 1.0),
            (50.0, 100.0, 0.0, 0.5),
            // (e − e^.5)/(e − 1).
            (50.0, 100.0, 0.01, 0.622_459_331_201_854_6),
            (50.0, 1e9, 1e3, 1.0),
        ] {
            let found = age_distribution(t, lifespan, rate);
            assert!((found - expected).abs() < 1e-12, "{t} {rate}: {found}");
        }
        assert_eq!(age_density(100.0, 100.0, 0.01), 0.0);
        assert_eq!(age_density(10.0, 100.0, 0.0), 0.01);
    }

    proptest! {
        #[test]
        fn the_density_is_the_slope_of_the_distribution(rate in -0.1..0.1_f64, at in 0.01..0.99_f64) {
            let (t, step) = (1_000.0 * at, 1e-3);
            let slope = (age_distribution(t + step, 1_000.0, rate) - age_distribution(t - step, 1_000.0, rate)) / (2.0 * step);
            prop_assert!((slope - age_density(t, 1_000.0, rate)).abs() < 1e-8);
        }
    }
}
