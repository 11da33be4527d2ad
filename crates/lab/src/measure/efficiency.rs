//! Efficiency: the share of the t fetched pages that are at least as good as the t-th best page.
//!
//! Baldi, Frasconi & Smyth, "Modeling the Internet and the Web" (2003), §6.1: if r_t of the
//! t pages fetched are that good, efficiency is r_t/t. This is [P_CS](super::p_cs) at K = t under
//! another name. The second form of §6.1, with a fixed target, adds nothing to
//! [P_ST](super::p_st): for H hot pages, it is P_ST·H/t.
//!
//! §6.1 has two misprints. "Higher than s_t" must be "at least s_t"; otherwise the ideal
//! crawler would have t − 1. The random crawler's "r_t/2 = t/N" must be r_t/t = t/N.

use super::{MetricCurve, Truth, p_cs};

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

#[cfg(test)]
mod tests {
    use super::super::tests::{WEBS, assert_close, best_first, mean};
    use super::*;

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
