//! Estimates how many clicks a new page of a source gets, and how fast they decay.
//!
//! Clicks on a page of age t come at the rate `P·μ·e^{−μt}`: P in total, and `P(1 − e^{−μt})`
//! up to age t (Lefortier et al. 2013, §2). There are two ways to fit P and μ to the clicks of
//! many pages by age: least squares as in the paper ([`Ages::least_squares`]), and maximum a
//! posteriori ([`Ages::likeliest`]). The latter knows how long each age was observed and does
//! not overrate a few clicks.
//!
//! **Invariant:** for any counts, P and μ are finite and above 0, and μ is in a range that the
//! bins can resolve. A [`Histogram`] takes 72 bytes, so that 100,000 sources cost little.

use std::time::Duration;

/// Number of bins by age. Each is as wide as the one before, or twice as wide.
pub const BINS: usize = 18;

/// The ends of the bins, in units of D, the bin width of the paper. With D = 20 minutes the
/// last bin ends after a week: "almost all clicks appear in the first week".
const ENDS: [u16; BINS] = [
    1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512,
];

/// Number of grid points of ln μ, evenly spaced from `1/(4·512·D)` to `2/D`.
const CANDIDATES: usize = 64;

/// One number per bin.
pub type Histogram = [f32; BINS];

/// The decay of profit with age: `P·e^{−μ·age}`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProfitCurve {
    /// P: total clicks.
    pub profit: f64,
    /// μ, per second.
    pub decay: f64,
}

/// The prior of a source's curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// The mean curve of other sources.
    pub curve: ProfitCurve,
    /// Weight of its P, as a pseudo-count of pages.
    pub pages: f64,
    /// Standard deviation of ln μ.
    pub spread: f64,
}

/// The bins, and the shape of each candidate curve in them.
#[derive(Debug, Clone)]
pub struct Ages {
    /// The ends of the bins, in seconds.
    ends: [f64; BINS],
    candidates: Vec<DecayCandidate>,
}

/// The shape of the curve for one candidate μ.
#[derive(Debug, Clone)]
struct DecayCandidate {
    log_decay: f64,
    /// The share of all clicks that fall into each bin, and its logarithm.
    shares: [f64; BINS],
    log_shares: [f64; BINS],
    /// Weights for least squares. `Σ a_i·y_i` over the paper's bins is
    /// `Σ (left_b·y_{b−1} + right_b·y_b)`, because y is linear within a bin. `squares` is
    /// `Σ a_i²`.
    left: [f64; BINS],
    right: [f64; BINS],
    squares: f64,
}

impl Ages {
    /// Creates bins of width D, which is at least a second.
    pub fn new(bin: Duration) -> Self {
        let width = bin.as_secs_f64().max(1.0);
        let ends = ENDS.map(|end| f64::from(end) * width);
        let (slow, fast) = ((1.0 / (4.0 * ends[BINS - 1])).ln(), (2.0 / width).ln());
        let step = (fast - slow) / (CANDIDATES - 1) as f64;
        let log_decays = (0..CANDIDATES).map(|place| slow + step * place as f64);
        Self {
            ends,
            candidates: log_decays
                .map(|log| DecayCandidate::new(log, width))
                .collect(),
        }
    }

    /// Returns the bin of an age in seconds; `None` if it is beyond the last bin.
    pub fn bin(&self, age: f64) -> Option<usize> {
        let place = self.ends.partition_point(|&end| end <= age);
        (place < BINS).then_some(place)
    }

    /// Returns the end of the last bin, in seconds.
    pub fn end(&self) -> f64 {
        self.ends[BINS - 1]
    }

    /// Records that a page was observed between two ages, as a share of each bin.
    pub fn watch(&self, seen: &mut Histogram, from: f64, until: f64) {
        let mut begin = 0.0;
        for (seen, &end) in seen.iter_mut().zip(&self.ends) {
            if begin >= until {
                return;
            }
            let share = (until.min(end) - from.max(begin)) / (end - begin);
            *seen += share.max(0.0) as f32;
            begin = end;
        }
    }

