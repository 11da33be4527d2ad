//! Crawl & Stop (P_CS): the share of the K visited pages that are at least as good as the K-th
//! best.
//!
//! Cho, Garcia-Molina & Page, "Efficient crawling through URL ordering" (1998), §3: the crawler
//! stops after K pages, and P_CS = M/K, where M of them are at least as important as the K-th
//! most important page of the web. (The authors' slides call it P_ST, the name of the measure
//! with a threshold.)

use super::{MetricCurve, Truth, first_visits};

const NAME: &str = "p_cs";

/// Returns P_CS of a crawl that stops after K visits, for every K up to the last visit or page.
///
/// # Panics
/// If a visited page is out of range.
pub fn curve(visits: &[usize], truth: &Truth) -> MetricCurve {
    let pages = truth.pages();
    let mut colder = truth.ranking().iter().copied().peekable();
    let mut visited = vec![false; pages];
    let mut met = 0;
    let steps = first_visits(visits, pages).zip(&truth.sorted);
    let values = (1..).zip(steps).map(|(k, (page, &threshold)): (u32, _)| {
        // The threshold falls with K, so pages visited earlier can become hot.
        while let Some(hot) = colder.next_if(|&page| truth.is_hot(page, threshold)) {
            met += u32::from(visited[hot]);
        }
        if let Some(page) = page {
            visited[page] = true;
            met += u32::from(truth.is_hot(page, threshold));
        }
        f64::from(met) / f64::from(k)
    });
    MetricCurve::over_visits(NAME, pages, values)
}

/// Returns the curve of the ideal crawler, which visits only hot pages: 1 for every K.
pub fn ideal(truth: &Truth) -> MetricCurve {
    MetricCurve::over_visits(NAME, truth.pages(), truth.sorted.iter().map(|_| 1.0))
}

/// Returns the expected P_CS of the random crawler: H/T, where H of T pages are at least as
/// important as the K-th. Without ties that is the K/T of the literature.
pub fn random(truth: &Truth) -> MetricCurve {
    let pages = truth.pages();
    let values = truth.sorted.iter();
    let values = values.map(|&threshold| truth.hot(threshold) as f64 / pages as f64);
    MetricCurve::over_visits(NAME, pages, values)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{WEBS, assert_close, best_first, mean, orders};
    use super::*;

    /// Returns P_CS for one K, directly from the definition.
    fn defined(visits: &[usize], importance: &[f64], k: usize) -> f64 {
        let mut sorted = importance.to_vec();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let good = |&&page: &&usize| importance[page] >= sorted[k - 1];
        visits[..k].iter().filter(good).count() as f64 / k as f64
    }

    #[test]
    fn closed_forms_are_exact() {
        for importance in WEBS {
            let truth = Truth::new(importance.to_vec());
            let pages = importance.len();
            let best = curve(&best_first(importance), &truth);
            assert_eq!(best, ideal(&truth), "{importance:?}");
            let mean = mean(pages, |order| curve(order, &truth));
            assert_close(&random(&truth), &mean, &format!("{importance:?}"));
            for order in orders(pages) {
                let expected = (1..=pages).map(|k| defined(&order, importance, k));
                let expected: Vec<f64> = expected.collect();
                assert_close(&curve(&order, &truth), &expected, &format!("{order:?}"));
            }
        }
        // Without ties the random crawler is the diagonal.
        let distinct = Truth::new(vec![4.0, 3.0, 2.0, 1.0]);
        assert_close(&random(&distinct), &[0.25, 0.5, 0.75, 1.0], "K/T");
    }

    #[test]
    fn a_repeated_visit_counts_as_a_visit_but_adds_no_page() {
        let truth = Truth::new(vec![3.0, 2.0, 1.0]);
        assert_close(
            &curve(&[0, 0, 1, 2], &truth),
            &[1.0, 0.5, 2.0 / 3.0],
            "twice",
        );
        assert_close(&curve(&[2], &truth), &[0.0], "one visit");
        assert_close(&curve(&[], &Truth::new(Vec::new())), &[], "nothing");
    }
}
