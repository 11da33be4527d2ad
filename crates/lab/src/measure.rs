//! Measures of a crawl, one module per measure of the literature.
//!
//! Most come with the closed forms of the ideal and the random crawler. [`pagerank()`] computes
//! the exact solutions that incremental orderings are compared with.
//!
//! **Invariant:** measures are pure functions of what a crawl did and of the truth, which no
//! policy sees.
//!
//! A page is *hot* if it is *at least* as important as a threshold. Ties are frequent, above all
//! in backlink counts, and a page that ties with the last hot page is as good as that page. If
//! the threshold is the importance of the K-th page, ties make more than K pages hot.

pub mod clusters;
pub mod efficiency;
mod gain;
pub mod mass;
pub mod p_bc;
pub mod p_cs;
pub mod p_st;
mod pagerank;
pub mod profit;
pub mod quality;
pub mod recency;

pub use gain::QualityGain;
pub use pagerank::{pagerank, personalised_pagerank};

/// A measure as a function of the progress of a crawl.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricCurve {
    /// Name of the measure, as `avocet lab` prints it: `p_cs`, `p_st@10`, …
    pub metric: String,
    /// Points in order of rising `x`.
    pub points: Vec<MetricPoint>,
}

/// A point of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricPoint {
    /// Number of visits so far, divided by the number of pages.
    pub x: f64,
    /// Value of the measure at that point.
    pub value: f64,
}

/// True importance of each page of a web, by its index.
#[derive(Debug, Clone)]
pub struct Truth {
    importance: Vec<f64>,
    /// The same values in falling order.
    sorted: Vec<f64>,
    /// The pages in that order; ties by rising index.
    ranking: Vec<usize>,
}

impl Truth {
    /// Creates the truth from the importance of each page. NaN counts as negative infinity.
    pub fn new(importance: Vec<f64>) -> Self {
        let importance: Vec<f64> = importance
            .into_iter()
            .map(|value| {
                if value.is_nan() {
                    f64::NEG_INFINITY
                } else {
                    value
                }
            })
            .collect();
        let mut ranking: Vec<usize> = (0..importance.len()).collect();
        ranking.sort_by(|&a, &b| importance[b].total_cmp(&importance[a]));
        let sorted = ranking.iter().map(|&page| importance[page]).collect();
        Self {
            importance,
            sorted,
            ranking,
        }
    }

    /// Returns the order of the ideal crawler: most important first, ties by rising index.
    pub fn ranking(&self) -> &[usize] {
        &self.ranking
    }

    /// Returns the importance of a page.
    pub fn of(&self, page: usize) -> f64 {
        self.importance[page]
    }

    /// Returns the number of pages.
    pub fn pages(&self) -> usize {
        self.importance.len()
    }

    /// Returns the number of pages that are at least this important.
    pub fn hot(&self, threshold: f64) -> usize {
        self.sorted.partition_point(|&value| value >= threshold)
    }

    /// Returns the importance of the page at this rank, counted from 1; `None` for rank 0 and
    /// beyond the last rank.
    pub fn of_place(&self, place: usize) -> Option<f64> {
        self.sorted.get(place.checked_sub(1)?).copied()
    }

    fn is_hot(&self, page: usize, threshold: f64) -> bool {
        self.importance[page] >= threshold
    }
}

impl MetricCurve {
    /// Creates a curve over the first 1, 2, … visits in a web of `pages` pages.
    fn over_visits(metric: &str, pages: usize, values: impl Iterator<Item = f64>) -> Self {
        let point = |(visited, value): (usize, f64)| MetricPoint {
            x: visited as f64 / pages as f64,
            value,
        };
        Self {
            metric: metric.to_owned(),
            points: (1..).zip(values).map(point).collect(),
        }
    }

    /// Returns the value after this share of all `pages` as visits, rounded to a whole number of at
    /// least one. `None` if the crawl ended earlier.
    pub fn at(&self, share: f64, pages: usize) -> Option<f64> {
        let visited = ((share * pages as f64).round() as usize).max(1);
        self.points.get(visited - 1).map(|point| point.value)
    }
}

