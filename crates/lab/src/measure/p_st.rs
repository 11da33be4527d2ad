//! Crawl & Stop with Threshold (P_ST): the share of the hot pages that were visited.
//!
//! Cho, Garcia-Molina & Page (1998), §3: a page is hot if it is at least as important as a
//! target G, and P_ST = (hot pages visited)/H for H hot pages. The target is a parameter, so
//! crawls can be compared at targets of any rarity (the paper's are 3, 10 and 100 backlinks).

use super::{MetricCurve, Truth, first_visits};

/// Returns P_ST after each visit; `None` if no page is hot.
///
/// # Panics
/// If a visited page is out of range.
pub fn curve(visits: &[usize], truth: &Truth, target: f64) -> Option<MetricCurve> {
    let mut met = 0;
    share(truth, target, |hot| {
        first_visits(visits, truth.pages()).map(move |page| {
            met += usize::from(page.is_some_and(|page| truth.is_hot(page, target)));
            met as f64 / hot as f64
        })
    })
}

/// Returns the curve of the ideal crawler: K/H after K visits, and 1 from K = H on.
pub fn ideal(truth: &Truth, target: f64) -> Option<MetricCurve> {
    share(truth, target, |hot| {
        (1..=truth.pages()).map(move |k| k.min(hot) as f64 / hot as f64)
    })
}

/// Returns the expected P_ST of the random crawler after K visits: K/T of T pages, whichever pages
/// are hot.
pub fn random(truth: &Truth, target: f64) -> Option<MetricCurve> {
    let pages = truth.pages();
    share(truth, target, |_| {
        (1..=pages).map(move |k| k as f64 / pages as f64)
    })
}

fn share<I: Iterator<Item = f64>>(
    truth: &Truth,
    target: f64,
    values: impl FnOnce(usize) -> I,
) -> Option<MetricCurve> {
    let hot = truth.hot(target);
    let name = format!("p_st@{target}");
    (hot > 0).then(|| MetricCurve::over_visits(&name, truth.pages(), values(hot)))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{WEBS, assert_close, best_first, mean};
    use super::*;

    #[test]
    fn closed_forms_are_exact() {
        for importance in WEBS {
            let truth = Truth::new(importance.to_vec());
            for target in [0.0, 1.0, 2.0, 2.5, 5.0, 9.0] {
                let order = best_first(importance);
                let Some(best) = curve(&order, &truth, target) else {
                    assert_eq!(truth.hot(target), 0);
                    assert_eq!(ideal(&truth, target), None);
                    assert_eq!(random(&truth, target), None);
                    continue;
                };
                assert_eq!(
                    Some(&best),
                    ideal(&truth, target).as_ref(),
                    "{importance:?}"
                );
                let measure = |order: &[usize]| curve(order, &truth, target).unwrap();
                let mean = mean(importance.len(), measure);
                let closed = random(&truth, target).unwrap();
                assert_close(&closed, &mean, &format!("{importance:?} at {target}"));
            }
        }
    }

    #[test]
    fn the_target_decides_which_pages_are_hot() {
        let truth = Truth::new(vec![1.0, 10.0, 3.0, 10.0]);
        let check = |visits: &[usize], target: f64, expected: &[f64]| {
            let found = curve(visits, &truth, target).unwrap();
            assert_close(&found, expected, &format!("{visits:?} at {target}"));
        };
        check(&[0, 1, 2, 3], 10.0, &[0.0, 0.5, 0.5, 1.0]);
        check(&[0, 1, 1, 3, 2], 10.0, &[0.0, 0.5, 0.5, 1.0, 1.0]);
        check(&[3, 2], 3.0, &[1.0 / 3.0, 2.0 / 3.0]);
        assert_eq!(curve(&[0], &truth, 10.0).unwrap().metric, "p_st@10");
        assert_eq!(curve(&[0], &truth, 11.0), None);
    }
}
