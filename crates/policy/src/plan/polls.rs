//! How often is each content source polled, if the pages that polls find must be fetched too?
//!
//! Lefortier et al., "Timely crawling of high-quality ephemeral new content" (2013), Algorithm 1. A source that is polled every I seconds costs `1/I + λ`
//! fetches a second and gives `p·(1 − e^{−μI})/I` with `p = P/(1 − e^{−μ/λ})`; so each source that is polled at all has `p·g(μI) = ω`, the price, and one with
//! `p ≤ ω` is off. **Invariant:** intervals are above 0 and in the order of the sources; no plan spends more than the budget.
//!
//! Two misprints are put right. The divisor inside g⁻¹ is the capital P: `ω/p = ω(1 − e^{−μ/λ})/P`. And the loop must not wait for the sum to meet the budget:
//! as ω passes p of a source its `1/I` has gone to 0 smoothly, but its λ falls out of the sum at once, so that the sum jumps. The loop also ends when ω is known
//! to the last digits; what is left of the budget then is less than λ of the source that the next lower price would switch on.

use super::gain::age_of_gain;

/// What is expected of a source.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlook {
    /// λ: new pages that it names, a second.
    pub rate: f64,
    /// P: what a new page gives that is fetched as it appears. Clicks, or what stands for them.
    pub profit: f64,
    /// μ: profit decays as `e^(-μ·age)`, with the age in seconds.
    pub decay: f64,
}

/// How near to the budget is near enough, as a share of it.
const PRECISION: f64 = 1e-9;

/// How well the price is known when the sum jumps there, as a share of it.
const WIDTH: f64 = 1e-13;

/// How long each source is left alone, and the price at which that is so.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Polls {
    /// ω; `None` if nothing is polled.
    pub price: Option<f64>,
    /// I in seconds, by source; `None`: for ever.
    pub intervals: Vec<Option<f64>>,
}

/// What fetches are paid from the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pays {
    /// Polls and the pages that they find: `Σ 1/I + λ`, over the sources that are on.
    PollsAndPages,
    /// Polls alone.
    Polls,
}

/// The intervals at which sources give most for so many fetches a second.
///
/// A source with no profit, no decay or anything that is no finite number is off. One with λ = 0 is not: the printed sum counts a page at each poll, so that `p = P`.
/// Nothing is polled if the budget is no positive number.
pub fn optimal(sources: &[Outlook], per_second: f64, pays: Pays) -> Polls {
    let heights: Vec<Height> = sources
        .iter()
        .map(|source| Height::of(source, pays))
        .collect();
    let price = price(&heights, per_second);
    let interval = |height: &Height| price.and_then(|price| height.interval(price));
    Polls {
        price: price.filter(|&price| heights.iter().any(|height| height.top > price)),
        intervals: heights.iter().map(interval).collect(),
    }
}

/// What all polls of a source could give at most, `p = P/(1 − e^{−μ/λ})`; with λ = 0 it is P, the limit.
pub fn height(source: &Outlook) -> f64 {
    let share = -(-source.decay / source.rate).exp_m1();
    (source.profit / share).min(f64::MAX)
}

/// A source, as the search for the price needs it.
#[derive(Debug, Clone, Copy)]
struct Height {
    /// p; 0 for a source that is off at any price.
    top: f64,
    decay: f64,
    /// What it costs beside polls.
    rate: f64,
}

impl Height {
    fn of(source: &Outlook, pays: Pays) -> Self {
        let counts = |value: f64| value > 0.0 && value.is_finite();
        let on = counts(source.profit)
            && counts(source.decay)
            && (source.rate == 0.0 || counts(source.rate));
        Self {
            top: if on { height(source) } else { 0.0 },
            decay: source.decay,
            rate: match pays {
                Pays::PollsAndPages => source.rate,
                Pays::Polls => 0.0,
            },
        }
    }

    fn interval(&self, price: f64) -> Option<f64> {
        let interval = age_of_gain(price / self.top) / self.decay;
        (self.top > price && interval.is_finite()).then(|| interval.max(f64::MIN_POSITIVE))
    }
}

/// Fetches a second at a price.
fn spent(heights: &[Height], price: f64) -> f64 {
    let on = heights.iter().filter(|height| height.top > price);
    let each = on.map(|height| match height.interval(price) {
        Some(interval) => 1.0 / interval + height.rate,
        None => 0.0,
    });
    each.sum()
}

