//! Efficiency: the share of the t fetched pages that are good.
//!
//! Baldi, Frasconi & Smyth, "Modeling the Internet and the Web" (2003), §6.1. A page is good if it
//! is at least as good as the t-th best page (r_t of the t pages fetched are that good), or if it
//! meets a fixed target G (q_t(G) of them do). r_t/t is [P_CS](super::p_cs) at K = t under another
//! name. q_t(G)/t is [P_ST](super::p_st) in another unit: for H hot pages, it is P_ST·H/t.
//!
//! §6.1 has two misprints. "Higher than s_t" must be "at least s_t"; otherwise the ideal
//! crawler would have t − 1. The random crawler's "r_t/2 = t/N" must be r_t/t = t/N.

use super::{MetricCurve, MetricPoint, Truth, p_cs};

const NAME: &str = "efficiency";

/// Returns r_t/t of the ideal crawler.
pub fn ideal(truth: &Truth) -> MetricCurve {
    named(p_cs::ideal(truth))
}

/// Returns the expected r_t/t of the random crawler.
pub fn random(truth: &Truth) -> MetricCurve {
    named(p_cs::random(truth))
}

/// Renames a [P_CS](super::p_cs) curve to `efficiency`.
pub fn named(curve: MetricCurve) -> MetricCurve {
    MetricCurve {
        metric: NAME.to_owned(),
        ..curve
    }
}

/// Returns q_t(G)/t from the [P_ST](super::p_st) curve of the same crawl and target.
pub fn with_target(p_st: MetricCurve, truth: &Truth, target: f64) -> MetricCurve {
    let hot = truth.hot(target) as f64;
    let pages = truth.pages() as f64;
    let points = p_st.points.into_iter().map(|point| MetricPoint {
        value: point.value * hot / (point.x * pages),
        ..point
    });
    MetricCurve {
        metric: format!("{NAME}@{target}"),
        points: points.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::p_st;
    use super::super::tests::{WEBS, assert_close, best_first, mean};
    use super::*;

    /// Four pages, of which two meet the target. The crawl fetches a good, a bad and a good one.
    #[test]
    fn efficiency_with_a_target_is_the_share_of_fetched_pages_that_meet_it() {
        let truth = Truth::new(vec![9.0, 1.0, 3.0, 2.0]);
        let check = |curve: Option<MetricCurve>, expected: &[f64]| {
            let curve = with_target(curve.unwrap(), &truth, 3.0);
            assert_close(&curve, expected, "of the fetched pages");
            assert_eq!(curve.metric, "efficiency@3");
        };
        check(p_st::curve(&[0, 1, 2], &truth, 3.0), &[1.0, 0.5, 2.0 / 3.0]);
        check(p_st::ideal(&truth, 3.0), &[1.0, 1.0, 2.0 / 3.0, 0.5]);
        check(p_st::random(&truth, 3.0), &[0.5; 4]);
    }

    #[test]
    fn closed_forms_are_exact() {
        for importance in WEBS {
            let truth = Truth::new(importance.to_vec());
            let what = format!("{importance:?}");
            let curve = |order: &[usize]| named(p_cs::curve(order, &truth));
            let best = curve(&best_first(importance));
            assert_eq!(best, ideal(&truth), "{what}");
            assert_eq!(best.metric, "efficiency");
            assert_close(&random(&truth), &mean(importance.len(), curve), &what);
        }
    }
}
