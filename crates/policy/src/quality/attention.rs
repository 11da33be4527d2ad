//! The attention of searchers by rank, and its fit to the clicks of a store.
//!
//! **Invariant:** attention never grows with rank.

/// Ranks that are counted. Few searchers look further.
const RANKS: usize = 100;
/// The range of fitted exponents. Below it clicks hardly depend on rank, as those of a program do.
const EXPONENTS: (f64, f64) = (0.25, 4.0);
/// Fisher information about the exponent from which on the fit is used: a standard error of 0.1.
const ENOUGH: f64 = 100.0;

/// I(r): the probability that a searcher looks at the result of rank r, relative to the first. It
/// is r to the power of a negative exponent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attention {
    pub(super) exponent: f64,
}

impl Default for Attention {
    fn default() -> Self {
        Self::PUBLISHED
    }
}

impl Attention {
    /// r^(−3/2): equation 2 of Pandey & Olston (2005), from logs of AltaVista.
    pub const PUBLISHED: Self = Self { exponent: 1.5 };

    /// Returns the exponent.
    pub fn exponent(self) -> f64 {
        self.exponent
    }

    /// Returns the attention at a rank. Ranks start at 1; estimated ranks may be fractional. A
    /// page in no list has an infinite rank and gets no attention.
    pub fn at(self, rank: f64) -> f64 {
        // Avoids `powf` where it can, because this runs for every word of every page that changes.
        match self == Self::PUBLISHED {
            true => 1.0 / (rank * rank.sqrt()),
            false => rank.powf(-self.exponent),
        }
    }

    /// Returns how much attention a result loses that moves from a rank to a later one.
    pub(super) fn between(self, from: f64, to: f64) -> f64 {
        self.at(from) - self.at(to)
    }
}

/// Counts of shown and of clicked results, by rank.
#[derive(Debug, Clone)]
pub struct RankClicks {
    shown: [f64; RANKS],
    clicked: [f64; RANKS],
}

impl Default for RankClicks {
    fn default() -> Self {
        Self {
            shown: [0.0; RANKS],
            clicked: [0.0; RANKS],
        }
    }
}

impl RankClicks {
    /// Counts results that were shown at a rank. Ranks start at 1.
    pub fn show(&mut self, rank: u64, times: u64) {
        count(&mut self.shown, rank, times);
    }

    /// Counts clicks on results at a rank. Ranks start at 1.
    pub fn click(&mut self, rank: u64, times: u64) {
        count(&mut self.clicked, rank, times);
    }

    /// Returns the number of clicks at ranks at which results were shown.
    pub fn clicks(&self) -> f64 {
        self.rows().map(|row| row.clicked).sum()
    }

    /// Returns the attention that fits the clicks best. `None` while there are too few clicks.
    ///
    /// Clicks at rank r are Poisson distributed with mean `α·n_r·r^−θ`, where n_r is the number of
    /// results that were shown there. The likelihood of θ, with α at its maximum, is that of a
    /// multinomial distribution. Its derivative is `C·E[ln r] − Σ c_r·ln r` over C clicks, with
    /// the expectation over ranks in proportion to `n_r·r^−θ`. It falls with θ, so its root is
    /// found by bisection. The Fisher information is `C·Var[ln r]`.
    ///
    /// Clicks fall with rank for two reasons: fewer searchers look there, and results there are
    /// less relevant. The published exponent has the same defect.
    pub fn fit(&self) -> Option<Attention> {
        let clicks = self.clicks();
        let logs: f64 = self.rows().map(|row| row.clicked * row.log).sum();
        let (mut low, mut high) = EXPONENTS;
        for _ in 0..50 {
            let middle = f64::midpoint(low, high);
            match clicks * self.moments(middle).0 > logs {
                true => low = middle,
                false => high = middle,
            }
        }
        let (_, variance) = self.moments(low);
        (clicks * variance >= ENOUGH).then_some(Attention { exponent: low })
    }

    /// Returns the mean and the variance of ln r over clicks with this exponent.
    fn moments(&self, exponent: f64) -> (f64, f64) {
        let (mut all, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for row in self.rows() {
            let weight = row.shown * (-exponent * row.log).exp();
            all += weight;
            sum += weight * row.log;
            squares += weight * row.log * row.log;
        }
        if all <= 0.0 {
            return (0.0, 0.0);
        }
        let mean = sum / all;
        (mean, (squares / all - mean * mean).max(0.0))
    }

    fn rows(&self) -> impl Iterator<Item = RankRow> {
        let counts = self.shown.iter().zip(&self.clicked);
        let rows = (1u32..)
            .zip(counts)
            .map(|(rank, (shown, clicked))| RankRow {
                log: f64::from(rank).ln(),
                shown: *shown,
                clicked: *clicked,
            });
        rows.filter(|row| row.shown > 0.0)
    }
}

/// The counts of a rank.
struct RankRow {
    /// ln r.
    log: f64,
    shown: f64,
    clicked: f64,
}

fn count(counts: &mut [f64; RANKS], rank: u64, times: u64) {
    let place = usize::try_from(rank)
        .ok()
        .and_then(|rank| rank.checked_sub(1));
    if let Some(count) = place.and_then(|place| counts.get_mut(place)) {
        *count += times as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::TestDraws;

    #[test]
    fn attention_falls_with_rank() {
        for (rank, expected) in [
            (1.0, 1.0),
            (4.0, 0.125),
            (100.0, 0.001),
            (f64::INFINITY, 0.0),
        ] {
            let found = Attention::PUBLISHED.at(rank);
            assert!((found - expected).abs() < 1e-15, "{rank}");
            let other = Attention { exponent: 0.5 }.at(rank);
            assert!((other - expected.cbrt()).abs() < 1e-12, "{rank}: {other}");
        }
    }

    /// Searches with ten results each, whose searchers click at rank r with probability
    /// `0.3·r^−exponent`. A fifth of the searches ask for the second page.
    fn clicked(searches: u32, exponent: f64) -> RankClicks {
        let mut draws = TestDraws(5);
        let mut counts = RankClicks::default();
        for search in 0..searches {
            let offset = if search % 5 == 0 { 10 } else { 0 };
            for rank in offset + 1..=offset + 10 {
                counts.show(rank, 1);
                if draws.next() < 0.3 * (rank as f64).powf(-exponent) {
                    counts.click(rank, 1);
                }
            }
        }
        counts
    }

    #[test]
    fn exponents_are_recovered_from_enough_clicks() {
        for exponent in [0.7, 1.0, 1.5, 2.2] {
            let found = clicked(20_000, exponent).fit().unwrap().exponent();
            assert!((found - exponent).abs() < 0.06, "{found} {exponent}");
        }
        assert_eq!(RankClicks::default().fit(), None);
        assert_eq!(clicked(100, 1.0).fit(), None);
        // Clicks on the only result say nothing about attention.
        let mut single = RankClicks::default();
        single.show(1, 10_000);
        single.click(1, 9_000);
        assert_eq!(single.fit(), None);
    }

    #[test]
    fn clicks_without_shown_results_and_far_ranks_are_ignored() {
        let plain = clicked(20_000, 1.0);
        let mut more = plain.clone();
        for rank in [0, 50, 101, u64::MAX] {
            more.click(rank, 1_000);
        }
        assert_eq!(more.fit(), plain.fit());
        assert_eq!(more.clicks(), plain.clicks());
    }
}