/// Maps each visit to its page, or to `None` if the page was visited before.
///
/// # Panics
/// If a page is out of range.
fn first_visits(visits: &[usize], pages: usize) -> impl Iterator<Item = Option<usize>> {
    let mut seen = vec![false; pages];
    visits
        .iter()
        .map(move |&page| (!std::mem::replace(&mut seen[page], true)).then_some(page))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Importances with and without ties. At most six pages, so that every order can be tried.
    pub(super) const WEBS: [&[f64]; 8] = [
        &[1.0],
        &[3.0, 1.0],
        &[2.0, 2.0, 2.0],
        &[5.0, 1.0, 3.0, 2.0],
        &[5.0, 1.0, 5.0, 1.0, 1.0],
        &[0.0, 7.0, 7.0, 7.0, 1.0],
        &[6.0, 5.0, 4.0, 3.0, 2.0, 1.0],
        &[9.0, 2.0, 2.0, 2.0, 0.0, 0.0],
    ];

    /// Returns all permutations of the pages (Heap's algorithm).
    pub(super) fn orders(pages: usize) -> Vec<Vec<usize>> {
        fn permute(left: usize, order: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
            if left <= 1 {
                all.push(order.clone());
                return;
            }
            for n in 0..left {
                permute(left - 1, order, all);
                order.swap(if left.is_multiple_of(2) { n } else { 0 }, left - 1);
            }
        }
        let mut all = Vec::new();
        permute(pages, &mut (0..pages).collect(), &mut all);
        all
    }

    /// Returns the order of an ideal crawler.
    pub(super) fn best_first(importance: &[f64]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..importance.len()).collect();
        order.sort_by(|&a, &b| importance[b].total_cmp(&importance[a]));
        order
    }

    /// Returns the mean of a measure over all orders, point by point.
    pub(super) fn mean(pages: usize, measure: impl Fn(&[usize]) -> MetricCurve) -> Vec<f64> {
        let orders = orders(pages);
        let mut sums = vec![0.0; pages];
        for order in &orders {
            for (sum, point) in sums.iter_mut().zip(measure(order).points) {
                *sum += point.value;
            }
        }
        sums.iter().map(|sum| sum / orders.len() as f64).collect()
    }

    pub(super) fn assert_close(found: &MetricCurve, expected: &[f64], what: &str) {
        assert_eq!(found.points.len(), expected.len(), "{what}");
        for (point, value) in found.points.iter().zip(expected) {
            let close = (point.value - value).abs() < 1e-12;
            assert!(close, "{what}: {} at {}, not {value}", point.value, point.x);
        }
    }

    #[test]
    fn orders_returns_every_permutation_once() {
        for (pages, count) in [(1, 1), (3, 6), (6, 720)] {
            let mut all = orders(pages);
            all.sort();
            all.dedup();
            assert_eq!(all.len(), count);
        }
    }

    #[test]
    fn hot_pages_are_at_least_as_important_as_the_threshold() {
        let truth = Truth::new(vec![1.0, f64::NAN, 3.0, 3.0, 2.0]);
        for (threshold, hot) in [(4.0, 0), (3.0, 2), (2.5, 2), (1.0, 4), (f64::MIN, 4)] {
            assert_eq!(truth.hot(threshold), hot, "{threshold}");
        }
        let places: Vec<Option<f64>> = (0..=6).map(|place| truth.of_place(place)).collect();
        let least = Some(f64::NEG_INFINITY);
        let expected = [
            None,
            Some(3.0),
            Some(3.0),
            Some(2.0),
            Some(1.0),
            least,
            None,
        ];
        assert_eq!(places, expected);
    }

    #[test]
    fn values_are_read_at_the_nearest_whole_number_of_visits() {
        let curve = MetricCurve::over_visits("x", 10, (1..=8).map(f64::from));
        for (share, expected) in [
            (0.01, Some(1.0)),
            (0.24, Some(2.0)),
            (0.26, Some(3.0)),
            (0.8, Some(8.0)),
            (0.9, None),
        ] {
            assert_eq!(curve.at(share, 10), expected, "{share}");
        }
    }
}
