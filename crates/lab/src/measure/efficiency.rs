//! Efficiency: what share of the pages fetched was worth it?
//!
//! The chapter (§6.1) has two forms. With r_t of the t pages fetched as good as the t-th best,
//! efficiency is r_t/t: that is [P_CS](super::p_cs) at K = t under another name. With a fixed target,
//! q_t(G) of the t pages fetched are hot, and it is q_t(G)/t: [P_ST](super::p_st) seen from the side of
//! the fetches instead of the hot pages.
//!
//! Two misprints. "Higher than s_t" must be "at least s_t", or the ideal crawler would have t − 1; and
//! the random crawler's "r_t/2 = t/N" is r_t/t = t/N.

use super::{Curve, Truth, first_visits, p_cs};

const NAME: &str = "efficiency";

/// r_t/t after each visit.
///
/// # Panics
/// If a visit is to no page of this web.
pub fn curve(visits: &[usize], truth: &Truth) -> Curve {
    named(p_cs::curve(visits, truth))
}

/// r_t/t of the ideal crawler.
pub fn ideal(truth: &Truth) -> Curve {
    named(p_cs::ideal(truth))
}

/// r_t/t of the random crawler, on average.
pub fn random(truth: &Truth) -> Curve {
    named(p_cs::random(truth))
}

/// q_t(G)/t after each visit.
///
/// # Panics
/// If a visit is to no page of this web.
pub fn curve_at(visits: &[usize], truth: &Truth, target: f64) -> Curve {
    let mut met = 0;
    let firsts = (1..).zip(first_visits(visits, truth.pages()));
    let values = firsts.map(|(t, page): (u32, _)| {
        met += u32::from(page.is_some_and(|page| truth.is_hot(page, target)));
        f64::from(met) / f64::from(t)
    });
    Curve::over_visits(&name_at(target), truth.pages(), values)
}

/// q_t(G)/t of the ideal crawler: 1 until all H hot pages are fetched, then H/t.
pub fn ideal_at(truth: &Truth, target: f64) -> Curve {
    let (pages, hot) = (truth.pages(), truth.hot(target));
    let values = (1..=pages).map(|t| t.min(hot) as f64 / t as f64);
    Curve::over_visits(&name_at(target), pages, values)
}

/// q_t(G)/t of the random crawler, on average: H/N at any t.
pub fn random_at(truth: &Truth, target: f64) -> Curve {
    let (pages, hot) = (truth.pages(), truth.hot(target));
    let values = (1..=pages).map(|_| hot as f64 / pages as f64);
    Curve::over_visits(&name_at(target), pages, values)
}

fn named(curve: Curve) -> Curve {
    Curve {
        metric: NAME.to_owned(),
        ..curve
    }
}

fn name_at(target: f64) -> String {
    format!("{NAME}@{target}")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{WEBS, assert_close, best_first, mean, orders};
    use super::*;

    #[test]
    fn closed_forms_are_exact() {
        for importance in WEBS {
            let truth = Truth::new(importance.to_vec());
            let (pages, order) = (importance.len(), best_first(importance));
            let what = format!("{importance:?}");
            assert_eq!(curve(&order, &truth), ideal(&truth), "{what}");
            assert_close(
                &random(&truth),
                &mean(pages, |order| curve(order, &truth)),
                &what,
            );
            for target in [0.0, 1.0, 2.0, 5.0, 9.0, 10.0] {
                let best = curve_at(&order, &truth, target);
                assert_eq!(best, ideal_at(&truth, target), "{what} at {target}");
                let mean = mean(pages, |order| curve_at(order, &truth, target));
                assert_close(&random_at(&truth, target), &mean, &what);
            }
        }
    }

    /// t · q_t(G)/t = H · P_ST: the same pages, counted from either side.
    #[test]
    fn fetches_and_hot_pages_agree() {
        let truth = Truth::new(vec![5.0, 1.0, 5.0, 1.0, 2.0]);
        for order in orders(5) {
            let shares = super::super::p_st::curve(&order, &truth, 2.0).unwrap();
            let expected: Vec<f64> = (1..)
                .zip(&shares.points)
                .map(|(t, point): (u32, _)| point.value * 3.0 / f64::from(t))
                .collect();
            assert_close(
                &curve_at(&order, &truth, 2.0),
                &expected,
                &format!("{order:?}"),
            );
        }
        assert_eq!(curve_at(&[0], &truth, 2.5).metric, "efficiency@2.5");
    }
}
