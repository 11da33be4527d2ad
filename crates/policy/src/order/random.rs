//! Pages as they come out of a hat.
//!
//! Cho, Garcia-Molina & Page, "Efficient crawling through URL ordering" (1998): the diagonal of every
//! figure, P_CS = K/T. Chance is an argument: a worth is a hash of the page's number and a seed
//! (SplitMix64: Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014),
//! so the same seed draws the same order.

use crate::{Moment, Page, Policy, Worth};

/// Evenly distributed worths.
#[derive(Debug, Clone, Copy, Default)]
pub struct Random {
    seed: u64,
}

impl Random {
    /// The order that belongs to this seed.
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }
}

impl Policy for Random {
    /// Above 0, up to 1.
    fn worth(&self, page: Page<'_>, _now: Moment) -> Worth {
        let drawn = split_mix(split_mix(self.seed) ^ u64::from(page.number.0));
        // 53 bits are what a double holds.
        Worth::new(((drawn >> 11) + 1) as f64 / (1u64 << 53) as f64)
    }
}

/// The next word of a stream of random ones.
pub(crate) fn split_mix(state: u64) -> u64 {
    let mut word = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{History, Number};

    #[test]
    fn split_mix_is_the_published_one() {
        // The first outputs of the reference implementation for the state 1234567.
        assert_eq!(split_mix(1_234_567), 6_457_827_717_110_365_317);
        let second = 1_234_567u64.wrapping_add(0x9e37_79b9_7f4a_7c15);
        assert_eq!(split_mix(second), 3_203_168_211_198_807_973);
    }

    #[test]
    fn worths_are_even_and_follow_the_seed() {
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
