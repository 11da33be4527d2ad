//! Random draws from Zipf, power-law, exponential and Poisson distributions.
//!
//! **Invariant:** distributions have no state: a draw depends only on their parameters and the
//! stream.

use rand::{Rng, RngExt};
use rand_distr::{Distribution, Poisson};

/// Zipf's law over a finite list: rank `r`, from 1, has weight `r^-exponent`.
#[derive(Debug, Clone)]
pub(super) struct Zipf {
    /// Cumulative weights.
    sums: Vec<f64>,
}

impl Zipf {
    /// Creates the law over `places` ranks, at least one.
    pub fn new(places: usize, exponent: f64) -> Self {
        let weights = (1..=places.max(1)).map(|place| (place as f64).powf(-exponent));
        let sums = weights.scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        Self {
            sums: sums.collect(),
        }
    }

    /// Draws a rank, counted from 0.
    pub fn draw(&self, rng: &mut impl Rng) -> usize {
        let last = self.sums.len() - 1;
        let drawn = rng.random::<f64>() * self.sums[last];
        self.sums.partition_point(|&sum| sum <= drawn).min(last)
    }
}

/// A power law with density `x^-exponent` from `least` to `most`. Draws are rounded
/// stochastically to a whole number, so that the mean stays.
#[derive(Debug, Clone, Copy)]
pub(super) struct Power {
    least: f64,
    most: f64,
    exponent: f64,
}

impl Power {
    /// Creates a law with this mean, by bisection on `least`. The mean must be at least 0 and below
    /// `most`, and the exponent above 1. With a mean of 0, almost all draws are 0.
    pub fn with_mean(mean: f64, exponent: f64, most: f64) -> Self {
        // The mean grows with the least value, and is never below it.
        let (mut low, mut high) = (most * 1e-12, mean.max(most * 1e-12));
        for _ in 0..200 {
            let middle = (low * high).sqrt();
            let law = Self {
                least: middle,
                most,
                exponent,
            };
            if law.mean() < mean {
                low = middle;
            } else {
                high = middle;
            }
        }
        Self {
            least: high,
            most,
            exponent,
        }
    }

    /// Returns the mean: `∫ x·x^-a / ∫ x^-a`.
    fn mean(&self) -> f64 {
        self.integral(1.0 - self.exponent) / self.integral(-self.exponent)
    }

    /// Returns `∫ x^power dx` from `least` to `most`.
    fn integral(&self, power: f64) -> f64 {
        let next = power + 1.0;
        if next.abs() < 1e-9 {
            (self.most / self.least).ln()
        } else {
            (self.most.powf(next) - self.least.powf(next)) / next
        }
    }

    /// Draws a value by inversion of the distribution function.
    pub fn draw(&self, rng: &mut impl Rng) -> u32 {
        let (chance, rounding): (f64, f64) = (rng.random(), rng.random());
        let power = 1.0 - self.exponent;
        let (least, most) = (self.least.powf(power), self.most.powf(power));
        let value = (least - chance * (least - most)).powf(power.recip());
        (value + rounding) as u32
    }
}

/// Maps a standard normal value to the exponential value (mean 1) of the same quantile.
///
/// That is `-ln(1 - Φ(score))`, which rises with the score.
pub(super) fn exponential_of_normal(score: f64) -> f64 {
    let beyond = 0.5 * complement_of_error_function(score / std::f64::consts::SQRT_2);
    match beyond > 0.5 {
        // For negative scores 1 − Φ is near 1, and `ln_1p(−Φ)` keeps the precision.
        true => -(-0.5 * complement_of_error_function(-score / std::f64::consts::SQRT_2)).ln_1p(),
        false => -beyond.ln(),
    }
}

/// Returns erfc(x) with a relative error below 1.2e-7: a Chebyshev fit (Press et al., "Numerical
/// Recipes", 2nd ed., §6.2).
fn complement_of_error_function(x: f64) -> f64 {
    const FIT: [f64; 10] = [
        0.170_872_77,
        -0.822_152_23,
        1.488_515_87,
        -1.135_203_98,
        0.278_868_07,
        -0.186_288_06,
        0.096_784_18,
        0.374_091_96,
        1.000_023_68,
        -1.265_512_23,
    ];
    let t = (1.0 + 0.5 * x.abs()).recip();
    let fit = FIT.iter().fold(0.0, |sum, part| sum * t + part);
    let right = t * (fit - x * x).exp();
    if x < 0.0 { 2.0 - right } else { right }
}

