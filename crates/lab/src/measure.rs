//! How good was an order of visits?
//!
//! One file, one measure of the literature, each with the closed forms of the ideal and of the random
//! crawler beside it; and the [full solutions](pagerank) that incremental orderings are held against.
//! **Invariant:** pure functions of the order and of the true importance, which no policy ever sees.
//!
//! Hot is what is *at least* as important as a threshold, everywhere: pages tie, above all by their
//! number of backlinks, and a page that ties with the last hot one is as good as that one. Where the
//! threshold is the importance of the K-th page, ties make more than K pages hot.

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

pub use gain::Gain;
pub use pagerank::{pagerank, personalised_pagerank};

/// One measure along a crawl.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// What it measures, as `avocet lab` prints it: `p_cs`, `p_st@10`, …
    pub metric: String,
    /// Its points, by rising `x`.
    pub points: Vec<Point>,
}

/// A point of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The share of all pages that was visited.
    pub x: f64,
    /// The measure by then.
    pub value: f64,
}

/// The true importance of each page of a web, by its index.
#[derive(Debug, Clone)]
pub struct Truth {
    importance: Vec<f64>,
    /// The same, most important first.
    sorted: Vec<f64>,
    /// Whose these are; of pages that tie the first.
    ranking: Vec<usize>,
}

impl Truth {
    /// Importance that is not a number is the least there is.
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

    /// The order of the ideal crawler: the most important page first, of those that tie the first.
    pub fn ranking(&self) -> &[usize] {
        &self.ranking
    }

    /// The importance of a page.
    pub fn of(&self, page: usize) -> f64 {
        self.importance[page]
    }

    /// How many pages there are.
    pub fn pages(&self) -> usize {
        self.importance.len()
    }

    /// How many pages are at least this important.
    pub fn hot(&self, threshold: f64) -> usize {
        self.sorted.partition_point(|&value| value >= threshold)
    }

    /// The importance of the page that is in this place, counted from 1, when the most important comes
    /// first. Returns `None` beyond the last.
    pub fn of_place(&self, place: usize) -> Option<f64> {
        self.sorted.get(place.checked_sub(1)?).copied()
    }

    fn is_hot(&self, page: usize, threshold: f64) -> bool {
        self.importance[page] >= threshold
    }
}

impl Curve {
    /// A curve over the first 1, 2, … pages visited of so many.
    fn over_visits(metric: &str, pages: usize, values: impl Iterator<Item = f64>) -> Self {
        let point = |(visited, value): (usize, f64)| Point {
            x: visited as f64 / pages as f64,
            value,
        };
        Self {
            metric: metric.to_owned(),
            points: (1..).zip(values).map(point).collect(),
        }
    }

    /// The value after this share of all pages was visited, or the nearest number of pages; `None`: the
    /// crawl ended before.
    pub fn at(&self, share: f64, pages: usize) -> Option<f64> {
        let visited = ((share * pages as f64).round() as usize).max(1);
        self.points.get(visited - 1).map(|point| point.value)
    }
}

/// The pages visited, each at its first visit only: `None` is a visit that brought nothing new.
///
/// # Panics
/// If a page is none of so many.
fn first_visits(visits: &[usize], pages: usize) -> impl Iterator<Item = Option<usize>> {
    let mut seen = vec![false; pages];
    visits
        .iter()
        .map(move |&page| (!std::mem::replace(&mut seen[page], true)).then_some(page))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Importance with and without ties, up to six pages: few enough to try every order.
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

    /// All orders in which so many pages can be visited (Heap's algorithm).
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

    /// The order of an ideal crawler.
    pub(super) fn best_first(importance: &[f64]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..importance.len()).collect();
        order.sort_by(|&a, &b| importance[b].total_cmp(&importance[a]));
        order
    }

    /// The mean of a measure over all orders, point by point.
    pub(super) fn mean(pages: usize, measure: impl Fn(&[usize]) -> Curve) -> Vec<f64> {
        let orders = orders(pages);
        let mut sums = vec![0.0; pages];
        for order in &orders {
            for (sum, point) in sums.iter_mut().zip(measure(order).points) {
                *sum += point.value;
            }
        }
        sums.iter().map(|sum| sum / orders.len() as f64).collect()
    }

    pub(super) fn assert_close(found: &Curve, expected: &[f64], what: &str) {
        assert_eq!(found.points.len(), expected.len(), "{what}");
        for (point, value) in found.points.iter().zip(expected) {
            let close = (point.value - value).abs() < 1e-12;
            assert!(close, "{what}: {} at {}, not {value}", point.value, point.x);
        }
    }

    #[test]
    fn orders_are_all_and_distinct() {
        for (pages, count) in [(1, 1), (3, 6), (6, 720)] {
            let mut all = orders(pages);
            all.sort();
            all.dedup();
            assert_eq!(all.len(), count);
        }
    }

    #[test]
    fn hot_is_at_least_as_important() {
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
    fn values_are_those_of_the_nearest_page() {
        let curve = Curve::over_visits("x", 10, (1..=8).map(f64::from));
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
