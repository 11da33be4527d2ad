//! Pages in random order.
//!
//! The baseline of Cho, Garcia-Molina & Page, "Efficient crawling through URL ordering" (1998):
//! after K of T pages it is expected to have found K/T of the important pages, the diagonal of
//! their figures. The worth is a hash of the page number and a seed, so the same seed gives the
//! same order.

use crate::chance::split_mix;
use crate::{Moment, Page, Policy, Worth};

/// Uniformly distributed worths.
#[derive(Debug, Clone, Copy, Default)]
pub struct Random {
    seed: u64,
}

impl Random {
    /// Creates the order of this seed.
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }
}

impl Policy for Random {
    /// Returns a worth above 0 and at most 1.
    fn worth(&self, page: Page<'_>, _now: Moment) -> Worth {
        let drawn = split_mix(split_mix(self.seed) ^ u64::from(page.number.0));
        // A double has a 53-bit significand.
        Worth::new(((drawn >> 11) + 1) as f64 / (1u64 << 53) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{History, Number};

    #[test]
    fn worths_are_uniform_and_depend_on_the_seed() {
        let history = History::default();
        let draw = |seed, number| {
            let number = Number(number);
            let page = Page {
                number,
                history: &history,
            };
            Random::new(seed).worth(page, Moment::START).value()
        };
        let mut tenths = [0; 10];
        for number in 0..10_000 {
            tenths[(draw(7, number) * 10.0).ceil() as usize - 1] += 1;
        }
        assert!(
            tenths.iter().all(|&count| (900..1100).contains(&count)),
            "{tenths:?}"
        );
        let same = (0..100)
            .filter(|&number| draw(7, number) == draw(8, number))
            .count();
        assert_eq!(same, 0);
    }
}