/// The lowest price at which no more is spent than there is.
///
/// Spending falls about as `1/√ω`, so `1/spent²` is near to a line in ω: the next price is where the line through both ends (of which one that stays is weighed less: the
/// Illinois rule) meets the budget, or, whenever three such steps did not halve the bracket, its middle.
fn price(heights: &[Height], budget: f64) -> Option<f64> {
    let dearest = heights.iter().map(|height| height.top).fold(0.0, f64::max);
    if !(budget > 0.0 && budget.is_finite()) || dearest == 0.0 {
        return None;
    }
    let over = |spent: f64| (budget / spent).powi(2) - 1.0;
    let (mut high, mut above) = (dearest, f64::INFINITY);
    let (mut low, mut below) = (dearest / 4.0, over(spent(heights, dearest / 4.0)));
    while below > 0.0 {
        if low < f64::MIN_POSITIVE {
            return Some(high);
        }
        (high, above) = (low, below);
        // On the line through the origin, and twice as far.
        low = (low / 4.0).min(low / (1.0 + below) / 2.0);
        below = over(spent(heights, low));
    }
    let (mut steps, mut width) = (0, high - low);
    while high - low > WIDTH * high {
        steps += 1;
        let line = low + (high - low) * (below / (below - above));
        let halve = steps % 3 == 0 && high - low > width / 2.0;
        if steps % 3 == 0 {
            width = high - low;
        }
        let next = match line > low && line < high && !halve {
            true => line,
            false => f64::midpoint(low, high),
        };
        if next <= low || next >= high {
            break;
        }
        let found = over(spent(heights, next));
        if (0.0..PRECISION).contains(&found) {
            return Some(next);
        }
        if found < 0.0 {
            (low, below, above) = (next, found, above / 2.0);
        } else {
            (high, above, below) = (next, found, below / 2.0);
        }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::plan::gain::gain;

    fn source(rate: f64, profit: f64, decay: f64) -> Outlook {
        Outlook {
            rate,
            profit,
            decay,
        }
    }

    /// Sources as different as the paper's: rates, profits and decays over many orders of magnitude.
    fn sources() -> impl Strategy<Value = Vec<Outlook>> {
        let one = (-14.0..-3.0_f64, -7.0..7.0_f64, -13.0..-7.0_f64);
        let one =
            one.prop_map(|(rate, profit, decay)| source(rate.exp(), profit.exp(), decay.exp()));
        prop::collection::vec(one, 1..40)
    }

    /// What a plan costs a second.
    fn cost(sources: &[Outlook], plan: &Polls) -> f64 {
        let on = sources.iter().zip(&plan.intervals);
        on.filter_map(|(source, interval)| Some(1.0 / (*interval)? + source.rate))
            .sum()
    }

    #[test]
    fn two_sources_by_hand() {
        // p·g(μI) is the same for both, and the budget is spent: checked with the equations, not with this code.
        let two = [source(1e-3, 1.0, 1e-4), source(1e-4, 1.0, 1e-4)];
        let plan = optimal(&two, 0.01, Pays::PollsAndPages);
        let price = plan.price.unwrap();
        let [one, other] = [plan.intervals[0].unwrap(), plan.intervals[1].unwrap()];
        assert!((1.0 / one + 1.0 / other + 1.1e-3 - 0.01).abs() < 1e-9);
        let tops = [
            1.0 / (1.0 - (-0.1_f64).exp()),
            1.0 / (1.0 - (-1.0_f64).exp()),
        ];
        for (interval, top) in [one, other].into_iter().zip(tops) {
            let x = 1e-4 * interval;
            let worth = top * (1.0 - (1.0 + x) * (-x).exp());
            assert!((worth / price - 1.0).abs() < 1e-9, "{worth}, {price}");
        }
        assert!(one < other, "where more is new is polled more often");
        let half = optimal(&two, 0.01, Pays::Polls);
        let polls: f64 = half
            .intervals
            .iter()
            .map(|interval| 1.0 / interval.unwrap())
            .sum();
        assert!((polls - 0.01).abs() < 1e-9, "pages are not paid for");
    }

    #[test]
    fn edges_are_as_documented() {
        let none = optimal(&[], 1.0, Pays::PollsAndPages);
        assert_eq!(none, Polls::default());
        let good = source(1e-4, 1.0, 1e-5);
        for budget in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let plan = optimal(&[good], budget, Pays::PollsAndPages);
            assert_eq!((plan.price, plan.intervals), (None, vec![None]), "{budget}");
        }
        for off in [
            source(1e-4, 0.0, 1e-5),
            source(1e-4, 1.0, 0.0),
            source(1e-4, f64::NAN, 1e-5),
            source(f64::INFINITY, 1.0, 1e-5),
            source(-1.0, 1.0, 1e-5),
        ] {
            let plan = optimal(&[off, good], 0.1, Pays::PollsAndPages);
            assert_eq!(plan.intervals[0], None, "{off:?}");
            assert!(plan.intervals[1].is_some());
        }
        assert_eq!(height(&source(0.0, 3.0, 1e-5)), 3.0, "λ = 0: the limit");
        assert!(
            (height(&source(1e3, 3.0, 1e-5)) / 3e8 - 1.0).abs() < 1e-6,
            "λP/μ"
        );
    }

    #[test]
    fn a_source_too_large_for_the_budget_is_off_and_the_rest_is_spent_as_far_as_the_jump() {
        // The large one would take a page a second: ten times the budget. The others are polled at its price, which is as high as it can be.
        let large = source(1.0, 1.0, 1e-4);
        let small = source(1e-4, 1.0, 1e-4);
        let plan = optimal(&[large, small], 0.1, Pays::PollsAndPages);
        assert_eq!(plan.intervals[0], None);
        let spent = cost(&[large, small], &plan);
        assert!(spent <= 0.1 && spent + large.rate > 0.1, "{spent}");
        let price = plan.price.unwrap_or(height(&large));
        assert!((price / height(&large) - 1.0).abs() < 1e-9, "{plan:?}");
    }

    proptest! {
        #[test]
        fn the_price_is_one_for_all_and_the_budget_is_met(sources in sources(), budget in -9.0..3.0_f64) {
            let budget = budget.exp();
            let plan = optimal(&sources, budget, Pays::PollsAndPages);
            let spent = cost(&sources, &plan);
            prop_assert!(spent <= budget * (1.0 + 1e-12), "{} of {}", spent, budget);
            // KKT: p·g(μI) = ω where polls are made, p ≤ ω where none are.
            let price = plan.price.unwrap_or(f64::INFINITY);
            for (source, interval) in sources.iter().zip(&plan.intervals) {
                match interval {
                    Some(interval) => {
                        prop_assert!(interval.is_finite() && *interval > 0.0);
                        let worth = height(source) * gain(source.decay * interval);
                        prop_assert!((worth / price - 1.0).abs() < 1e-6, "{} is not {}", worth, price);
                    }
                    None => prop_assert!(height(source) <= price * (1.0 + 1e-12)),
                }
            }
            // Met, or short of it by less than the sources need that are next to be switched on: their pages, and the rarest polls that
            // can be told from none, since 1 − g(30) is all that the price's digits can show.
            if spent < budget * (1.0 - 1e-6) {
                let off = sources.iter().zip(&plan.intervals).filter(|(_, interval)| interval.is_none());
                let next = off.clone().map(|(source, _)| height(source)).fold(0.0, f64::max);
                let jump: f64 = off.filter(|(source, _)| height(source) >= next * (1.0 - 1e-9)).map(|(source, _)| source.rate + source.decay / 30.0).sum();
                prop_assert!(spent + jump > budget * (1.0 - 1e-6), "{} and {} of {}", spent, jump, budget);
                prop_assert!(plan.price.is_none_or(|price| price <= next * (1.0 + 1e-9)), "the price is where the sum jumps");
            }
        }

        #[test]
        fn more_fetches_never_make_anybody_wait_longer(sources in sources(), budget in -9.0..3.0_f64, more in 1.0..5.0_f64) {
            let [less, more] = [budget.exp(), budget.exp() * more].map(|budget| optimal(&sources, budget, Pays::PollsAndPages));
            let [dear, cheap] = [&less, &more].map(|plan| plan.price.unwrap_or(f64::INFINITY));
            prop_assert!(cheap <= dear * (1.0 + 1e-9), "{} after {}", cheap, dear);
            for (less, more) in less.intervals.iter().zip(&more.intervals) {
                let [long, short] = [less, more].map(|interval| interval.unwrap_or(f64::INFINITY));
                prop_assert!(short <= long * (1.0 + 1e-6), "{} after {}", short, long);
            }
        }

        #[test]
        fn no_number_breaks_it(
            sources in prop::collection::vec((any::<f64>(), any::<f64>(), any::<f64>()), 0..8),
            budget in any::<f64>(),
        ) {
            let sources: Vec<Outlook> = sources.into_iter().map(|(rate, profit, decay)| source(rate.abs(), profit.abs(), decay.abs())).collect();
            let plan = optimal(&sources, budget.abs(), Pays::PollsAndPages);
            prop_assert!(plan.intervals.iter().flatten().all(|interval| interval.is_finite() && *interval > 0.0));
        }
    }
}