    /// Fits the curve by least squares (Algorithm 2): `P(1 − e^{−μiD})` to the clicks per page
    /// up to age iD, for `pages` pages. Returns `None` without pages or clicks.
    ///
    /// For a fixed μ the best P is `Σa·y/Σa²`, which leaves the error `Σy² − (Σa·y)²/Σa²`. So
    /// all candidates for μ are tried. The paper uses gradient descent, which needs a step size
    /// and a start. Clicks count as evenly spread within bins wider than D.
    pub fn least_squares(&self, clicks: &Histogram, pages: f64) -> Option<ProfitCurve> {
        let clicks = counts(clicks);
        if !(pages > 0.0 && clicks.iter().any(|&count| count > 0.0)) {
            return None;
        }
        let mut until = 0.0;
        let total = clicks.map(|count| {
            until += count / pages;
            until
        });
        let products: Vec<f64> = self
            .candidates
            .iter()
            .map(|candidate| candidate.product(&total))
            .collect();
        let explained = |place: usize| products[place].powi(2) / self.candidates[place].squares;
        let best =
            (1..CANDIDATES).fold(0, |best, place| match explained(place) > explained(best) {
                true => place,
                false => best,
            });
        let log_profit = |place: usize| (products[place] / self.candidates[place].squares).ln();
        Some(self.curve(best, explained, log_profit))
    }

    /// Returns the maximum a posteriori curve, if clicks are a Poisson process and each bin was
    /// observed for `seen` pages.
    ///
    /// For a fixed μ and a Gamma prior the best P is `(k·P₀ + clicks)/(k + Σ seen·share)`. μ
    /// maximises the likelihood with that P and a normal prior on ln μ.
    pub fn likeliest(&self, clicks: &Histogram, seen: &Histogram, prior: &Prior) -> ProfitCurve {
        let (clicks, seen) = (counts(clicks), counts(seen));
        let before = prior.pages;
        let assumed = prior.pages * prior.curve.profit;
        let all = assumed + clicks.iter().sum::<f64>();
        let profit = |candidate: &DecayCandidate| all / (before + sum(&seen, &candidate.shares));
        if all == assumed {
            return ProfitCurve {
                profit: all / (before + sum(&seen, &self.shares(prior.curve.decay))),
                decay: prior.curve.decay,
            };
        }
        let middle = prior.curve.decay.ln();
        let likelihood = |place: usize| {
            let candidate = &self.candidates[place];
            let off = (candidate.log_decay - middle) / prior.spread;
            sum(&clicks, &candidate.log_shares) + all * profit(candidate).ln() - off * off / 2.0
        };
        let best = peak(CANDIDATES, likelihood);
        self.curve(best, likelihood, |place| {
            profit(&self.candidates[place]).ln()
        })
    }

    /// Returns the share of all clicks that fall into each bin, for this μ.
    pub fn shares(&self, decay: f64) -> [f64; BINS] {
        DecayCandidate::shares_at(decay, &self.ends)
    }

    /// Refines the best candidate by the vertex of the parabola through it and its neighbours.
    fn curve(
        &self,
        best: usize,
        height: impl Fn(usize) -> f64,
        log_profit: impl Fn(usize) -> f64,
    ) -> ProfitCurve {
        let step = self.candidates[1].log_decay - self.candidates[0].log_decay;
        let mut off = 0.0;
        if best > 0 && best < CANDIDATES - 1 {
            let [before, top, after] = [best - 1, best, best + 1].map(&height);
            let bend = before - 2.0 * top + after;
            if bend < 0.0 {
                off = ((before - after) / (2.0 * bend)).clamp(-0.5, 0.5);
            }
        }
        let neighbour = match off > 0.0 {
            true => best + 1,
            false => best.saturating_sub(1),
        };
        let slope = log_profit(neighbour) - log_profit(best);
        ProfitCurve {
            profit: (log_profit(best) + slope * off.abs()).exp(),
            decay: (self.candidates[best].log_decay + step * off).exp(),
        }
    }
}

impl DecayCandidate {
    fn new(log_decay: f64, width: f64) -> Self {
        let decay = log_decay.exp();
        let shares = Self::shares_at(decay, &ENDS.map(|end| f64::from(end) * width));
        let (mut left, mut right, mut squares) = ([0.0; BINS], [0.0; BINS], 0.0);
        let mut begin = 0;
        for (bin, &end) in ENDS.iter().enumerate() {
            for printed in begin + 1..=end {
                let part = f64::from(printed - begin) / f64::from(end - begin);
                let until = -(-decay * f64::from(printed) * width).exp_m1();
                left[bin] += until * (1.0 - part);
                right[bin] += until * part;
                squares += until * until;
            }
            begin = end;
        }
        Self {
            log_decay,
            shares,
            // The floor avoids −∞ for bins in which this μ expects no click, because no
            // candidate is exact.
            log_shares: shares.map(|share| share.max(1e-12).ln()),
            left,
            right,
            squares,
        }
    }

    fn shares_at(decay: f64, ends: &[f64; BINS]) -> [f64; BINS] {
        let mut until = 0.0;
        ends.map(|end| {
            let before = std::mem::replace(&mut until, -(-decay * end).exp_m1());
            until - before
        })
    }

