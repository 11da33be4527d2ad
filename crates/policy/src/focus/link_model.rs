//! A fixed model of link outcomes, by the words of a link.
//!
//! A logistic regression over hashed words. It is trained on links with known outcomes and does
//! not change during a crawl. The online models of the crawl use it as an input.
//!
//! **Invariant:** the same examples in the same order give the same model. A word that only one
//! link has is ignored, because it is probably a name or a typo.

use serde::{Deserialize, Serialize};

use super::logistic::{LogisticModel, WORDS, log_odds, scale, sigmoid};

/// Epochs of training over all examples.
const ROUNDS: usize = 5;
/// AdaGrad learning rates, for the constant and for words.
const STEPS: (f32, f32) = (0.1, 0.3);
/// Weights with a smaller absolute value are not stored on disk.
const LEAST: f32 = 0.01;
/// Limit on the output, in log odds from the prior: words seen on few links must not decide
/// alone.
const MOST: f32 = 4.0;

/// A training example: the weight indices of a link's words, and its outcome in 0..1.
pub type LinkExample = (Vec<u32>, f32);

/// A trained model that maps the words of a link to a probability.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "StoredLinkModel", into = "StoredLinkModel")]
pub struct LinkModel {
    constant: f32,
    /// Log odds of the mean outcome of all links (the prior).
    usual: f32,
    weights: Vec<f32>,
}

/// The serialized form, with the weights whose absolute value is at least [`LEAST`].
#[derive(Debug, Clone, Serialize, Deserialize)]
struct StoredLinkModel {
    constant: f32,
    usual: f32,
    weights: Vec<(u32, f32)>,
}

impl LinkModel {
    /// Trains a model.
    pub fn learn(examples: &[LinkExample]) -> Self {
        let mut seen = vec![0u32; WORDS];
        for &word in examples.iter().flat_map(|(words, _)| words) {
            seen[word as usize] += 1;
        }
        // Shuffles the examples, because consecutive links are from one page and similar.
        let mut order: Vec<usize> = (0..examples.len()).collect();
        order.sort_by_key(|&place| (place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut model = LogisticModel::new([0.0], STEPS);
        for _ in 0..ROUNDS {
            for (words, truth) in order.iter().map(|&place| &examples[place]) {
                let known = words
                    .iter()
                    .copied()
                    .filter(|&word| seen[word as usize] > 1);
                model.learn(&[1.0], &known.collect::<Vec<u32>>(), *truth);
            }
        }
        let sum: f32 = examples.iter().map(|(_, truth)| truth).sum();
        Self {
            constant: model.dense()[0],
            usual: log_odds(sum / examples.len().max(1) as f32),
            weights: model.words().collect(),
        }
    }

    /// Returns the predicted log odds above the prior.
    pub fn over(&self, words: &[u32]) -> f32 {
        let word_sum: f32 = words.iter().map(|&word| self.weights[word as usize]).sum();
        let over = self.constant + word_sum * scale(words) - self.usual;
        over.clamp(-MOST, MOST)
    }

    /// Returns the predicted probability.
    pub fn promise(&self, words: &[u32]) -> f32 {
        sigmoid(self.usual + self.over(words))
    }
}

impl From<StoredLinkModel> for LinkModel {
    fn from(kept: StoredLinkModel) -> Self {
        let mut weights = vec![0.0; WORDS];
        for (place, weight) in kept.weights {
            // A damaged file may contain an index out of range.
            if let Some(known) = weights.get_mut(place as usize) {
                *known = weight;
            }
        }
        Self {
            constant: kept.constant,
            usual: kept.usual,
            weights,
        }
    }
}

impl From<LinkModel> for StoredLinkModel {
    fn from(model: LinkModel) -> Self {
        let weights = (0..).zip(model.weights);
        Self {
            constant: model.constant,
            usual: model.usual,
            weights: weights
                .filter(|(_, weight)| weight.abs() >= LEAST)
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predictions_follow_the_outcomes_of_links_with_the_same_words() {
        // Word 3 leads to the topic, 4 does not, 5 is on every link; 6 to 45 are each on one
        // link only.
        let examples: Vec<LinkExample> = (0..40)
            .map(|n| match n % 2 {
                0 => (vec![3, 5, 6 + n], 1.0),
                _ => (vec![4, 5, 6 + n], 0.0),
            })
            .collect();
        let model = LinkModel::learn(&examples);
        assert!(model.promise(&[3, 5]) > 0.8, "{model:?}");
        assert!(model.promise(&[4, 5]) < 0.2);
        assert_eq!(model.over(&[6]), model.over(&[]), "on one link only");
        let text = serde_json::to_string(&model).unwrap();
        let read: LinkModel = serde_json::from_str(&text).unwrap();
        assert!(text.len() < 200, "{text}");
        assert!((read.over(&[3, 5]) - model.over(&[3, 5])).abs() < 1e-3);
    }

    #[test]
    fn an_index_out_of_range_in_a_file_is_ignored() {
        let text = r#"{"constant":0.5,"usual":0.5,"weights":[[4000000000,9.0]]}"#;
        let read: LinkModel = serde_json::from_str(text).unwrap();
        assert_eq!(read.over(&[7]), 0.0);
    }

    #[test]
    fn the_output_is_limited_to_four_log_odds_from_the_prior() {
        let text = r#"{"constant":0.0,"usual":0.0,"weights":[[3,9.0],[4,-9.0]]}"#;
        let read: LinkModel = serde_json::from_str(text).unwrap();
        assert_eq!((read.over(&[3]), read.over(&[4])), (MOST, -MOST));
    }
}
