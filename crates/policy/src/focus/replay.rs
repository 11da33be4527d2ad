//! A replay buffer of training examples.
//!
//! An online model that sees each example once learns little from it. The buffer lets it train
//! on recent examples again.
//!
//! **Invariant:** at most [`MOST`] examples are stored. When the buffer is full, a new example
//! replaces the oldest. The same examples are always replayed in the same order.

use super::logistic::LogisticModel;

/// Maximum number of examples stored.
const MOST: usize = 4_096;

/// A ring buffer of training examples.
#[derive(Debug, Clone)]
pub struct ReplayBuffer<const N: usize> {
    examples: Vec<ReplayExample<N>>,
    next: usize,
}

/// The inputs of a page before it was read, and its label.
#[derive(Debug, Clone)]
struct ReplayExample<const N: usize> {
    inputs: [f32; N],
    words: Vec<u32>,
    truth: f32,
}

impl<const N: usize> Default for ReplayBuffer<N> {
    fn default() -> Self {
        Self {
            examples: Vec::new(),
            next: 0,
        }
    }
}

impl<const N: usize> ReplayBuffer<N> {
    /// Stores an example; replaces the oldest if the buffer is full.
    pub fn push(&mut self, inputs: [f32; N], words: &[u32], truth: f32) {
        let example = ReplayExample {
            inputs,
            words: words.to_vec(),
            truth,
        };
        match self.examples.get_mut(self.next) {
            Some(oldest) => *oldest = example,
            None => self.examples.push(example),
        }
        self.next = (self.next + 1) % MOST;
    }

    /// Trains a model on all stored examples once more.
    pub fn replay(&self, model: &mut LogisticModel<N>) {
        for example in &self.examples {
            model.learn(&example.inputs, &example.words, example.truth);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_replaced_and_the_rest_is_replayed() {
        let mut buffer = ReplayBuffer::<1>::default();
        for page in 0..MOST + 10 {
            // The first ten have label 0, all others label 1.
            buffer.push([1.0], &[7], if page < 10 { 0.0 } else { 1.0 });
        }
        assert_eq!(buffer.examples.len(), MOST);
        assert!(buffer.examples.iter().all(|example| example.truth > 0.5));
        let mut model = LogisticModel::new([0.0], (0.1, 0.3));
        let before = model.log_odds(&[1.0], &[7]);
        buffer.replay(&mut model);
        assert!(model.log_odds(&[1.0], &[7]) > before);
    }
}
