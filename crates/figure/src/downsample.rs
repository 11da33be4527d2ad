//! Downsampling of long lines.

/// Returns the indexes of at most `most` points that keep the look of a curve. If the curve has no
/// more points than that, returns all indexes. If `most` is less than 3, returns the first ones.
///
/// Steinarsson, "Downsampling Time Series for Visual Representation" (2013), algorithm "largest
/// triangle three buckets". It keeps the first and the last point, and one from each of the
/// equal buckets between them. That one forms the largest triangle with the point kept before
/// and the mean of the next bucket. Unlike evenly spaced sampling, this keeps peaks.
pub(super) fn downsample(points: &[(f64, f64)], most: usize) -> Vec<usize> {
    let count = points.len();
    if count <= most || most < 3 {
        return (0..count.min(most)).collect();
    }
    let buckets = most - 2;
    let start = |bucket: usize| 1 + bucket * (count - 2) / buckets;
    let mut taken = vec![0];
    for bucket in 0..buckets {
        let next = start(bucket + 1)..start(bucket + 2).min(count);
        let next = mean(&points[next]);
        let before = points[taken[bucket]];
        let areas = (start(bucket)..start(bucket + 1))
            .map(|place| (place, twice_area(before, points[place], next)));
        let best = areas.reduce(|best, other| if other.1 > best.1 { other } else { best });
        taken.extend(best.map(|(place, _)| place));
    }
    taken.push(count - 1);
    taken
}

/// Returns the mean of at least one point.
fn mean(points: &[(f64, f64)]) -> (f64, f64) {
    let count = points.len() as f64;
    let (x, y) = points
        .iter()
        .fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
    (x / count, y / count)
}

fn twice_area(a: (f64, f64), b: (f64, f64), c: (f64, f64)) -> f64 {
    ((b.0 - a.0) * (c.1 - a.1) - (c.0 - a.0) * (b.1 - a.1)).abs()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_single_peak_is_kept() {
        let mut points: Vec<(f64, f64)> = (0..1_000).map(|x| (f64::from(x), 0.0)).collect();
        points[503].1 = 9.0;
        let taken = downsample(&points, 50);
        assert_eq!(taken.len(), 50);
        assert!(taken.contains(&503), "{taken:?}");
    }

    #[test]
    fn all_points_are_kept_if_there_are_no_more_than_allowed() {
        let points = [(0.0, 0.0), (1.0, 5.0), (2.0, 0.0)];
        assert_eq!(downsample(&points, 3), [0, 1, 2]);
        assert_eq!(downsample(&points, 200), [0, 1, 2]);
        assert_eq!(downsample(&[], 200), [] as [usize; 0]);
    }

    proptest! {
        #[test]
        fn the_result_is_in_order_and_has_both_ends_and_as_many_points_as_allowed(
            values in prop::collection::vec(0.0..100.0_f64, 0..700),
            most in 3..250_usize,
        ) {
            let points: Vec<_> = (0..).map(f64::from).zip(values).collect();
            let taken = downsample(&points, most);
            prop_assert_eq!(taken.len(), points.len().min(most));
            prop_assert!(taken.is_sorted_by(|one, next| one < next));
            prop_assert_eq!(taken.first().copied(), (!points.is_empty()).then_some(0));
            prop_assert_eq!(taken.last().copied(), points.len().checked_sub(1));
        }
    }
}
