//! One price for the whole crawl, from the demand of all nodes.
//!
//! Each node announces its demand curve: the fetches per second that its pages are worth at each of
//! [`prices`]. Every node adds the curves of all, finds the price at which the sum equals the
//! budget, and spends its own demand at that price. So a fetch costs the same on every node,
//! without a leader and without a quota per node.

use policy::Price;

/// Number of prices.
const COUNT: u32 = 32;

/// Natural logarithms of the lowest and the highest price: the range in which a frontier looks for
/// its price.
const RANGE: (f64, f64) = (-34.538_776_394_910_684, 34.538_776_394_910_684);

/// Returns the prices of demand curves, rising, evenly spaced on a logarithmic scale.
pub fn prices() -> Vec<Price> {
    let step = (RANGE.1 - RANGE.0) / f64::from(COUNT - 1);
    let price = |number| Price::new((RANGE.0 + f64::from(number) * step).exp());
    (0..COUNT).filter_map(price).collect()
}

/// Returns the fetches per second that a node may make, given its own curve, the curves of the
/// other nodes and the budget of the whole crawl. Returns `None` if no curve shows any demand.
///
/// Between two prices demand is interpolated linearly. If the demand at the lowest price is below
/// the budget, the rest of the budget is divided in the same proportion. Curves of another length
/// are ignored: their nodes run another version.
pub fn share(own: &[f32], others: &[&[f32]], budget: f64) -> Option<f64> {
    let alike = others.iter().filter(|curve| curve.len() == own.len());
    let total: Vec<f64> = (0..own.len())
        .map(|at| f64::from(own[at]) + alike.clone().map(|curve| f64::from(curve[at])).sum::<f64>())
        .collect();
    if total.first().is_none_or(|most| *most <= 0.0) {
        return None;
    }
    // The last price at which demand is at least the budget.
    let at = total
        .iter()
        .rposition(|demand| *demand >= budget)
        .unwrap_or(0);
    let next = (at + 1).min(total.len() - 1);
    let steep = total[at] - total[next];
    let part = if steep > 0.0 {
        ((total[at] - budget) / steep).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let between = |here: f64, there: f64| here + (there - here) * part;
    let mine = between(f64::from(own[at]), f64::from(own[next]));
    let all = between(total[at], total[next]);
    (all > 0.0).then(|| budget * mine / all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_rise_over_the_range_of_the_frontier() {
        let prices: Vec<f64> = prices().iter().map(|price| price.value()).collect();
        assert_eq!(prices.len(), 32);
        assert!(prices.is_sorted());
        assert!((prices[0] / 1e-15 - 1.0).abs() < 1e-6 && (prices[31] / 1e15 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn shares_add_up_to_the_budget_and_go_where_pages_are_worth_more() {
        // At the third price the first node still wants 4 fetches per second, the second none.
        let (rich, poor) = ([9.0, 6.0, 4.0, 0.0], [9.0, 6.0, 0.0, 0.0]);
        for budget in [2.0, 4.0, 7.0, 12.0, 18.0, 100.0] {
            let first = share(&rich, &[&poor], budget).unwrap();
            let second = share(&poor, &[&rich], budget).unwrap();
            assert!(
                (first + second - budget).abs() < 1e-9,
                "{budget}: {first} {second}"
            );
            assert!(first >= second, "{budget}");
        }
        assert_eq!(share(&rich, &[&poor], 4.0), Some(4.0));
        assert_eq!(share(&rich, &[&poor], 18.0), Some(9.0));
    }

    #[test]
    fn a_node_without_demand_gives_its_share_away() {
        let (busy, idle) = ([5.0, 3.0], [0.0, 0.0]);
        assert_eq!(share(&idle, &[&busy], 4.0), Some(0.0));
        assert_eq!(share(&busy, &[&idle], 4.0), Some(4.0));
        assert_eq!(share(&idle, &[&idle], 4.0), None);
        assert_eq!(share(&busy, &[&[1.0]], 4.0), Some(4.0), "another version");
    }
}