/// Draws a Poisson count; 0 if the mean is not a valid parameter.
pub(super) fn poisson(mean: f64, rng: &mut impl Rng) -> u64 {
    // The library's upper limit is above all means used here.
    let count: f64 = Poisson::new(mean).map_or(0.0, |poisson| poisson.sample(rng));
    count as u64
}

/// Returns `true` with this probability.
pub(super) fn chance(rng: &mut impl Rng, share: f64) -> bool {
    rng.random::<f64>() < share
}

#[cfg(test)]
mod tests {
    use testweb::chance::{For, stream};

    use super::*;

    #[test]
    fn ranks_have_the_frequencies_of_zipfs_law() {
        let (zipf, mut rng) = (Zipf::new(3, 1.0), stream(1, For::Hosts, 0, 0));
        let mut counts = [0.0_f64; 3];
        (0..60_000).for_each(|_| counts[zipf.draw(&mut rng)] += 1.0);
        // 1 + 1/2 + 1/3 = 11/6, so the shares are 6/11, 3/11 and 2/11, with a standard deviation
        // of at most .002.
        for (count, share) in counts.iter().zip([6.0_f64, 3.0, 2.0]) {
            let found = count / 60_000.0;
            assert!((found - share / 11.0).abs() < 0.008, "{counts:?}");
        }
        assert_eq!(Zipf::new(0, 1.0).draw(&mut rng), 0);
    }

    #[test]
    fn power_laws_have_their_mean_and_their_tail() {
        for (mean, exponent) in [(9.0, 2.7), (0.3, 2.2), (20.0, 2.0), (5.0, 4.0)] {
            let law = Power::with_mean(mean, exponent, 1_000.0);
            assert!((law.mean() / mean - 1.0).abs() < 1e-6, "{law:?}");
            let mut rng = stream(2, For::Hosts, 0, 0);
            let draws: Vec<f64> = (0..200_000)
                .map(|_| f64::from(law.draw(&mut rng)))
                .collect();
            let found = draws.iter().sum::<f64>() / draws.len() as f64;
            assert!(
                (found / mean - 1.0).abs() < 0.05,
                "{mean}, {exponent}: {found}"
            );
            assert!(draws.iter().all(|&value| value <= 1_000.0));
        }
        // P(x > b) = (b^-1.7 - 1000^-1.7) / (least^-1.7 - 1000^-1.7). A draw is above 50 after
        // rounding about as often as the value is above b = 50.5.
        let law = Power::with_mean(9.0, 2.7, 1_000.0);
        let beyond = |x: f64| x.powf(-1.7) - 1_000_f64.powf(-1.7);
        let expected = beyond(50.5) / beyond(law.least);
        let mut rng = stream(3, For::Hosts, 0, 0);
        let many = (0..200_000).filter(|_| law.draw(&mut rng) > 50).count();
        let found = many as f64 / 200_000.0;
        assert!((found / expected - 1.0).abs() < 0.1, "{found}, {expected}");
    }

    #[test]
    fn counts_have_the_mean_and_variance_of_poisson() {
        let mut rng = stream(5, For::Hosts, 0, 0);
        for mean in [0.0, 0.2, 40.0] {
            let draws: Vec<f64> = (0..20_000)
                .map(|_| poisson(mean, &mut rng) as f64)
                .collect();
            let found = draws.iter().sum::<f64>() / 20_000.0;
            let squares = draws.iter().map(|draw| (draw - found).powi(2)).sum::<f64>() / 20_000.0;
            assert!((found - mean).abs() <= 0.05 * mean, "{mean}: {found}");
            assert!((squares - mean).abs() <= 0.1 * mean, "{mean}: {squares}");
        }
    }

    #[test]
    fn normal_scores_map_to_exponential_values_of_equal_quantile() {
        // -ln(1 - Φ(z)) from tables of Φ; the last is -ln(1.8990e-8).
        let table = [
            (0.0, std::f64::consts::LN_2),
            (1.0, 1.841_02),
            (-1.0, 0.172_753),
            (-4.0, 3.167_17e-5),
            (5.5, 17.779_4),
        ];
        for (score, expected) in table {
            let found = exponential_of_normal(score);
            assert!((found / expected - 1.0).abs() < 1e-4, "{score}: {found}");
        }
    }
}
