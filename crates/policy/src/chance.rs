//! Pseudo-random numbers: SplitMix64 maps a state to a 64-bit word.
//!
//! Steele, Lea & Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014). The
//! same state gives the same word on every machine.

/// Returns the next word of the stream after `state`.
pub fn split_mix(state: u64) -> u64 {
    let mut word = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// A generator of numbers between 0 and 1, for tests: the linear congruential generator of
/// Knuth's MMIX. The field is its state.
#[cfg(test)]
pub struct TestDraws(pub u64);

#[cfg(test)]
impl TestDraws {
    pub fn next(&mut self) -> f64 {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_mix_is_the_published_one() {
        // The first outputs of the reference implementation for the state 1234567.
        assert_eq!(split_mix(1_234_567), 6_457_827_717_110_365_317);
        let second = 1_234_567u64.wrapping_add(0x9e37_79b9_7f4a_7c15);
        assert_eq!(split_mix(second), 3_203_168_211_198_807_973);
    }
}
