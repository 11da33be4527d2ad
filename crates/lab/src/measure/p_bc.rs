//! Limited Buffer (P_BC): the share of the kept pages that are hot.
//!
//! Cho, Garcia-Molina & Page (1998), §3: the crawler may keep B pages, and P_BC = (hot pages in
//! the buffer)/B. If a page arrives at a full buffer, the least important page is dropped, which
//! may be the new one. Among ties the newest is dropped, since replacing a page by an equal one
//! gains nothing. A page is hot if it is at least as important as the B-th most important page.
//!
//! A crawler only estimates the importance of the pages it keeps. [`curve`] takes estimates that
//! do not change; with the true values, it measures the order of visits alone. [`of_drops`]
//! takes the pages that a crawler with changing estimates dropped.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::{MetricCurve, Truth, first_visits};

/// Returns P_BC after each visit, for a crawler that keeps `size` pages and ranks them by
/// `believed`.
///
/// Returns `None` if `size` is 0 or exceeds the number of pages.
///
/// # Panics
/// If a visited page is out of range of `truth` or `believed`.
pub fn curve(
    visits: &[usize],
    truth: &Truth,
    believed: &[f64],
    size: usize,
) -> Option<MetricCurve> {
    let threshold = truth.of_place(size)?;
    let mut kept: BTreeSet<Kept> = BTreeSet::new();
    let mut hot = 0_usize;
    let firsts = first_visits(visits, truth.pages()).enumerate();
    let values = firsts.map(|(at, page)| {
        if let Some(page) = page {
            let belief = Belief(believed[page]);
            kept.insert((belief, Reverse(at), page));
            hot += usize::from(truth.is_hot(page, threshold));
        }
        if kept.len() > size
            && let Some((_, _, page)) = kept.pop_first()
        {
            hot -= usize::from(truth.is_hot(page, threshold));
        }
        hot as f64 / size as f64
    });
    Some(MetricCurve::over_visits(NAME, truth.pages(), values))
}

/// Returns P_BC after each visit, for a crawler that dropped the pages `drops`. It dropped one page
/// at each visit after the first `size` visits.
///
/// Returns `None` as [`curve`] does.
///
/// # Panics
/// If a visited or dropped page is out of range.
pub fn of_drops(
    visits: &[usize],
    drops: &[usize],
    truth: &Truth,
    size: usize,
) -> Option<MetricCurve> {
    let threshold = truth.of_place(size)?;
    let one = |page: usize| i64::from(truth.is_hot(page, threshold));
    let mut hot = 0;
    let dropped = |at: usize| drops.get(at.checked_sub(size)?).copied();
    let values = visits.iter().enumerate().map(|(at, &page)| {
        hot += one(page) - dropped(at).map_or(0, one);
        hot as f64 / size as f64
    });
    Some(MetricCurve::over_visits(NAME, truth.pages(), values))
}

/// Returns P_BC of the ideal crawler after K visits: min(K, B)/B, since at least B pages are hot.
pub fn ideal(truth: &Truth, size: usize) -> Option<MetricCurve> {
    let hot = truth.hot(truth.of_place(size)?);
    let values = (1..=truth.pages()).map(|k| k.min(hot).min(size) as f64);
    let values = values.map(|kept| kept / size as f64);
    Some(MetricCurve::over_visits(NAME, truth.pages(), values))
}

/// Returns the expected P_BC of the random crawler if it drops by true importance.
///
/// After K visits it has met X of the H hot pages, where X is hypergeometric, and keeps min(X,
/// B) of them. Without ties H = B, and the value is the K/T of the literature, where T
/// is the number of pages.
pub fn random(truth: &Truth, size: usize) -> Option<MetricCurve> {
    let (pages, hot) = (truth.pages(), truth.hot(truth.of_place(size)?));
    let values = kept_by_chance(pages, hot, size);
    let values = values.map(|kept| kept / size as f64);
    Some(MetricCurve::over_visits(NAME, pages, values))
}

const NAME: &str = "p_bc";

/// A kept page: believed importance, index of the visit, page. The first in order is dropped first:
/// the least important page and, among ties, the newest.
type Kept = (Belief, Reverse<usize>, usize);

#[derive(Debug, Clone, Copy)]
struct Belief(f64);

