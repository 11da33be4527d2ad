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

/// Returns a draw from a Gamma distribution with scale 1, as a hash of `seed` and `lot`. Never 0.
pub(crate) fn drawn_gamma(shape: f64, seed: u64, lot: [u64; 3]) -> f64 {
    let first = lot.iter().fold(seed, |word, part| split_mix(word) ^ part);
    let second = split_mix(first);
    let words = [second, split_mix(second), split_mix(split_mix(second))];
    gamma(shape, words.map(uniform))
}

/// Maps a random word to a number above 0 and below 1.
fn uniform(word: u64) -> f64 {
    ((word >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
}

/// Returns a draw from a Gamma distribution with scale 1, computed from three uniform numbers.
/// Never 0.
///
/// The draw for shape + 1 is Wilson & Hilferty's cube of a normal variable (1931), and the
/// normal comes from Box & Muller (1958). A power of the third number corrects the shape.
fn gamma(shape: f64, [one, two, three]: [f64; 3]) -> f64 {
    let normal = (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * two).cos();
    let more = shape + 1.0;
    let small = 1.0 / (9.0 * more);
    let cube = (1.0 - small + normal * small.sqrt()).max(1e-3).powi(3);
    (more * cube * three.powf(1.0 / shape)).max(f64::MIN_POSITIVE)
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