    fn product(&self, total: &[f64; BINS]) -> f64 {
        let mut before = 0.0;
        let mut sum = 0.0;
        for (bin, &after) in total.iter().enumerate() {
            sum += self.left[bin] * before + self.right[bin] * after;
            before = after;
        }
        sum
    }
}

/// Returns the counts of a histogram. NaN and negative values become 0.
fn counts(histogram: &Histogram) -> [f64; BINS] {
    histogram.map(|count| {
        if count > 0.0 {
            f64::from(count.min(f32::MAX))
        } else {
            0.0
        }
    })
}

fn sum(one: &[f64; BINS], other: &[f64; BINS]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// Returns the index of the maximum of a unimodal function.
fn peak(count: usize, height: impl Fn(usize) -> f64) -> usize {
    let (mut low, mut high) = (0, count - 1);
    while high - low > 2 {
        let (left, right) = (low + (high - low) / 3, high - (high - low) / 3);
        match height(left) < height(right) {
            true => low = left + 1,
            false => high = right,
        }
    }
    (low..=high).fold(low, |best, place| match height(place) > height(best) {
        true => place,
        false => best,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chance::split_mix;

    const HOUR: f64 = 3_600.0;

    fn ages() -> Ages {
        Ages::new(Duration::from_secs(1200))
    }

    fn prior(profit: f64, decay: f64) -> Prior {
        Prior {
            curve: ProfitCurve { profit, decay },
            pages: 0.5 / profit,
            spread: 0.5,
        }
    }

    /// Returns a Poisson variable of this mean, from exponential gaps.
    fn poisson(mean: f64, word: &mut u64) -> f64 {
        let (mut count, mut sum) = (0.0, 0.0);
        loop {
            *word = split_mix(*word);
            sum -= (((*word >> 12) as f64 + 0.5) / (1_u64 << 52) as f64).ln();
            if sum > mean {
                return count;
            }
            count += 1.0;
        }
    }

    /// Simulates clicks on pages that are each observed up to an age. Returns the clicks and
    /// the observed ages.
    fn clicked(curve: ProfitCurve, watched: &[f64], seed: u64) -> (Histogram, Histogram) {
        let (ages, mut word) = (ages(), seed);
        let (mut clicks, mut seen) = (Histogram::default(), Histogram::default());
        for &until in watched {
            ages.watch(&mut seen, 0.0, until);
            let mut begin = 0.0;
            for (bin, &end) in ages.ends.iter().enumerate() {
                let [from, to] = [begin, end].map(|age: f64| (-curve.decay * age.min(until)).exp());
                clicks[bin] += poisson(curve.profit * (from - to), &mut word) as f32;
                begin = end;
            }
        }
        (clicks, seen)
    }

    fn near(found: ProfitCurve, curve: ProfitCurve, room: f64) -> bool {
        let off = |found: f64, is: f64| (found / is).ln().abs();
        off(found.profit, curve.profit) < room && off(found.decay, curve.decay) < room
    }

    #[test]
    fn ages_fall_into_bins() {
        let ages = ages();
        assert_eq!(ages.bin(0.0), Some(0));
        assert_eq!(ages.bin(-50.0), Some(0), "clicks before the discovery");
        assert_eq!(ages.bin(1199.0), Some(0));
        assert_eq!(ages.bin(1200.0), Some(1));
        assert_eq!(ages.bin(ages.end() - 1.0), Some(BINS - 1));
        assert_eq!(ages.bin(ages.end()), None);
        assert_eq!(ages.bin(f64::INFINITY), None);
        let mut seen = Histogram::default();
        ages.watch(&mut seen, 600.0, 4200.0);
        assert_eq!(seen[..5], [0.5, 1.0, 1.0, 0.5, 0.0]);
        ages.watch(&mut seen, 1e9, 2e9);
        ages.watch(&mut seen, 500.0, 400.0);
        assert_eq!(seen[..5], [0.5, 1.0, 1.0, 0.5, 0.0]);
    }

    #[test]
    fn both_ways_find_the_curve_that_clicks_come_from() {
        for (profit, hours) in [(3.0, 24.0), (0.2, 6.0), (40.0, 60.0), (1.0, 2.0)] {
            let curve = ProfitCurve {
                profit,
                decay: 1.0 / (hours * HOUR),
            };
            let pages = (4_000.0 / profit) as usize;
            let (clicks, seen) = clicked(curve, &vec![1e6; pages], 7);
            let squares = ages().least_squares(&clicks, pages as f64).unwrap();
            let likely = ages().likeliest(&clicks, &seen, &prior(1.0, 1.0 / 86_400.0));
            // 4,000 clicks have a standard deviation of 1.6 %. Least squares ignores that
            // cumulative sums are correlated.
            assert!(near(likely, curve, 0.06), "{likely:?}, {curve:?}");
            assert!(near(squares, curve, 0.12), "{squares:?}, {curve:?}");
        }
    }

    #[test]
    fn likelihood_expects_more_clicks_on_young_pages_and_least_squares_does_not() {
        let curve = ProfitCurve {
            profit: 5.0,
            decay: 1.0 / 86_400.0,
        };
        // Pages of all ages up to two days.
        let watched: Vec<f64> = (0..2_000).map(|page| f64::from(page) * 86.4).collect();
        let (clicks, seen) = clicked(curve, &watched, 3);
        let likely = ages().likeliest(&clicks, &seen, &prior(1.0, 1.0 / 43_200.0));
        assert!(near(likely, curve, 0.1), "{likely:?}");
        let squares = ages().least_squares(&clicks, 2_000.0).unwrap();
        assert!(
            squares.profit < 4.0,
            "least squares counts young pages as complete: {squares:?}"
        );
    }

    #[test]
    fn with_few_clicks_the_curve_stays_near_the_prior() {
        let ages = ages();
        let (none, mut seen) = (Histogram::default(), Histogram::default());
        let others = prior(2.0, 1.0 / 50_000.0);
        assert_eq!(
            ages.likeliest(&none, &seen, &others),
            others.curve,
            "nothing is known"
        );
        (0..10).for_each(|_| ages.watch(&mut seen, 0.0, 1e6));
        let vain = ages.likeliest(&none, &seen, &others);
        // Half a pseudo-click on a quarter of a pseudo-page, and ten observed pages.
        assert!(
            (vain.profit - 0.5 / 10.25).abs() < 1e-4 && vain.decay == others.curve.decay,
            "{vain:?}"
        );
        let mut one = none;
        one[0] = 1.0;
        let found = ages.likeliest(&one, &seen, &others);
        assert!((found.profit - 1.5 / 10.25).abs() < 2e-3, "{found:?}");
        let off = (found.decay / others.curve.decay).ln();
        assert!(
            (0.0..0.6).contains(&off),
            "one early click says little of μ: {off}"
        );
        assert_eq!(ages.least_squares(&none, 10.0), None);
        assert_eq!(ages.least_squares(&one, 0.0), None);
    }

    #[test]
    fn the_printed_sum_is_over_the_printed_bins() {
        // The curve is exact in every bin, and the best μ is on the grid. P is accurate up to
        // the interpolation within wide bins.
        let ages = ages();
        let candidate = &ages.candidates[30];
        let curve = ProfitCurve {
            profit: 2.0,
            decay: candidate.log_decay.exp(),
        };
        let clicks = candidate
            .shares
            .map(|share| (100.0 * curve.profit * share) as f32);
        let found = ages.least_squares(&clicks, 100.0).unwrap();
        assert!(near(found, curve, 0.02), "{found:?}, {curve:?}");
        let steps: f64 = (1..=512)
            .map(|step| (1.0 - (-curve.decay * 1200.0 * f64::from(step)).exp()).powi(2))
            .sum();
        assert!((candidate.squares / steps - 1.0).abs() < 1e-9);
    }

    proptest! {
        /// Flat, empty, in one bin, at age 0, enormous, or NaN.
        #[test]
        fn any_counts_give_a_finite_and_positive_curve(
            clicks in prop::array::uniform18(prop_oneof![Just(0.0_f32), Just(1.0), Just(1e30), Just(f32::INFINITY), Just(f32::NAN), 0.0..50.0_f32]),
            seen in prop::array::uniform18(prop_oneof![Just(0.0_f32), Just(1.0), Just(1e30), 0.0..50.0_f32]),
            pages in prop_oneof![Just(0.0), Just(1.0), Just(1e12), 0.0..500.0],
            profit in 1e-6..1e6_f64,
            decay in 1e-8..1e-2_f64,
        ) {
            let ages = ages();
            let squares = ages.least_squares(&clicks, pages);
            let likely = ages.likeliest(&clicks, &seen, &prior(profit, decay));
            for curve in squares.into_iter().chain([likely]) {
                prop_assert!(curve.profit > 0.0 && curve.profit.is_finite(), "{:?}", curve);
                prop_assert!(curve.decay > 0.0 && curve.decay.is_finite(), "{:?}", curve);
            }
        }
    }
}
