//! Statistics of distributions: mean, median, tail, rank curve and rank correlation.
//!
//! **Invariant:** an empty sample gives NaN or a curve without points. NaN gets no row in the
//! report.

/// Returns the mean; NaN if there are no values.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the median; NaN if there are no values.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        even if even.is_multiple_of(2) => f64::midpoint(sorted[middle - 1], sorted[middle]),
        _ => sorted[middle],
    }
}

/// Returns the tail of counts on log-log axes: log₁₀ k, and log₁₀ of the share of counts of at
/// least k, for every k > 0 that occurs. A power law of exponent γ is a line of slope 1 − γ.
pub(super) fn tail(counts: &[u64]) -> Vec<(f64, f64)> {
    let mut sorted = counts.to_vec();
    sorted.sort_unstable();
    let all = sorted.len() as f64;
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (below, &count) in sorted.iter().enumerate() {
        let x = (count as f64).log10();
        if count > 0 && points.last().is_none_or(|last| last.0 < x) {
            points.push((x, ((all - below as f64) / all).log10()));
        }
    }
    points
}

/// Returns log₁₀ rank and log₁₀ count of the counts above 0, largest first.
///
/// Keeps only ranks at least .02 apart on this scale, and the last; these are some hundred points
/// at most. Zipf's law is a line of slope −1.
pub(super) fn ranked(counts: &[u64]) -> Vec<(f64, f64)> {
    let mut sorted: Vec<u64> = counts.iter().copied().filter(|&count| count > 0).collect();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (rank, &count) in (1_u32..).zip(&sorted) {
        let x = f64::from(rank).log10();
        let last = rank as usize == sorted.len();
        if last || points.last().is_none_or(|before| x - before.0 >= 0.02) {
            points.push((x, (count as f64).log10()));
        }
    }
    points
}

/// Returns the share of the total that the largest 1 % of the counts hold, at least one count. NaN
/// if the total is 0.
pub(super) fn top_share(counts: &[u64]) -> f64 {
    let mut sorted = counts.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let top: u64 = sorted.iter().take(sorted.len().div_ceil(100)).sum();
    top as f64 / sorted.iter().sum::<u64>() as f64
}

/// Returns Spearman's rank correlation (1904); tied values get their mean rank. NaN if all values
/// of one side are equal.
///
/// # Panics
/// If both sides differ in length.
pub(super) fn rank_correlation(left: &[f64], right: &[f64]) -> f64 {
    assert_eq!(left.len(), right.len(), "pairs are compared");
    let (left, right) = (places(left), places(right));
    let middle = (left.len() as f64 + 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 {
        let pairs = a.iter().zip(b);
        pairs.map(|(a, b)| (a - middle) * (b - middle)).sum()
    };
    product(&left, &right) / (product(&left, &left) * product(&right, &right)).sqrt()
}

/// Returns the rank of each value, from 1, smallest first; ties get their mean rank.
fn places(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut places = vec![0.0; values.len()];
    let mut first = 0;
    for tied in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let place = first as f64 + (tied.len() as f64 + 1.0) / 2.0;
        tied.iter().for_each(|&at| places[at] = place);
        first += tied.len();
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_of_an_even_sample_is_the_middle_of_two_values_and_an_empty_sample_gives_nan() {
        for (values, expected) in [
            (&[3.0][..], 3.0),
            (&[4.0, 1.0], 2.5),
            (&[9.0, 1.0, 2.0], 2.0),
            (&[9.0, 1.0, 2.0, 3.0], 2.5),
        ] {
            assert_eq!(median(values), expected);
        }
        assert!(median(&[]).is_nan() && mean(&[]).is_nan());
        assert_eq!(mean(&[1.0, 2.0, 6.0]), 3.0);
    }

    #[test]
    fn tails_are_shares_of_counts_of_at_least_k() {
        let points = tail(&[0, 1, 1, 10, 100, 0, 10, 0, 0, 0]);
        let expected = [(0.0, 0.5_f64.log10()), (1.0, 0.3_f64.log10()), (2.0, -1.0)];
        assert_eq!(points, expected);
        assert!(tail(&[]).is_empty() && tail(&[0]).is_empty());
    }

    #[test]
    fn rank_curves_keep_both_ends_and_few_points() {
        assert_eq!(ranked(&[10, 0, 1000, 10]).len(), 3);
        let zipf: Vec<u64> = (1..=10_000).map(|rank| 1_000_000 / rank).collect();
        let points = ranked(&zipf);
        assert!(points.len() < 250, "{}", points.len());
        assert_eq!(points.last().unwrap(), &(4.0, 2.0));
        assert_eq!(points[0], (0.0, 6.0));
    }

    #[test]
    fn top_share_is_that_of_the_largest_hundredth() {
        let mut counts = vec![1; 200];
        counts[7] = 101;
        counts[9] = 51;
        assert_eq!(top_share(&counts), 152.0 / 350.0);
        assert_eq!(top_share(&[4, 1]), 0.8);
        assert!(top_share(&[]).is_nan() && top_share(&[0]).is_nan());
    }

    #[test]
    fn rank_correlation_uses_mean_ranks_for_ties() {
        let up = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(rank_correlation(&up, &[1.0, 10.0, 1e3, 1e9]), 1.0);
        assert_eq!(rank_correlation(&up, &[4.0, 3.0, 2.0, 1.0]), -1.0);
        // Ranks 1.5, 1.5, 3, 4: deviations −1, −1, .5, 1.5 against −1.5, −.5, .5, 1.5.
        let tied = rank_correlation(&up, &[7.0, 7.0, 8.0, 9.0]);
        assert!(
            (tied - 4.5 / (5.0_f64 * 4.5).sqrt()).abs() < 1e-12,
            "{tied}"
        );
        assert!(rank_correlation(&up, &[5.0; 4]).is_nan());
    }
}
