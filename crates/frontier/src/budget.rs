//! A token bucket that limits the rate of fetches.
//!
//! The bucket fills at the rate of the budget. Its capacity is the tokens of one second, and at
//! least one. So the rate is kept over any longer time, and a burst after a pause has at most the
//! fetches of one second. Requests for other things than pages, such as robots.txt, may bring the
//! balance below zero.

use std::time::Duration;

use policy::Moment;

/// A limit on the rate of fetches.
#[derive(Debug, Clone)]
pub struct Budget {
    per_second: f64,
    /// Tokens in the bucket: fetches that may be made now. Negative: a debt.
    saved: f64,
    /// When tokens were last added.
    at: Moment,
}

impl Budget {
    /// Returns a budget from now on; `None` if the rate is not positive and finite.
    pub fn new(per_second: f64, now: Moment) -> Option<Self> {
        let good = per_second > 0.0 && per_second.is_finite();
        good.then_some(Self {
            per_second,
            saved: 1.0,
            at: now,
        })
    }

    /// Changes the rate from now on. The balance stays. Ignores a rate that is not positive and
    /// finite.
    pub fn change(&mut self, per_second: f64, now: Moment) {
        self.fill(now);
        if per_second > 0.0 && per_second.is_finite() {
            self.per_second = per_second;
        }
    }

    /// Returns the rate in fetches per second.
    pub fn per_second(&self) -> f64 {
        self.per_second
    }

    /// Returns when the next fetch may be made; `now` means at once.
    pub fn ready(&mut self, now: Moment) -> Moment {
        self.fill(now);
        let missing = 1.0 - self.saved;
        if missing <= 1e-9 {
            return now;
        }
        let wait = Duration::try_from_secs_f64(missing / self.per_second);
        now + wait.unwrap_or(Duration::MAX)
    }

    /// Takes a token for a fetch.
    pub fn spend(&mut self, now: Moment) {
        self.fill(now);
        self.saved -= 1.0;
    }

    /// Puts back the token of a fetch that was not made.
    pub fn give_back(&mut self) {
        self.saved += 1.0;
    }

    /// Adds the tokens earned since the last call. If the clock was set back, adds none and
    /// counts from the new time: else the bucket would stay empty until the clock has caught up.
    /// If the clock jumps forward again, the capacity bounds the gain.
    fn fill(&mut self, now: Moment) {
        let brought = now.since(self.at).as_secs_f64() * self.per_second;
        self.saved = (self.saved + brought).min(self.per_second.max(1.0));
        self.at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Moment {
        Moment::START + Duration::from_secs_f64(seconds)
    }

    /// Fetches as soon as allowed, from second `from` until second `until`. Returns the number of
    /// fetches.
    fn fetches(budget: &mut Budget, from: f64, until: f64) -> u32 {
        let (mut now, mut made) = (at(from), 0);
        loop {
            let ready = budget.ready(now);
            now = ready.max(now);
            if now >= at(until) {
                return made;
            }
            budget.spend(now);
            made += 1;
        }
    }

    #[test]
    fn the_rate_is_kept() {
        for rate in [0.01, 0.3, 1.0, 7.0, 250.0] {
            let mut budget = Budget::new(rate, at(0.0)).unwrap();
            let made = f64::from(fetches(&mut budget, 0.0, 2000.0));
            assert!((made - 2000.0 * rate).abs() <= 1.0 + rate, "{rate}: {made}");
        }
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Budget::new(wrong, at(0.0)).is_none());
        }
    }

    #[test]
    fn a_pause_saves_the_tokens_of_one_second_and_a_debt_is_paid() {
        let mut budget = Budget::new(2.0, at(0.0)).unwrap();
        assert!(
            fetches(&mut budget, 100.0, 101.0) <= 4,
            "the tokens of one second were saved"
        );
        let mut budget = Budget::new(2.0, at(0.0)).unwrap();
        (0..5).for_each(|_| budget.spend(at(0.0)));
        assert_eq!(budget.ready(at(0.0)), at(2.5));
        budget.give_back();
        assert_eq!(budget.ready(at(0.0)), at(2.0));
    }

    #[test]
    fn a_changed_rate_holds_from_now_on() {
        let mut budget = Budget::new(1.0, at(0.0)).unwrap();
        (0..5).for_each(|_| budget.spend(at(0.0)));
        // The balance is -4. Two seconds at the old rate add two tokens; the three that are missing
        // to a balance of 1 take 0.3 s at the new rate.
        budget.change(10.0, at(2.0));
        assert_eq!(budget.ready(at(2.0)), at(2.3));
        budget.change(f64::NAN, at(2.0));
        assert_eq!(budget.per_second(), 10.0);
    }

    #[test]
    fn a_clock_that_is_set_back_neither_stops_fetches_nor_adds_tokens() {
        let mut budget = Budget::new(0.5, at(1000.0)).unwrap();
        budget.spend(at(1000.0));
        assert_eq!(budget.ready(at(10.0)), at(12.0));
        assert_eq!(budget.ready(at(11.0)), at(12.0));
        assert_eq!(budget.ready(at(12.0)), at(12.0));
        budget.spend(at(12.0));
        assert_eq!(budget.ready(at(1000.0)), at(1000.0));
        budget.spend(at(1000.0));
        assert_eq!(budget.ready(at(1000.0)), at(1002.0), "no more than one");
    }
}
