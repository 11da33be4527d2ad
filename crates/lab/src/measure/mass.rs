//! Mass: the share of all importance that the visited pages hold.
//!
//! The measure of RankMass (Cho & Schonfeld, VLDB 2007) and of Baeza-Yates et al., "Crawling a
//! country" (WWW 2005). It has no threshold between hot and other pages, so all pages count. For
//! PageRank, `avocet lab` prints it as `pagerank_mass`.

use super::{MetricCurve, Truth, first_visits};

/// Returns the share after each visit; `None` if the total importance is zero or not finite.
///
/// # Panics
/// If a visited page is out of range.
pub fn curve(metric: &str, visits: &[usize], truth: &Truth) -> Option<MetricCurve> {
    let total = total(truth)?;
    let mut held = 0.0;
    let values = first_visits(visits, truth.pages()).map(|page| {
        held += page.map_or(0.0, |page| truth.of(page));
        held / total
    });
    Some(MetricCurve::over_visits(metric, truth.pages(), values))
}

/// Returns the curve of the ideal crawler: after K visits, the sum of the K largest values divided
/// by the total.
pub fn ideal(metric: &str, truth: &Truth) -> Option<MetricCurve> {
    curve(metric, truth.ranking(), truth)
}

/// Returns the expected share of the random crawler after K visits: K/T of T pages, for any
/// distribution.
pub fn random(metric: &str, truth: &Truth) -> Option<MetricCurve> {
    let pages = truth.pages();
    let values = (1..=pages).map(|k| k as f64 / pages as f64);
    total(truth).map(|_| MetricCurve::over_visits(metric, pages, values))
}

fn total(truth: &Truth) -> Option<f64> {
    // Summed in the order of the ideal crawler, so that its last point is exactly 1.
    let total: f64 = truth.sorted.iter().sum();
    (total > 0.0 && total.is_finite()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{WEBS, assert_close, mean};
    use super::*;

    #[test]
    fn closed_forms_are_exact() {
        for importance in WEBS {
            let truth = Truth::new(importance.to_vec());
            let measure = |order: &[usize]| curve("mass", order, &truth).unwrap();
            let mean = mean(importance.len(), measure);
            let closed = random("mass", &truth).unwrap();
            assert_close(&closed, &mean, &format!("{importance:?}"));
        }
        let truth = Truth::new(vec![1.0, 5.0, 2.0]);
        let best = ideal("mass", &truth).unwrap();
        assert_close(&best, &[0.625, 0.875, 1.0], "the largest first");
    }

    #[test]
    fn a_zero_or_infinite_total_gives_no_curve_and_a_page_counts_once() {
        assert_eq!(curve("mass", &[0], &Truth::new(vec![0.0])), None);
        let wrong = Truth::new(vec![f64::NAN, 1.0]);
        assert_eq!(random("mass", &wrong), None);
        let twice = Truth::new(vec![1.0, 3.0]);
        let found = curve("mass", &[0, 0, 1], &twice).unwrap();
        assert_close(&found, &[0.25, 0.25, 1.0], "a page counts once");
    }
}
