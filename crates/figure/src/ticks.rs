//! The ticks of an axis: where it begins and ends, and its labels.
//!
//! **Invariant:** ticks are multiples of 1, 2 or 5 times a power of ten, and all values lie
//! between the first and the last tick.

/// A smaller span counts as 0, because a tenth of it may underflow to 0.
const SMALLEST: f64 = 1e-300;

/// The ticks of an axis.
#[derive(Debug, PartialEq)]
pub(super) struct Ticks {
    pub low: f64,
    pub high: f64,
    step: f64,
    count: usize,
}

impl Ticks {
    /// Returns ticks with at most `most` steps, and one more if `low` and `high` are not
    /// multiples of a step.
    pub fn over(low: f64, high: f64, most: u32) -> Self {
        let span = if high - low >= SMALLEST {
            high - low
        } else {
            1.0
        };
        let least = span / f64::from(most);
        let power = 10_f64.powf(least.log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|times| times * power);
        let enough = |step: &&f64| least <= **step * (1.0 + 1e-9);
        let step = *steps.iter().find(enough).unwrap_or(&steps[3]);
        let (low, high) = (
            (low / step).floor() * step,
            (high / step - 1e-9).ceil() * step,
        );
        let high = high.max(low + step);
        let count = ((high - low) / step).round() as usize + 1;
        Self {
            low,
            high,
            step,
            count,
        }
    }

    /// Returns each tick with its label.
    pub fn labels(&self) -> impl Iterator<Item = (f64, String)> {
        let values = (0..self.count).map(|at| self.low + at as f64 * self.step);
        values.map(|value| (value, self.text(value)))
    }

    /// Returns the position of a value on the axis, from 0 at the first tick to 1 at the last.
    /// Values outside are clamped.
    pub fn share(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// Formats a value with as many decimals as the step has, and with a comma between
    /// thousands. For steps of a million and more, or below a millionth, it uses powers of ten.
    fn text(&self, value: f64) -> String {
        let value = if value.abs() < self.step / 2.0 {
            0.0
        } else {
            value
        };
        let sign = if value < 0.0 { "−" } else { "" };
        if self.step >= 1e6 || self.step < 1e-6 {
            let digits = (value.abs().max(self.step) / self.step).log10().floor() as usize;
            return format!("{sign}{:.digits$e}", value.abs());
        }
        let decimals = (-self.step.log10().floor()).max(0.0) as usize;
        let text = format!("{:.decimals$}", value.abs());
        let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
        let mut grouped = String::from(sign);
        for (at, digit) in whole.chars().enumerate() {
            if at > 0 && (whole.len() - at).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        grouped + rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers() {
        let check = |low: f64, high: f64, most: u32, expected: [f64; 3]| {
            let ticks = Ticks::over(low, high, most);
            let found = [ticks.low, ticks.high, ticks.step];
            for (found, expected) in found.iter().zip(expected) {
                assert!(
                    (found - expected).abs() < 1e-9,
                    "{low} to {high}: {ticks:?}"
                );
            }
            assert!((2..=most as usize + 2).contains(&ticks.count), "{ticks:?}");
            assert_eq!(ticks.labels().count(), ticks.count);
        };
        check(0.0, 1.0, 10, [0.0, 1.0, 0.1]);
        check(0.0, 0.95, 10, [0.0, 1.0, 0.1]);
        check(0.0, 1.0, 5, [0.0, 1.0, 0.2]);
        check(0.0, 1.01, 10, [0.0, 1.2, 0.2]);
        check(0.0, 360.0, 10, [0.0, 400.0, 50.0]);
        check(-3.0, 4.5, 10, [-3.0, 5.0, 1.0]);
        check(0.0, 30_000.0, 10, [0.0, 30_000.0, 5_000.0]);
        check(0.0, 30_000.0, 3, [0.0, 30_000.0, 10_000.0]);
        check(0.0, 0.0, 10, [0.0, 0.1, 0.1]);
        check(0.0, 5e-324, 10, [0.0, 0.1, 0.1]);
    }

    #[test]
    fn labels_have_the_decimals_of_the_step_and_commas_between_thousands() {
        let check = |high: f64, value: f64, expected: &str| {
            assert_eq!(Ticks::over(-high, high, 10).text(value), expected);
        };
        check(1.0, 0.4, "0.4");
        check(1.0, -1e-17, "0.0");
        check(0.05, -0.01, "−0.01");
        check(5_000.0, 4_500.0, "4,500");
        check(50.0, 40.0, "40");
        check(2e6, 1_234_000.0, "1,234,000");
        check(1e9, 2e8, "2e8");
        check(5e9, 1.2e10, "1.2e10");
        check(1e-8, -4e-9, "−4e-9");
        check(1e-8, 0.0, "0e0");
    }

    #[test]
    fn a_share_is_0_at_the_first_tick_and_1_at_the_last_and_clamped_outside() {
        let ticks = Ticks::over(-3.0, 4.5, 10);
        let check = |value: f64, expected: f64| {
            assert!((ticks.share(value) - expected).abs() < 1e-12, "{value}");
        };
        check(-3.0, 0.0);
        check(1.0, 0.5);
        check(5.0, 1.0);
        check(1e9, 1.0);
        check(-1e9, 0.0);
    }
}
