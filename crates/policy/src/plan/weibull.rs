//! The Weibull distribution of the mean lifetimes of pages.
//!
//! Brewington & Cybenko (2000); Baldi, Frasconi & Smyth (2003), (6.18): shape σ = 1.4 and scale
//! δ = 152.2 days for the web of 1999.
//!
//! **Invariant:** shape and scale are positive and finite.

use serde::{Deserialize, Serialize};

/// A Weibull distribution. Its scale and all times have the caller's unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parameters")]
pub struct Weibull {
    shape: f64,
    scale: f64,
}

/// The serialized form: two numbers that are not validated yet.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    shape: f64,
    scale: f64,
}

impl TryFrom<Parameters> for Weibull {
    type Error = &'static str;

    fn try_from(parameters: Parameters) -> Result<Self, Self::Error> {
        Self::new(parameters.shape, parameters.scale)
            .ok_or("shape and scale must be positive and finite")
    }
}

/// Lanczos' coefficients for g = 7 and nine terms (Press et al., "Numerical recipes", after
/// Godfrey), accurate to 15 digits.
const LANCZOS: [f64; 9] = [
    0.999_999_999_999_809_9,
    676.520_368_121_885_1,
    -1_259.139_216_722_402_8,
    771.323_428_777_653_1,
    -176.615_029_162_140_6,
    12.507_343_278_686_905,
    -0.138_571_095_265_720_12,
    9.984_369_578_019_572e-6,
    1.505_632_735_149_311_6e-7,
];

impl Weibull {
    /// Creates a distribution. Returns `None` unless both parameters are positive and finite.
    pub fn new(shape: f64, scale: f64) -> Option<Self> {
        let good = |number: f64| number > 0.0 && number.is_finite();
        (good(shape) && good(scale)).then_some(Self { shape, scale })
    }

    /// Returns σ. Below 1 most lifetimes are short and a few very long; above 1 they cluster
    /// around the mode.
    pub fn shape(&self) -> f64 {
        self.shape
    }

    /// Returns δ: 63 % of all lifetimes are shorter.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Returns the density at `t`, (6.18), per unit of time. It is 0 below 0, and infinite at 0 if
    /// the shape is below 1.
    pub fn density(&self, t: f64) -> f64 {
        if t < 0.0 {
            return 0.0;
        }
        let x = t / self.scale;
        if x.is_infinite() {
            return 0.0;
        }
        self.shape / self.scale * x.powf(self.shape - 1.0) * (-x.powf(self.shape)).exp()
    }

    /// Returns the share of lifetimes shorter than `t`.
    pub fn distribution(&self, t: f64) -> f64 {
        -(-(t.max(0.0) / self.scale).powf(self.shape)).exp_m1()
    }

    /// Returns the lifetime below which a share `p` of all lifetimes lies: 0 for `p` = 0,
    /// infinite for 1.
    pub fn quantile(&self, p: f64) -> f64 {
        self.scale * (-(-p.clamp(0.0, 1.0)).ln_1p()).powf(self.shape.recip())
    }

    /// Returns the mean, `δ·Γ(1 + 1/σ)`.
    pub fn mean(&self) -> f64 {
        self.scale * gamma(1.0 + self.shape.recip())
    }

    /// Returns the most likely lifetime, `δ·(1 − 1/σ)^{1/σ}`; 0 if the shape is at most 1.
    pub fn mode(&self) -> f64 {
        self.scale * (1.0 - self.shape.recip()).max(0.0).powf(self.shape.recip())
    }

    /// Returns the median, `δ·(ln 2)^{1/σ}`.
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// Returns the expectation of `f(t)`, for a bounded `f`.
    ///
    /// With `t = δu^{1/σ}` it is `∫ e^{−u} f du`. With `u = exp(x − e^{−x})` (the double
    /// exponential formula of Takahasi & Mori, 1974) the trapezoid rule converges
    /// exponentially, even with the corner that `u^{1/σ}` has at 0. The step is halved until the
    /// result changes by at most a share of 1e-13, and at most six times.
    pub fn expectation(&self, f: impl Fn(f64) -> f64) -> f64 {
        let term = |x: f64| {
            let u = (x - (-x).exp()).exp();
            let weight = u * (1.0 + (-x).exp()) * (-u).exp();
            if weight == 0.0 {
                return 0.0;
            }
            weight * f(self.scale * u.powf(self.shape.recip()))
        };
        // Outside this range the weight is below 1e-20.
        const ENDS: (f64, f64) = (-4.0, 4.0);
        let mut steps = 128_u32;
        let mut step = (ENDS.1 - ENDS.0) / f64::from(steps);
        let inner = (0..=steps).map(|n| term(ENDS.0 + step * f64::from(n)));
        let mut sum: f64 = inner.sum();
        for _ in 0..6 {
            let between = (0..steps).map(|n| term(ENDS.0 + step * (f64::from(n) + 0.5)));
            let refined = sum + between.sum::<f64>();
            let (before, after) = (sum * step, refined * step / 2.0);
            (sum, steps, step) = (refined, steps * 2, step / 2.0);
            if (after - before).abs() <= 1e-13 * after.abs() {
                break;
            }
        }
        sum * step
    }
}

