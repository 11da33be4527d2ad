//! Keeps important pages current within a grace period.
//!
//! Brewington & Cybenko (2000): a copy is β-current if the page did not change between the visit
//! and β before now. A collection is (α, β)-current if a random page is β-current with a
//! probability of at least α. Here the goal α applies to each page.

use crate::Curve;
use crate::plan::gain::gain;

/// Worth is 0 until β, then `w[β(1 − e^{−λs}) + g(λs)/λ]` with `s = τ − β`. Without a copy it is
/// the limit, `w(β + 1/λ)`.
///
/// With a goal α, a visit to a page that is still β-current with probability α or more is worth
/// nothing. Visits go to the other pages. If all pages meet the goal, the rest of the budget is
/// not spent.
#[derive(Debug, Clone, Copy)]
pub struct Currency {
    grace: f64,
    goal: Option<f64>,
}

struct Outdated {
    rate: f64,
    weight: f64,
    grace: f64,
    /// Time after the grace period in which the goal is still met, in seconds.
    met: f64,
}

impl Currency {
    /// Creates a policy with β in seconds, at least 0, and α between 0 and 1; `None` if they are
    /// invalid.
    pub fn new(grace: f64, goal: Option<f64>) -> Option<Self> {
        let graceful = grace >= 0.0 && grace.is_finite();
        let reachable = goal.is_none_or(|goal| goal > 0.0 && goal < 1.0);
        (graceful && reachable).then_some(Self { grace, goal })
    }

    /// Returns the curve of a page with this change rate, per second.
    pub fn curve(self, rate: f64, importance: f64) -> impl Curve + 'static {
        Outdated {
            rate,
            weight: importance,
            grace: self.grace,
            met: self.goal.map_or(0.0, |goal| -goal.ln() / rate),
        }
    }
}

impl Curve for Outdated {
    fn at(&self, age: f64) -> f64 {
        let late = age - self.grace;
        if late <= self.met {
            return 0.0;
        }
        let changes = self.rate * late;
        self.weight * (self.grace * -(-changes).exp_m1() + gain(changes) / self.rate)
    }

    fn missing(&self) -> Option<f64> {
        Some(self.weight * (self.grace + self.rate.recip()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worth_is_zero_until_the_grace_period_and_the_goal_are_over() {
        let curve = |grace, goal| Currency::new(grace, goal).unwrap();
        let plain = curve(7.0, None);
        assert_eq!(plain.curve(0.1, 2.0).at(7.0), 0.0);
        // 2·[7(1 − 1/e) + 10·g(1)].
        let found = plain.curve(0.1, 2.0).at(17.0);
        assert!((found - 14.134_510_176_742_115).abs() < 1e-12, "{found}");
        let far = plain.curve(0.1, 2.0).at(1e6);
        assert!(
            (far - plain.curve(0.1, 2.0).missing().unwrap()).abs() < 1e-9,
            "{far}"
        );
        // A copy is current with a probability of 95 % until −ln(0.95)/0.1 = 0.513 seconds after
        // the grace period.
        let goal = curve(7.0, Some(0.95));
        assert_eq!(goal.curve(0.1, 2.0).at(7.51), 0.0);
        assert_eq!(
            goal.curve(0.1, 2.0).at(7.52),
            plain.curve(0.1, 2.0).at(7.52)
        );
        for (grace, goal) in [(-1.0, None), (7.0, Some(1.0)), (7.0, Some(f64::NAN))] {
            assert!(Currency::new(grace, goal).is_none());
        }
    }
}
