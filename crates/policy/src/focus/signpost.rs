//! What do the words of a link promise, by links that were followed before?
//!
//! A logistic regression over hashed words that learned from links whose ends are known, and learns no more: what a crawl
//! finds out for itself its own models add to it. **Invariant:** same lessons in the same order, same signpost; a word that only one
//! link has says nothing, since it is a name or a slip.

use serde::{Deserialize, Serialize};

use super::linear::{Linear, WORDS, log_odds, scale, sigmoid};

/// How often all lessons are gone through.
const ROUNDS: usize = 5;
/// Steps of learning, for the constant and for words.
const STEPS: (f32, f32) = (0.1, 0.3);
/// Weights below this are not kept.
const LEAST: f32 = 0.01;
/// Log odds over the usual that words can speak for or against a link: few links taught them.
const MOST: f32 = 4.0;

/// The words of a link, by where their weights are, and what came of it, from 0 to 1.
pub type Lesson = (Vec<u32>, f32);

/// A mapping from words of links to a probability.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Kept", into = "Kept")]
pub struct Signpost {
    constant: f32,
    /// The log odds of what came of all links.
    usual: f32,
    weights: Vec<f32>,
}

/// The same on disk: the weights that there are.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Kept {
    constant: f32,
    usual: f32,
    weights: Vec<(u32, f32)>,
}

impl Signpost {
    /// Learns.
    pub fn learn(lessons: &[Lesson]) -> Self {
        let mut seen = vec![0u32; WORDS];
        for &word in lessons.iter().flat_map(|(words, _)| words) {
            seen[word as usize] += 1;
        }
        // Links of one page come one after the other and are alike: they are told mixed.
        let mut order: Vec<usize> = (0..lessons.len()).collect();
        order.sort_by_key(|&place| (place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut model = Linear::new([0.0], STEPS);
        for _ in 0..ROUNDS {
            for (words, truth) in order.iter().map(|&place| &lessons[place]) {
                let known = words
                    .iter()
                    .copied()
                    .filter(|&word| seen[word as usize] > 1);
                model.learn(&[1.0], &known.collect::<Vec<u32>>(), *truth);
            }
        }
        let sum: f32 = lessons.iter().map(|(_, truth)| truth).sum();
        Self {
            constant: model.dense()[0],
            usual: log_odds(sum / lessons.len().max(1) as f32),
            weights: model.words().collect(),
        }
    }

    /// What these words promise: log odds above the usual.
    pub fn over(&self, words: &[u32]) -> f32 {
        let told: f32 = words.iter().map(|&word| self.weights[word as usize]).sum();
        let over = self.constant + told * scale(words) - self.usual;
        over.clamp(-MOST, MOST)
    }

    /// The same as a probability.
    pub fn promise(&self, words: &[u32]) -> f32 {
        sigmoid(self.usual + self.over(words))
    }
}

impl From<Kept> for Signpost {
    fn from(kept: Kept) -> Self {
        let mut weights = vec![0.0; WORDS];
        for (place, weight) in kept.weights {
            // A file that was tampered with may name any place.
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

impl From<Signpost> for Kept {
    fn from(signpost: Signpost) -> Self {
        let weights = (0..).zip(signpost.weights);
        Self {
            constant: signpost.constant,
            usual: signpost.usual,
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
    fn words_promise_what_came_of_links_that_had_them() {
        // 3 leads there, 4 does not, 5 is on every link; 6 to 45 are names, each on one link.
        let lessons: Vec<Lesson> = (0..40)
            .map(|n| match n % 2 {
                0 => (vec![3, 5, 6 + n], 1.0),
                _ => (vec![4, 5, 6 + n], 0.0),
            })
            .collect();
        let signpost = Signpost::learn(&lessons);
        assert!(signpost.promise(&[3, 5]) > 0.8, "{signpost:?}");
        assert!(signpost.promise(&[4, 5]) < 0.2);
        assert_eq!(signpost.over(&[6]), signpost.over(&[]), "a name");
        let text = serde_json::to_string(&signpost).unwrap();
        let read: Signpost = serde_json::from_str(&text).unwrap();
        assert!(text.len() < 200, "{text}");
        assert!((read.over(&[3, 5]) - signpost.over(&[3, 5])).abs() < 1e-3);
    }

    #[test]
    fn a_file_that_names_no_place_is_read() {
        let text = r#"{"constant":0.5,"usual":0.5,"weights":[[4000000000,9.0]]}"#;
        let read: Signpost = serde_json::from_str(text).unwrap();
        assert_eq!(read.over(&[7]), 0.0);
    }

    #[test]
    fn no_word_decides_alone() {
        let text = r#"{"constant":0.0,"usual":0.0,"weights":[[3,9.0],[4,-9.0]]}"#;
        let read: Signpost = serde_json::from_str(text).unwrap();
        assert_eq!((read.over(&[3]), read.over(&[4])), (MOST, -MOST));
    }
}