/// Returns Γ(x) for x ≥ 1, by Lanczos (1964); infinite where it exceeds the range of a double.
fn gamma(x: f64) -> f64 {
    let z = x - 1.0;
    let t = z + 7.5;
    let terms = (1..).zip(&LANCZOS[1..]);
    let series: f64 = LANCZOS[0]
        + terms
            .map(|(n, coefficient): (u32, _)| coefficient / (z + f64::from(n)))
            .sum::<f64>();
    // The power is split in two halves, so that it does not overflow before the result.
    let power = t.powf((z + 0.5) / 2.0);
    (2.0 * std::f64::consts::PI).sqrt() * power * (-t).exp() * power * series
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bk3_mean_mode_and_median_equal_the_published_ones() {
        let web = Weibull::new(1.4, 152.2).unwrap();
        for (found, expected) in [
            (web.mean(), 138.7),
            (web.mode(), 62.2),
            (web.median(), 117.1),
        ] {
            assert!((found - expected).abs() < 0.05, "{found}, not {expected}");
        }
        // At shape 1 it is the exponential distribution.
        let plain = Weibull::new(1.0, 100.0).unwrap();
        assert!((plain.mean() - 100.0).abs() < 1e-11);
        assert_eq!(plain.mode(), 0.0);
        assert!((plain.median() - 69.314_718_055_994_53).abs() < 1e-12);
        assert_eq!(Weibull::new(0.5, 1.0).unwrap().mode(), 0.0);
    }

    #[test]
    fn gamma_equals_known_values() {
        for (x, expected) in [
            (1.0, 1.0),
            (1.5, 0.886_226_925_452_758),
            (2.0, 1.0),
            (5.0, 24.0),
            (10.5, 1_133_278.388_948_785),
            (171.0, 7.257_415_615_307_994e306),
        ] {
            assert!(
                (gamma(x) / expected - 1.0).abs() < 1e-12,
                "{x}: {}",
                gamma(x)
            );
        }
        assert_eq!(gamma(400.0), f64::INFINITY);
    }

    #[test]
    fn only_positive_parameters_are_a_distribution() {
        for (shape, scale) in [
            (0.0, 1.0),
            (-1.0, 1.0),
            (1.0, f64::INFINITY),
            (f64::NAN, 1.0),
        ] {
            assert_eq!(Weibull::new(shape, scale), None);
        }
        let web = Weibull::new(1.4, 152.2).unwrap();
        assert_eq!((web.density(-1.0), web.distribution(-1.0)), (0.0, 0.0));
        assert_eq!((web.quantile(0.0), web.quantile(1.0)), (0.0, f64::INFINITY));
        assert_eq!(web.density(f64::INFINITY), 0.0);
        // (1.4/152.2)·e^{−1}, and 1 − 1/e.
        assert!((web.density(152.2) - 0.003_383_910_759_8).abs() < 1e-12);
        assert!((web.distribution(152.2) - 0.632_120_558_8).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn quantiles_invert_the_distribution(shape in 0.2..8.0_f64, p in 1e-9..0.999_f64) {
            let some = Weibull::new(shape, 3.0).unwrap();
            prop_assert!((some.distribution(some.quantile(p)) - p).abs() < 1e-12);
        }

        #[test]
        fn the_density_is_the_slope_of_the_distribution(shape in 0.2..8.0_f64, p in 0.01..0.99_f64) {
            let some = Weibull::new(shape, 3.0).unwrap();
            let t = some.quantile(p);
            let step = 1e-5 * t;
            let slope = (some.distribution(t + step) - some.distribution(t - step)) / (2.0 * step);
            prop_assert!((slope / some.density(t) - 1.0).abs() < 1e-5);
        }

        #[test]
        fn expectations_equal_known_moments(shape in 0.2..8.0_f64, cut in 0.001..0.999_f64) {
            let some = Weibull::new(shape, 3.0).unwrap();
            prop_assert!((some.expectation(|_| 1.0) - 1.0).abs() < 1e-12);
            prop_assert!((some.expectation(|t| t) / some.mean() - 1.0).abs() < 1e-9);
            // E[F(t)] = 1/2 and E[F(t)^k] = 1/(k+1), for any distribution.
            let power = 9.0 * cut;
            let found = some.expectation(|t| some.distribution(t).powf(power));
            prop_assert!((found - 1.0 / (power + 1.0)).abs() < 1e-10, "{found}");
        }
    }
}
