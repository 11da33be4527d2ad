//! The optimal allocation of a budget of visits to pages that change at different rates.
//!
//! Cho & Garcia-Molina, "Effective page refresh policies for web crawlers" (TODS 2003); Baldi,
//! Frasconi & Smyth (2003), (6.22) and (6.23). Maximise the weighted freshness `Σ w·F(λ, f)` with
//! `F = (f/λ)(1 − e^{−λ/f})`, subject to `Σ f = B`. Since `∂F/∂f = g(λ/f)/λ`, every visited
//! page has `w·g(λ/f)/λ = ω`, the price (Lagrange multiplier). A page with `w/λ ≤ ω` is not
//! visited: for its weight it changes too often to keep its copy fresh.
//!
//! Budget and frequencies are in visits per unit of time.
//!
//! **Invariant:** frequencies are finite, not negative and in the order of the pages. Unless all
//! are 0, they sum to the budget.

use super::freshness;
use super::gain::age_of_gain;

/// A page that could be visited.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demand {
    /// Changes per unit of time.
    pub rate: f64,
    /// The worth of a fresh copy per unit of time.
    pub weight: f64,
}

/// Returns the visits per unit of time to each page that maximise the weighted freshness.
///
/// All are 0 if the budget is not positive and finite, or if no page has both a rate and a
/// weight above 0.
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
    // The highest price buys nothing; a sufficiently low one buys more than the budget.
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
    // Between two neighbouring prices the frequency of a page can jump from 0 to λ/40. In between,
    // its freshness is linear to the last digit of a double. The frequencies are therefore
    // interpolated between the plans of the two prices, so that they use up the budget.
    let (mut less, more) = (at_price(high), at_price(low));
    if total(&less) > budget {
        // At the highest price no page is visited. The plan contains visits only because
        // rounding made `ωλ/w` less than 1.
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

/// Returns the same frequency for each page.
pub fn uniform(pages: &[Demand], budget: f64) -> Vec<f64> {
    vec![budget.max(0.0) / pages.len() as f64; pages.len()]
}

/// Returns frequencies in proportion to the change rates. All are 0 if nothing changes.
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

/// Returns the weighted mean freshness of these frequencies; NaN if all weights are 0.
pub fn mean_freshness(pages: &[Demand], frequencies: &[f64]) -> f64 {
    let each = pages.iter().zip(frequencies);
    let fresh = each.map(|(page, &often)| page.weight * freshness::at_frequency(page.rate, often));
    fresh.sum::<f64>() / pages.iter().map(|page| page.weight).sum::<f64>()
}

/// Returns the frequency of visits to a page at a price: `λ/g⁻¹(ωλ/w)`.
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
    fn bk5_plans_of_five_visits_to_five_pages_equal_the_published_ones() {
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
    fn no_page_is_visited_without_a_budget_or_a_change_and_small_budgets_are_spent() {
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
        // The slow page gets what it needs first; the fast page gets the rest of the budget.
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
        fn no_other_plan_is_better_than_the_optimum(
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

        /// Cho & Garcia-Molina's theorem, for pages of equal weight.
        #[test]
        fn uniform_is_at_least_as_fresh_as_proportional(rates in prop::collection::vec(1e-3..1e3_f64, 1..12), budget in 1e-3..1e4_f64) {
            let pages = pages(&rates);
            let [even, chasing] = [uniform(&pages, budget), proportional(&pages, budget)].map(|plan| mean_freshness(&pages, &plan));
            prop_assert!(even >= chasing - 1e-12);
        }
    }
}
