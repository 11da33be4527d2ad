//! How is a budget of visits best spread over pages that change at different rates?
//!
//! Cho & Garcia-Molina, "Effective page refresh policies for web crawlers" (TODS 2003); the chapter's (6.22)
//! and (6.23): maximise weighted freshness, `Σ w·F(λ, f)` with `F = (f/λ)(1 − e^{−λ/f})`, for `Σ f = B`. Since
//! `∂F/∂f = g(λ/f)/λ`, every page that is visited at all has `w·g(λ/f)/λ = ω`, the price, and one with
//! `w/λ ≤ ω` is not visited: too much changes there to be caught. **Invariant:** frequencies are finite, not
//! negative, in the order of the pages, and their sum is the budget.

use super::freshness;
use super::gain::age_of_gain;

/// A page that could be visited.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demand {
    /// Changes in unit time.
    pub rate: f64,
    /// What a fresh copy is worth.
    pub weight: f64,
}

/// Visits in unit time to each page that make the weighted freshness greatest.
///
/// All are 0 if the budget is no positive finite number, or if there is nothing to gain: no page both changes and counts.
pub fn optimal(pages: &[Demand], budget: f64) -> Vec<f64> {
    let at_price = |price: f64| -> Vec<f64> {
        let each = pages.iter().map(|page| frequency(page, price));
        each.collect()
    };
    let total = |frequencies: &[f64]| frequencies.iter().sum::<f64>();
    let counts = pages.iter().filter(|page| matters(page));
    let dearest = counts.map(|page| page.weight / page.rate);
    let dearest = dearest.fold(0.0, f64::max);
    let payable = budget > 0.0 && budget.is_finite();
    if !payable || dearest == 0.0 {
        return vec![0.0; pages.len()];
    }
    // The dearest price buys nothing; a low enough one buys more than the budget.
    let (mut low, mut high) = (dearest / 2.0, dearest);
    while total(&at_price(low)) < budget {
        (low, high) = (low / 2.0, low);
    }
    while let middle = f64::midpoint(low, high)
        && low < middle
        && middle < high
    {
        if total(&at_price(middle)) >= budget {
            low = middle;
        } else {
            high = middle;
        }
    }
    // Between two neighbouring prices a page can go from nothing to λ/40 visits, where its freshness
    // is linear to the last digit: what is left of the budget is shared between the two plans.
    let (mut less, more) = (at_price(high), at_price(low));
    if total(&less) > budget {
        // The dearest price, which buys nothing, but for the rounding of `ωλ/w` below 1.
        less.fill(0.0);
    }
    let (least, most) = (total(&less), total(&more));
    let share = if most > least {
        ((budget - least) / (most - least)).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let both = less.iter().zip(&more);
    both.map(|(less, more)| less + share * (more - less))
        .collect()
}

/// The same number of visits to each page.
pub fn uniform(pages: &[Demand], budget: f64) -> Vec<f64> {
    vec![budget.max(0.0) / pages.len() as f64; pages.len()]
}

/// Visits in proportion to the changes: what one might be tempted to do. All are 0 if nothing changes.
pub fn proportional(pages: &[Demand], budget: f64) -> Vec<f64> {
    let changes: f64 = pages.iter().map(|page| page.rate).sum();
    let share = |page: &Demand| {
        if changes > 0.0 {
            budget.max(0.0) * page.rate / changes
        } else {
            0.0
        }
    };
    pages.iter().map(share).collect()
}

/// The weighted mean freshness that these frequencies give; not a number if nothing counts.
pub fn mean_freshness(pages: &[Demand], frequencies: &[f64]) -> f64 {
    let each = pages.iter().zip(frequencies);
    let fresh = each.map(|(page, &often)| page.weight * freshness::at_frequency(page.rate, often));
    fresh.sum::<f64>() / pages.iter().map(|page| page.weight).sum::<f64>()
}

/// Visits to a page at a price: `λ/g⁻¹(ωλ/w)`.
fn frequency(page: &Demand, price: f64) -> f64 {
    if !matters(page) {
        return 0.0;
    }
    page.rate / age_of_gain(price * page.rate / page.weight)
}

fn matters(page: &Demand) -> bool {
    page.rate > 0.0 && page.weight > 0.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pages(rates: &[f64]) -> Vec<Demand> {
        let page = |&rate| Demand { rate, weight: 1.0 };
        rates.iter().map(page).collect()
    }

    #[test]
    fn bk5_five_pages_and_five_visits_a_day() {
        let five = pages(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        let best = optimal(&five, 5.0);
        let expected = [1.150, 1.358, 1.354, 1.138, 0.0];
        for (found, expected) in best.iter().zip(expected) {
            assert!((found - expected).abs() < 5e-4, "{best:?}");
        }
        for (plan, expected) in [
            (best, 0.3739),
            (uniform(&five, 5.0), 0.3651),
            (proportional(&five, 5.0), 0.3167),
        ] {
            let found = mean_freshness(&five, &plan);
            assert!((found - expected).abs() < 5e-5, "{found}, not {expected}");
        }
    }

    #[test]
    fn edges_are_as_documented() {
        let some = pages(&[0.0, 1.0]);
        assert_eq!(optimal(&some, 0.0), [0.0, 0.0]);
        assert_eq!(optimal(&some, f64::NAN), [0.0, 0.0]);
        assert_eq!(optimal(&some, f64::INFINITY), [0.0, 0.0]);
        assert_eq!(optimal(&pages(&[0.0]), 5.0), [0.0]);
        assert_eq!(proportional(&pages(&[0.0]), 5.0), [0.0]);
        assert!(optimal(&[], 5.0).is_empty());
        let best = optimal(&some, 0.001);
        assert_eq!(best[0], 0.0, "what never changes is not visited");
        assert!(
            (best[1] - 0.001).abs() < 1e-18,
            "a budget below λ/40: {best:?}"
        );
        // Slow pages take what they need first; the wild one gets what is left, not all or nothing.
        let wild = optimal(&pages(&[1e-3, 1e6]), 1e-2);
        assert!(
            wild[0] > 9e-3 && (wild[0] + wild[1] - 1e-2).abs() < 1e-16,
            "{wild:?}"
        );
    }

    #[test]
    fn a_budget_far_below_the_rate_is_spent() {
        let page = Demand {
            rate: 406.427758084107,
            weight: 833.4633593817617,
        };
        let best = optimal(&[page], 1e-3);
        assert!((best[0] / 1e-3 - 1.0).abs() < 1e-9, "{best:?}");
    }

    proptest! {
        #[test]
        fn nothing_is_better_than_the_optimum(
            demands in prop::collection::vec((1e-3..1e3_f64, 1e-3..1e3_f64), 1..12),
            budget in 1e-3..1e4_f64,
            moved in 0.0..1.0_f64,
            from in 0usize..12,
            to in 0usize..12,
        ) {
            let demands: Vec<Demand> = demands.iter().map(|&(rate, weight)| Demand { rate, weight }).collect();
            let best = optimal(&demands, budget);
            prop_assert!(best.iter().all(|often| often.is_finite() && *often >= 0.0));
            prop_assert!((best.iter().sum::<f64>() / budget - 1.0).abs() < 1e-9);
            let reached = mean_freshness(&demands, &best);
            let mut other = best.clone();
            let visits = other[from % demands.len()] * moved;
            other[from % demands.len()] -= visits;
            other[to % demands.len()] += visits;
            for plan in [uniform(&demands, budget), proportional(&demands, budget), other] {
                prop_assert!((plan.iter().sum::<f64>() / budget - 1.0).abs() < 1e-9);
                prop_assert!(mean_freshness(&demands, &plan) <= reached + 1e-12);
            }
        }

        /// Cho & Garcia-Molina's theorem, for pages that count alike.
        #[test]
        fn uniform_beats_proportional(rates in prop::collection::vec(1e-3..1e3_f64, 1..12), budget in 1e-3..1e4_f64) {
            let pages = pages(&rates);
            let [even, chasing] = [uniform(&pages, budget), proportional(&pages, budget)].map(|plan| mean_freshness(&pages, &plan));
            prop_assert!(even >= chasing - 1e-12);
        }
    }
}
