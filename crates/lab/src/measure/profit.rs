//! Profit of a crawler of ephemeral pages.
//!
//! Lefortier et al. (2013), §2. The profit of a page is the number of clicks it gets after it
//! was fetched. *Dynamic* profit `Q_T(t)` is that of the pages fetched in `(t − T, t]`, divided
//! by T. This is equation 1 as printed, so it rises from 0 while t is below T. *Overall* profit
//! is that of all pages over the whole time: equation 2, for the finite time that was observed.

use std::time::Duration;

use policy::Moment;

/// Profits by the time of the fetch.
#[derive(Debug, Clone, PartialEq)]
pub struct Profit {
    /// Fetch times in order, with the sum of profits up to each.
    until: Vec<(Moment, f64)>,
}

impl Profit {
    /// Creates the profits of pages fetched at these times.
    pub fn new(mut fetched: Vec<(Moment, f64)>) -> Self {
        fetched.sort_by_key(|(at, _)| *at);
        let mut sum = 0.0;
        for (_, profit) in &mut fetched {
            sum += *profit;
            *profit = sum;
        }
        Self { until: fetched }
    }

    /// Returns `Q_T(t)` in clicks per second, where t is `at` and T is `window`.
    pub fn dynamic(&self, at: Moment, window: Duration) -> f64 {
        let before = Moment::from_micros(at.micros().saturating_sub(window.as_micros() as u64));
        (self.earned(at) - self.earned(before)) / window.as_secs_f64()
    }

    /// Returns the profit per second of the pages fetched after `from`, up to `until`.
    pub fn overall(&self, from: Moment, until: Moment) -> f64 {
        (self.earned(until) - self.earned(from)) / until.since(from).as_secs_f64()
    }

    /// Returns the mean and standard deviation of `Q_T(t)` between two times, sampled every `step`,
    /// as in Table 1.
    pub fn average(
        &self,
        from: Moment,
        until: Moment,
        window: Duration,
        step: Duration,
    ) -> (f64, f64) {
        let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
        let mut at = from;
        while at <= until {
            let value = self.dynamic(at, window);
            count += 1.0;
            sum += value;
            squares += value * value;
            at = at + step;
        }
        let mean = sum / count;
        (mean, (squares / count - mean * mean).max(0.0).sqrt())
    }

    /// Returns the total profit of the pages fetched up to a time.
    fn earned(&self, at: Moment) -> f64 {
        let fetched = self.until.partition_point(|(fetched, _)| *fetched <= at);
        fetched
            .checked_sub(1)
            .map_or(0.0, |last| self.until[last].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(number: u64) -> Moment {
        Moment::from_micros(number * 1_000_000)
    }

    const TEN: Duration = Duration::from_secs(10);

    #[test]
    fn windows_are_open_at_the_beginning_and_closed_at_the_end() {
        let profit = Profit::new(vec![
            (second(30), 6.0),
            (second(10), 5.0),
            (second(20), 1.0),
        ]);
        for (at, expected) in [
            (9, 0.0),
            (10, 0.5),
            (19, 0.5),
            (20, 0.1),
            (29, 0.1),
            (30, 0.6),
            (40, 0.0),
        ] {
            assert_eq!(profit.dynamic(second(at), TEN), expected, "{at}");
        }
        // The divisor is the whole window even if less time has passed.
        assert_eq!(profit.dynamic(second(10), Duration::from_secs(100)), 0.05);
        assert!((profit.overall(second(0), second(30)) - 0.4).abs() < 1e-12);
        assert!((profit.overall(second(10), second(30)) - 0.35).abs() < 1e-12);
    }

    #[test]
    fn averages_are_of_points_a_step_apart_with_both_ends() {
        let profit = Profit::new(vec![(second(10), 10.0), (second(30), 30.0)]);
        // At 10, 20, 30: 1, 0, 3.
        let (mean, deviation) = profit.average(second(10), second(30), TEN, TEN);
        assert!((mean - 4.0 / 3.0).abs() < 1e-12);
        let spread = ((1.0 + 9.0) / 3.0 - mean * mean).sqrt();
        assert!((deviation - spread).abs() < 1e-12, "{deviation}");
        assert_eq!(
            Profit::new(Vec::new()).average(second(0), second(10), TEN, TEN),
            (0.0, 0.0)
        );
    }
}