impl PartialEq for Belief {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Belief {}

impl Ord for Belief {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Belief {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Returns E min(X, B) after 1, 2, … draws without replacement from `pages`. X is the number of hot
/// pages drawn so far, H = `hot` is the number of all, and B = `size` is at most H.
///
/// A recurrence is used, since summing over X at every draw would take time quadratic in the
/// pages. While X < B, a draw adds a hot page with probability (H − X)/(pages left). The expected
/// increase therefore needs only P(X < B) and E(X; X < B). Both change by the probability that the
/// draw fills the buffer.
fn kept_by_chance(pages: usize, hot: usize, size: usize) -> impl Iterator<Item = f64> {
    let all = hot as f64;
    // Hot pages drawn before the one that fills the buffer.
    let before = (size - 1) as f64;
    let (mut kept, mut room, mut met) = (0.0, 1.0, 0.0);
    let draws = fillings(pages, hot, size).into_iter().enumerate();
    draws.map(move |(drawn, filled)| {
        let left = (pages - drawn) as f64;
        kept += (all * room - met) / left;
        // P(X = B − 1): one more hot page fills the buffer.
        let brink = match filled > 0.0 {
            true => filled * left / (all - before),
            false => 0.0,
        };
        met += (all * (room - brink) - (met - before * brink)) / left - before * filled;
        room -= filled;
        kept
    })
}

/// Returns, for each draw, the probability that it is the one that draws the B-th hot page.
///
/// Each value follows from its neighbour by a ratio of small numbers, from the mode outwards,
/// and the sum is normalised to 1. Binomial coefficients of a hundred thousand pages would lose
/// half of the digits.
fn fillings(pages: usize, hot: usize, size: usize) -> Vec<f64> {
    let mut chances = vec![0.0; pages];
    let (first, last) = (size - 1, size - 1 + pages - hot);
    let likely = (first * pages / hot).clamp(first, last);
    let ratio = |drawn: usize| {
        let (misses_left, misses) = ((last - drawn) as f64, (drawn - first + 1) as f64);
        misses_left / misses * (drawn + 1) as f64 / (pages - drawn - 1) as f64
    };
    chances[likely] = 1.0;
    for drawn in likely..last {
        chances[drawn + 1] = chances[drawn] * ratio(drawn);
    }
    for drawn in (first..likely).rev() {
        chances[drawn] = chances[drawn + 1] / ratio(drawn);
    }
    let total: f64 = chances.iter().sum();
    chances.iter_mut().for_each(|chance| *chance /= total);
    chances
}

#[cfg(test)]
mod tests {
    use super::super::tests::{WEBS, assert_close, best_first, mean};
    use super::*;

    #[test]
    fn closed_forms_are_exact() {
        for importance in WEBS {
            let truth = Truth::new(importance.to_vec());
            for size in 0..=7 {
                let what = format!("{importance:?}, {size}");
                let measure = |order: &[usize]| curve(order, &truth, importance, size);
                let Some(best) = measure(&best_first(importance)) else {
                    assert!(size == 0 || size > importance.len(), "{what}");
                    assert_eq!((ideal(&truth, size), random(&truth, size)), (None, None));
                    continue;
                };
                assert_eq!(Some(best), ideal(&truth, size), "{what}");
                let mean = mean(importance.len(), |order| measure(order).unwrap());
                assert_close(&random(&truth, size).unwrap(), &mean, &what);
            }
        }
    }

    #[test]
    fn a_full_crawl_that_drops_by_true_importance_ends_at_1() {
        let importance = [3.0, 9.0, 1.0, 9.0, 4.0];
        let truth = Truth::new(importance.to_vec());
        for size in 1..=5 {
            let found = curve(&[2, 0, 4, 1, 3], &truth, &importance, size).unwrap();
            assert_eq!(found.points.last().unwrap().value, 1.0, "{size}");
        }
    }

    #[test]
    fn wrong_estimates_drop_hot_pages() {
        let truth = Truth::new(vec![9.0, 8.0, 1.0, 2.0]);
        let check = |believed: [f64; 4], expected: &[f64]| {
            let found = curve(&[0, 1, 2, 3, 0], &truth, &believed, 2).unwrap();
            assert_close(&found, expected, &format!("{believed:?}"));
        };
        check([9.0, 8.0, 1.0, 2.0], &[0.5, 1.0, 1.0, 1.0, 1.0]);
        check([1.0, 2.0, 8.0, 9.0], &[0.5, 1.0, 0.5, 0.0, 0.0]);
        // All equal: the pages that came first stay.
        check([5.0; 4], &[0.5, 1.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn dropped_pages_do_not_count() {
        let truth = Truth::new(vec![9.0, 8.0, 1.0, 2.0]);
        let found = of_drops(&[2, 0, 1, 3], &[0, 3], &truth, 2).unwrap();
        assert_close(&found, &[0.0, 0.5, 0.5, 0.5], "the best was dropped");
        assert_eq!(of_drops(&[2], &[2], &truth, 0), None);
    }

    #[test]
    fn the_recurrence_is_accurate_for_100_000_pages() {
        // Half of a hundred thousand pages are hot, because they tie with the thousandth page; the
        // buffer has 1,000 places. After 1,000 visits about 500 hot pages are kept, and the buffer
        // is practically never full of them. After 4,000 visits it practically always is.
        let kept: Vec<f64> = kept_by_chance(100_000, 50_000, 1_000).collect();
        for (drawn, expected) in [
            (1, 0.5),
            (1_000, 500.0),
            (4_000, 1_000.0),
            (100_000, 1_000.0),
        ] {
            let found = kept[drawn - 1];
            assert!((found / expected - 1.0).abs() < 1e-9, "{drawn}: {found}");
        }
        // At the critical point: E min(X, 1000) after 2,000 draws, with X = 1000 ± 22.14 and
        // nearly normal, is 1000 − 22.14/√(2π).
        assert!(
            (kept[1_999] - (1_000.0 - 8.83)).abs() < 0.02,
            "{}",
            kept[1_999]
        );
    }
}
