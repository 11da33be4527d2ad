//! Measures how well the gains of a page's past refreshes predict those of later ones.
//!
//! Pandey & Olston (2005), §6.2 and figure 3. Every change is refreshed at once. δQ_A of a page
//! is the gain of its refreshes per day, in the first and in the second half of the time.
//!
//! **Invariant:** gains are measured as a crawler measures them, with score-rank functions of
//! the repository at the time. Only pages that exist at the first and at the last step count.

use crate::findings::{Measured, Param, Params};
use crate::measure::quality::Answers;
use crate::run::steps::GainEstimator;

use super::examples::{PageUpdate, PageUpdates};
use super::ground_truth::GroundTruth;

/// Shares of the pages for which figure 3 has a colour of its own.
const QUANTILES: [f64; 3] = [0.5, 0.8, 0.9];

const SECONDS_PER_DAY: f64 = 86_400.0;

/// Steps between two updates of the score-rank functions.
const CADENCE: usize = 4;

/// Gains of the refreshes of each page per day, as pairs of first and second half.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Forecast {
    /// Sum of the gains divided by the length of the half in days.
    pub halves: Vec<(f64, f64)>,
    /// The formula as printed: the mean over the refreshes of gain divided by days since the
    /// previous refresh.
    pub printed: Vec<(f64, f64)>,
    /// Examples as in figure 5, in words.
    pub examples: Vec<String>,
}

/// Refreshes each page at each of its changes, and returns the gains of the pages that exist at the
/// first and at the last step. Returns `None` if the world has no texts or no queries.
pub(super) fn forecast(truth: &GroundTruth) -> Option<Forecast> {
    let (texts, scored) = truth.texts()?;
    let snapshots = &truth.snapshots;
    let moments = snapshots.moments();
    let last = moments.len() - 1;
    let (start, middle, end) = (moments[0], moments[last / 2], moments[last]);
    let mut answers = Answers::new(scored, snapshots.pages());
    for &(page, text) in snapshots.changed(0) {
        answers.set_copy(page, text);
    }
    let mut estimator = GainEstimator::new(scored);
    let stayed = stayed(truth);
    let mut pages = vec![[GainSums::default(); 2]; snapshots.pages()];
    let mut seen = vec![start; snapshots.pages()];
    let mut updates = PageUpdates::new(snapshots.pages());
    let mut changes: Vec<_> = (0..snapshots.pages() as u32)
        .flat_map(|page| {
            let own = truth.lives.of(page as usize).iter();
            own.map(move |change| (change.at, page, change.text.map(|text| text as u32)))
        })
        .filter(|(at, _, _)| *at > start && *at <= end)
        .collect();
    changes.sort_unstable_by_key(|(at, page, _)| (*at, *page));
    let mut made = 0;
    let mut step = 0;
    for (at, page, text) in changes {
        while step < last && moments[step + 1] < at {
            step += 1;
        }
        if made <= step {
            estimator.refresh(&answers);
            made = step + CADENCE;
        }
        let gain = estimator.gain(page, answers.copy(page), text);
        let gap = at.since(seen[page as usize]).as_secs_f64() / SECONDS_PER_DAY;
        pages[page as usize][usize::from(at > middle)].add(gain, gap);
        seen[page as usize] = at;
        if let Some((before, after)) = answers.copy(page).zip(text) {
            let differing = texts.differing(before, after);
            updates.add(
                page,
                &PageUpdate {
                    at,
                    before,
                    after,
                    differing,
                    gain,
                },
            );
        }
        answers.set_copy(page, text);
    }
    let days =
        [middle.since(start), end.since(middle)].map(|half| half.as_secs_f64() / SECONDS_PER_DAY);
    let of = |measure: &dyn Fn(&GainSums, f64) -> f64| {
        let each = stayed.iter().map(|&page| &pages[page as usize]);
        each.map(|[first, second]| (measure(first, days[0]), measure(second, days[1])))
            .collect()
    };
    Some(Forecast {
        halves: of(&|sums, days| sums.gain / days),
        printed: of(&|sums, _| sums.ratios / sums.refreshes.max(1.0)),
        examples: updates.examples(truth, texts),
    })
}

#[derive(Debug, Clone, Copy, Default)]
struct GainSums {
    gain: f64,
    ratios: f64,
    refreshes: f64,
}

impl GainSums {
    fn add(&mut self, gain: f64, gap: f64) {
        self.gain += gain;
        self.ratios += gain / gap;
        self.refreshes += 1.0;
    }
}

/// Returns the pages that exist at the first and at the last step.
fn stayed(truth: &GroundTruth) -> Vec<u32> {
    let snapshots = &truth.snapshots;
    let (first, last) = (snapshots.at(0), snapshots.at(snapshots.moments().len() - 1));
    let both = first.iter().zip(&last);
    (0..)
        .zip(both)
        .filter(|(_, (first, last))| first.is_some() && last.is_some())
        .map(|(page, _)| page)
        .collect()
}

impl Forecast {
    /// Returns the distance of a point of figure 3 from the diagonal along an axis, in powers of
    /// ten. Infinite if one half has no gain.
    fn from_diagonal((first, second): (f64, f64)) -> f64 {
        match first > 0.0 && second > 0.0 {
            true => (second / first).log10().abs(),
            false => f64::INFINITY,
        }
    }

