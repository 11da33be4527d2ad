//! Efficiency: what share of the pages fetched was worth it?
//!
//! With r_t of the t pages fetched as good as the t-th best, the chapter's (§6.1) efficiency is r_t/t: that is
//! [P_CS](super::p_cs) at K = t under another name. Its other form, with a fixed target, says no more than
//! [P_ST](super::p_st): of H hot pages, it is P_ST·H/t.
//!
//! Two misprints. "Higher than s_t" must be "at least s_t", or the ideal crawler would have t − 1; and
//! the random crawler's "r_t/2 = t/N" is r_t/t = t/N.

use super::{Curve, Truth, p_cs};

const NAME: &str = "efficiency";

/// r_t/t of the ideal crawler.
pub fn ideal(truth: &Truth) -> Curve {
    named(p_cs::ideal(truth))
}

/// r_t/t of the random crawler, on average.
pub fn random(truth: &Truth) -> Curve {
    named(p_cs::random(truth))
}

/// [P_CS](super::p_cs) under the chapter's name.
pub fn named(curve: Curve) -> Curve {
    Curve {
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
