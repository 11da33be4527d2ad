//! A logistic regression that learns as it goes.
//!
//! A few dense inputs that begin with a weight we believe in, and hashed words that begin with none. Steps by
//! Duchi, Hazan & Singer's AdaGrad (2011): an input that was seen often moves little. **Invariant:** same
//! examples in the same order, same weights.

/// Hashed words share so many weights: a megabyte with their step sizes.
pub const WORDS: usize = 1 << 17;

/// A model of so many dense inputs.
#[derive(Debug, Clone)]
pub struct Linear<const N: usize> {
    dense: [f32; N],
    squares: [f32; N],
    words: Vec<Weight>,
    rates: (f32, f32),
}

#[derive(Debug, Clone, Copy, Default)]
struct Weight {
    value: f32,
    squares: f32,
}

impl<const N: usize> Linear<N> {
    /// With these weights for dense inputs, and steps for dense inputs and for words.
    pub fn new(dense: [f32; N], rates: (f32, f32)) -> Self {
        Self {
            dense,
            squares: [1.0; N],
            words: vec![Weight::default(); WORDS],
            rates,
        }
    }

    /// The log odds of these inputs. Words count together as their mean root.
    pub fn log_odds(&self, dense: &[f32; N], words: &[u32]) -> f32 {
        let products = self.dense.iter().zip(dense);
        let sum: f32 = products.map(|(weight, input)| weight * input).sum();
        let told: f32 = words
            .iter()
            .map(|&word| self.words[word as usize].value)
            .sum();
        sum + told * scale(words)
    }

    /// Learns that these inputs were so with this probability.
    pub fn learn(&mut self, dense: &[f32; N], words: &[u32], truth: f32) {
        let error = sigmoid(self.log_odds(dense, words)) - truth;
        for (place, &input) in dense.iter().enumerate() {
            let gradient = error * input;
            self.squares[place] += gradient * gradient;
            self.dense[place] -= self.rates.0 * gradient / self.squares[place].sqrt();
        }
        let gradient = error * scale(words);
        for &word in words {
            let weight = &mut self.words[word as usize];
            weight.squares += gradient * gradient;
            weight.value -= self.rates.1 * gradient / (weight.squares + 1e-6).sqrt();
        }
    }

    /// The weights of all words, by their places.
    pub fn words(&self) -> impl Iterator<Item = f32> {
        self.words.iter().map(|weight| weight.value)
    }

    /// The weights of the dense inputs.
    pub fn dense(&self) -> &[f32; N] {
        &self.dense
    }
}

/// Where the weight of a word of this hash is.
pub fn place(hash: u64) -> u32 {
    // The high bits of FNV are its good ones.
    ((hash ^ hash >> 32) as usize % WORDS) as u32
}

/// 1/(1 + e⁻ˣ).
pub fn sigmoid(log_odds: f32) -> f32 {
    1.0 / (1.0 + (-log_odds).exp())
}

/// ln p/(1−p), of a probability that is kept away from 0 and 1.
pub fn log_odds(probability: f32) -> f32 {
    let kept = probability.clamp(0.005, 0.995);
    (kept / (1.0 - kept)).ln()
}

/// What each of so many words counts for.
pub fn scale(words: &[u32]) -> f32 {
    1.0 / (words.len().max(1) as f32).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_learns_which_words_and_inputs_tell() {
        let mut linear = Linear::new([0.0, 0.0], (0.3, 0.3));
        let [good, bad, idle] = [7, 8, 9];
        for n in 0..400 {
            let on = n % 2 == 0;
            let words = [if on { good } else { bad }, idle];
            linear.learn(
                &[1.0, if n % 4 < 2 { 1.0 } else { -1.0 }],
                &words,
                f32::from(on),
            );
        }
        let of = |words: &[u32]| sigmoid(linear.log_odds(&[1.0, 0.0], words));
        assert!(of(&[good, idle]) > 0.9 && of(&[bad, idle]) < 0.1);
        assert!((of(&[idle]) - 0.5).abs() < 0.2, "{}", of(&[idle]));
        assert!(linear.dense()[1].abs() < 0.3, "an input that says nothing");
    }
}