    /// Returns Spearman's rank correlations of both halves.
    pub fn rows(&self) -> Vec<Measured> {
        let moved = |pairs: &[(f64, f64)]| -> Vec<(f64, f64)> {
            let moved = pairs.iter().filter(|pair| **pair != (0.0, 0.0));
            moved.copied().collect()
        };
        let found = [
            ("sum", "moved", spearman(&moved(&self.halves))),
            ("sum", "all", spearman(&self.halves)),
            ("printed", "moved", spearman(&moved(&self.printed))),
            ("printed", "all", spearman(&self.printed)),
        ];
        let row = |(estimate, pages, value): (&str, &str, Option<f64>)| {
            let params = [("estimate", estimate), ("pages", pages)];
            let params = params.map(|(name, value)| (name.to_owned(), Param::from(value)));
            Some(Measured {
                policy: String::new(),
                params: Params::from(params),
                metric: "forecast".into(),
                x: 0.0,
                value: value?,
            })
        };
        let rows = found.into_iter().filter_map(row);
        rows.chain(self.distances()).collect()
    }

    /// Returns the quantiles of figure 3: how far pages with a gain are from the diagonal.
    fn distances(&self) -> Vec<Measured> {
        let moved = self.halves.iter().filter(|pair| **pair != (0.0, 0.0));
        let mut distances: Vec<f64> = moved.map(|&pair| Self::from_diagonal(pair)).collect();
        distances.sort_unstable_by(f64::total_cmp);
        let row = |metric: String, value: f64| Measured {
            policy: String::new(),
            params: Params::new(),
            metric,
            x: 0.0,
            value,
        };
        if distances.is_empty() {
            return Vec::new();
        }
        let one_sided = distances
            .iter()
            .filter(|distance| distance.is_infinite())
            .count();
        let share = one_sided as f64 / distances.len() as f64;
        let quantile = |share: f64| {
            let place = (share * distances.len() as f64).ceil() as usize;
            let distance = distances[place.clamp(1, distances.len()) - 1];
            let metric = format!("forecast_distance@{share}");
            distance.is_finite().then(|| row(metric, distance))
        };
        let quantiles = QUANTILES.into_iter().filter_map(quantile);
        quantiles
            .chain([row("forecast_one_sided".into(), share)])
            .collect()
    }
}

/// Returns Spearman's rank correlation, with mean ranks for ties. `None` if one side is
/// constant.
fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    let first = ranks(pairs.iter().map(|pair| pair.0).collect());
    let second = ranks(pairs.iter().map(|pair| pair.1).collect());
    let mean = (pairs.len() as f64 - 1.0) / 2.0;
    let (mut both, mut one, mut other) = (0.0, 0.0, 0.0);
    for (a, b) in first.iter().zip(&second) {
        both += (a - mean) * (b - mean);
        one += (a - mean).powi(2);
        other += (b - mean).powi(2);
    }
    (one > 0.0 && other > 0.0).then(|| both / (one * other).sqrt())
}

/// Returns ranks from 0, with mean ranks for ties.
fn ranks(values: Vec<f64>) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut place = 0;
    for tie in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = place as f64 + (tie.len() - 1) as f64 / 2.0;
        tie.iter().for_each(|&one| ranks[one] = rank);
        place += tie.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_distances_from_the_diagonal() {
        // Nine pages with factors of 1, 10, … 10⁸ between the halves, one that gains in one half
        // only, and one that never gains.
        let mut halves: Vec<(f64, f64)> = (0..9).map(|n| (1.0, 10f64.powi(n))).collect();
        halves.extend([(0.0, 2.0), (0.0, 0.0)]);
        halves[3] = (1000.0, 1.0);
        let forecast = Forecast {
            printed: halves.clone(),
            halves,
            examples: Vec::new(),
        };
        let rows = forecast.distances();
        let found: Vec<(&str, f64)> = rows.iter().map(|row| (&*row.metric, row.value)).collect();
        let expected = [
            ("forecast_distance@0.5", 4.0),
            ("forecast_distance@0.8", 7.0),
            ("forecast_distance@0.9", 8.0),
            ("forecast_one_sided", 0.1),
        ];
        for ((found, value), (name, expected)) in found.iter().zip(expected) {
            assert_eq!(*found, name);
            assert!((value - expected).abs() < 1e-9, "{name}: {value}");
        }
        assert_eq!(found.len(), 4);
    }

    #[test]
    fn spearman_uses_mean_ranks_for_ties_and_needs_variation() {
        let check = |pairs: &[(f64, f64)], expected: Option<f64>| {
            let found = spearman(pairs);
            let close = found
                .zip(expected)
                .map_or(found == expected, |(a, b)| (a - b).abs() < 1e-12);
            assert!(close, "{pairs:?}: {found:?}");
        };
        check(&[(1.0, 10.0), (2.0, 1e9), (0.0, -5.0)], Some(1.0));
        check(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)], Some(-1.0));
        // Ranks 0, 1.5, 1.5, 3 and 0, 2, 1, 3.
        check(
            &[(1.0, 1.0), (2.0, 3.0), (2.0, 2.0), (9.0, 4.0)],
            Some(4.5 / 22.5_f64.sqrt()),
        );
        check(&[(1.0, 1.0), (1.0, 2.0)], None);
        check(&[], None);
    }
}
