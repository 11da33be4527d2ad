//! Online logistic regression over dense inputs and hashed words.
//!
//! The dense inputs start with given weights, the hashed words with zero. Step sizes follow
//! AdaGrad (Duchi, Hazan & Singer, 2011): the more often an input was seen, the smaller its
//! steps.
//!
//! **Invariant:** the same examples in the same order give the same weights.

/// Number of weights that hashed words share. With their AdaGrad sums they take 1 MiB.
pub const WORDS: usize = 1 << 17;

/// A logistic regression with `N` dense inputs.
#[derive(Debug, Clone)]
pub struct LogisticModel<const N: usize> {
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

impl<const N: usize> LogisticModel<N> {
    /// Creates a model with initial weights of the dense inputs, and learning rates for dense
    /// inputs and for words.
    pub fn new(dense: [f32; N], rates: (f32, f32)) -> Self {
        Self {
            dense,
            squares: [1.0; N],
            words: vec![Weight::default(); WORDS],
            rates,
        }
    }

    /// Returns the log odds of these inputs.
    ///
    /// The sum of the word weights is divided by the square root of the number of words.
    pub fn log_odds(&self, dense: &[f32; N], words: &[u32]) -> f32 {
        let products = self.dense.iter().zip(dense);
        let sum: f32 = products.map(|(weight, input)| weight * input).sum();
        let word_sum: f32 = words
            .iter()
            .map(|&word| self.words[word as usize].value)
            .sum();
        sum + word_sum * scale(words)
    }

    /// Makes one gradient step towards the probability `truth` for these inputs.
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

    /// Returns the weights of all words, by their indices.
    pub fn words(&self) -> impl Iterator<Item = f32> {
        self.words.iter().map(|weight| weight.value)
    }

    /// Returns the weights of the dense inputs.
    pub fn dense(&self) -> &[f32; N] {
        &self.dense
    }
}

/// Returns the index of the weight for a word of this hash.
pub fn weight_index(hash: u64) -> u32 {
    // Folds in the high bits, which FNV mixes best.
    ((hash ^ hash >> 32) as usize % WORDS) as u32
}

/// Returns 1/(1 + e⁻ˣ).
pub fn sigmoid(log_odds: f32) -> f32 {
    1.0 / (1.0 + (-log_odds).exp())
}

/// Returns ln p/(1−p), with p clamped to 0.005..0.995.
pub fn log_odds(probability: f32) -> f32 {
    let kept = probability.clamp(0.005, 0.995);
    (kept / (1.0 - kept)).ln()
}

/// Returns the factor of each word weight: one over the square root of their number.
pub fn scale(words: &[u32]) -> f32 {
    1.0 / (words.len().max(1) as f32).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_learns_which_words_and_inputs_predict_the_label() {
        let mut linear = LogisticModel::new([0.0, 0.0], (0.3, 0.3));
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
