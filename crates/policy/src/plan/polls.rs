//! Optimal polling intervals of content sources, when the pages that polls discover must be
//! fetched as well.
//!
//! Lefortier et al., "Timely crawling of high-quality ephemeral new content" (2013),
//! Algorithm 1. A source that is polled every I seconds costs `1/I + λ` fetches per second and
//! yields a profit of `p·(1 − e^{−μI})/I` per second, where `p = P/(1 − e^{−μ/λ})`. So every polled
//! source has `p·g(μI) = ω`, the price, and a source with `p ≤ ω` is not polled at all: it is off.
//!
//! **Invariant:** intervals are above 0 and in the order of the sources. No plan spends more
//! than the budget.
//!
//! Two errors of the printed algorithm are corrected:
//!
//! - The divisor inside g⁻¹ is the capital P: `ω/p = ω(1 − e^{−μ/λ})/P`.
//! - The loop must not wait for the sum to meet the budget. When ω reaches p of a source, its
//!   `1/I` has fallen smoothly to 0, but its λ leaves the sum at once, so the sum jumps. Here
//!   the loop also ends when ω is known to the last digits. The unspent budget is then less than
//!   the fetches of the source that the next lower price would switch on.

use super::gain::age_of_gain;

/// The expected behaviour of a source.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlook {
    /// λ: new pages per second that it names.
    pub rate: f64,
    /// P: profit of a new page that is fetched as it appears, in clicks or a substitute for
    /// them.
    pub profit: f64,
    /// μ: profit decays as `e^(-μ·age)`, with the age in seconds.
    pub decay: f64,
}

/// Relative tolerance of the budget.
const PRECISION: f64 = 1e-9;

/// Relative tolerance of the price where the sum jumps.
const WIDTH: f64 = 1e-13;

/// The polling intervals of all sources, and their price.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Polls {
    /// ω; `None` if no source is polled.
    pub price: Option<f64>,
    /// I in seconds, by source; `None` if the source is never polled.
    pub intervals: Vec<Option<f64>>,
}

/// The fetches that the budget pays for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pays {
    /// Polls and the pages that they discover: `Σ (1/I + λ)`, over the sources that are polled.
    PollsAndPages,
    /// Polls alone.
    Polls,
}

/// Returns the polling intervals with the greatest yield for a budget of fetches per second.
///
/// A source is off if its profit or decay is not positive, or any of its numbers is not finite.
/// A source with λ = 0 is not off: the printed sum counts a page at each poll, so that `p = P`.
/// No source is polled if the budget is not positive and finite.
pub fn optimal(sources: &[Outlook], per_second: f64, pays: Pays) -> Polls {
    let polled: Vec<PolledSource> = sources
        .iter()
        .map(|source| PolledSource::of(source, pays))
        .collect();
    let price = price(&polled, per_second);
    let interval = |source: &PolledSource| price.and_then(|price| source.interval(price));
    Polls {
        price: price.filter(|&price| polled.iter().any(|source| source.top > price)),
        intervals: polled.iter().map(interval).collect(),
    }
}

/// Returns the upper limit of a source's yield per poll, `p = P/(1 − e^{−μ/λ})`. With λ = 0 it
/// is the limit P.
pub fn height(source: &Outlook) -> f64 {
    let share = -(-source.decay / source.rate).exp_m1();
    (source.profit / share).min(f64::MAX)
}

/// A source in the form that the search for the price needs.
#[derive(Debug, Clone, Copy)]
struct PolledSource {
    /// p; 0 for a source that is off at any price.
    top: f64,
    decay: f64,
    /// Fetches per second that the source costs besides its polls.
    rate: f64,
}

impl PolledSource {
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

/// Returns the fetches per second at a price.
fn spent(polled: &[PolledSource], price: f64) -> f64 {
    let on = polled.iter().filter(|source| source.top > price);
    let each = on.map(|source| match source.interval(price) {
        Some(interval) => 1.0 / interval + source.rate,
        None => 0.0,
    });
    each.sum()
}

/// Returns the lowest price at which the spending is within the budget.
///
/// Spending falls about as `1/√ω`, so `1/spent²` is almost linear in ω. The next price is where
/// the line through both ends of the bracket meets the budget (regula falsi with the Illinois
/// rule). If three such steps did not halve the bracket, the next price is its midpoint.
fn price(polled: &[PolledSource], budget: f64) -> Option<f64> {
    let dearest = polled.iter().map(|source| source.top).fold(0.0, f64::max);
    if !(budget > 0.0 && budget.is_finite()) || dearest == 0.0 {
        return None;
    }
    let over = |spent: f64| (budget / spent).powi(2) - 1.0;
    let (mut high, mut above) = (dearest, f64::INFINITY);
    let (mut low, mut below) = (dearest / 4.0, over(spent(polled, dearest / 4.0)));
    while below > 0.0 {
        if low < f64::MIN_POSITIVE {
            return Some(high);
        }
        (high, above) = (low, below);
        // Extrapolates on the line through the origin, and twice as far.
        low = (low / 4.0).min(low / (1.0 + below) / 2.0);
        below = over(spent(polled, low));
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
        let found = over(spent(polled, next));
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

    /// Sources as different as the paper's: rates, profits and decays over many orders of
    /// magnitude.
    fn sources() -> impl Strategy<Value = Vec<Outlook>> {
        let one = (-14.0..-3.0_f64, -7.0..7.0_f64, -13.0..-7.0_f64);
        let one =
            one.prop_map(|(rate, profit, decay)| source(rate.exp(), profit.exp(), decay.exp()));
        prop::collection::vec(one, 1..40)
    }

    /// Returns the cost of a plan in fetches per second.
    fn cost(sources: &[Outlook], plan: &Polls) -> f64 {
        let on = sources.iter().zip(&plan.intervals);
        on.filter_map(|(source, interval)| Some(1.0 / (*interval)? + source.rate))
            .sum()
    }

    #[test]
    fn two_sources_pay_one_price_and_the_budget_is_spent() {
        // Checks the equations directly: p·g(μI) is equal for both sources, and the budget is
        // spent.
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
        assert!(
            one < other,
            "the source with more new pages comes more often"
        );
        let half = optimal(&two, 0.01, Pays::Polls);
        let polls: f64 = half
            .intervals
            .iter()
            .map(|interval| 1.0 / interval.unwrap())
            .sum();
        assert!((polls - 0.01).abs() < 1e-9, "pages are not paid for");
    }

    #[test]
    fn no_source_is_polled_without_a_budget_or_with_invalid_numbers() {
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
        // The new pages of the large source alone need one fetch per second, ten times the budget.
        // The other source is polled at the price where the large one switches off.
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
        fn all_polled_sources_pay_one_price_and_the_budget_is_met(sources in sources(), budget in -9.0..3.0_f64) {
            let budget = budget.exp();
            let plan = optimal(&sources, budget, Pays::PollsAndPages);
            let spent = cost(&sources, &plan);
            prop_assert!(spent <= budget * (1.0 + 1e-12), "{} of {}", spent, budget);
            // KKT conditions: p·g(μI) = ω for polled sources, p ≤ ω for the others.
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
            // The budget is met, or the rest is too small to switch on the next sources. These need
            // fetches for their pages and for at least the rarest polls that a price can express:
            // the digits of a price resolve 1 − g only up to g(30).
            if spent < budget * (1.0 - 1e-6) {
                let off = sources.iter().zip(&plan.intervals).filter(|(_, interval)| interval.is_none());
                let next = off.clone().map(|(source, _)| height(source)).fold(0.0, f64::max);
                let jump: f64 = off.filter(|(source, _)| height(source) >= next * (1.0 - 1e-9)).map(|(source, _)| source.rate + source.decay / 30.0).sum();
                prop_assert!(spent + jump > budget * (1.0 - 1e-6), "{} and {} of {}", spent, jump, budget);
                prop_assert!(plan.price.is_none_or(|price| price <= next * (1.0 + 1e-9)), "the price is where the sum jumps");
            }
        }

        #[test]
        fn more_fetches_never_make_a_source_wait_longer(sources in sources(), budget in -9.0..3.0_f64, more in 1.0..5.0_f64) {
            let [less, more] = [budget.exp(), budget.exp() * more].map(|budget| optimal(&sources, budget, Pays::PollsAndPages));
            let [dear, cheap] = [&less, &more].map(|plan| plan.price.unwrap_or(f64::INFINITY));
            prop_assert!(cheap <= dear * (1.0 + 1e-9), "{} after {}", cheap, dear);
            for (less, more) in less.intervals.iter().zip(&more.intervals) {
                let [long, short] = [less, more].map(|interval| interval.unwrap_or(f64::INFINITY));
                prop_assert!(short <= long * (1.0 + 1e-6), "{} after {}", short, long);
            }
        }

        #[test]
        fn intervals_are_finite_and_positive_for_any_numbers(
            sources in prop::collection::vec((any::<f64>(), any::<f64>(), any::<f64>()), 0..8),
            budget in any::<f64>(),
        ) {
            let sources: Vec<Outlook> = sources.into_iter().map(|(rate, profit, decay)| source(rate.abs(), profit.abs(), decay.abs())).collect();
            let plan = optimal(&sources, budget.abs(), Pays::PollsAndPages);
            prop_assert!(plan.intervals.iter().flatten().all(|interval| interval.is_finite() && *interval > 0.0));
        }
    }
}
