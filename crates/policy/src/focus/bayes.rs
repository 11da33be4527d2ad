//! A calibrated naive Bayes classifier of pages and links.
//!
//! Multinomial naive Bayes over the words of text, title and URL. Each field has its own
//! probabilities with Laplace smoothing: P(w | c) = (n(w, c) + 1)/(N(c) + V). Words that are in
//! no example are ignored.
//!
//! The plain posterior is overconfident, because the words of a page are not independent.
//! Therefore the log odds of each field are divided by the square root of the total weight of its
//! words. A [`LogisticCurve`], fitted by cross-validation, turns them into a probability.
//!
//! **Invariant:** evidence is a sum over words. The evidence of a URL or an anchor therefore
//! fits in eight bytes and can be added to that of the text later.

use serde::{Deserialize, Serialize};

use super::calibration::{LogisticCurve, logistic};
use super::trainer::TrainingDocument;
use super::word_counts::{ByWord, Field, PageWords, counts, weight};
use crate::words::hash;

/// A pair of values: off the topic first, on the topic second.
pub type Sides<T> = [T; 2];

/// Evidence for the topic from some words: the sum of their log odds, and their total weight.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Evidence {
    /// Σ weight · ln P(w | on)/P(w | off).
    pub log_odds: f32,
    /// Σ weight.
    pub words: f32,
}

impl Evidence {
    /// Returns the sum of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            log_odds: self.log_odds + other.log_odds,
            words: self.words + other.words,
        }
    }

    /// Returns the log odds divided by the square root of the total weight; 0 without words.
    pub fn score(self) -> f64 {
        match self.words > 0.0 {
            true => f64::from(self.log_odds) / f64::from(self.words).sqrt(),
            false => 0.0,
        }
    }
}

/// A word and its weight in the examples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainedWord {
    /// The word in lower case.
    pub word: String,
    /// Its total weight in examples off and on the topic.
    pub weights: Sides<f32>,
}

/// The learned parameters, which are the serialized form of a classifier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BayesParameters {
    /// Number of examples.
    pub examples: Sides<u32>,
    /// Words of each field.
    pub words: [Vec<TrainedWord>; 3],
    /// Calibration for pages that were read.
    pub page: LogisticCurve,
    /// Calibration for unread pages, of which only the URL and links are known.
    pub link: LogisticCurve,
}

/// A classifier that is ready for use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "BayesParameters", into = "BayesParameters")]
pub struct Bayes {
    learned: BayesParameters,
    log_odds: [ByWord<f32>; 3],
}

impl From<BayesParameters> for Bayes {
    fn from(learned: BayesParameters) -> Self {
        let log_odds = learned.words.each_ref().map(|words| {
            let odds = Odds::of(words.iter().map(|word| word.weights));
            let each = words
                .iter()
                .map(|word| (hash(&word.word), odds.log(word.weights)));
            each.collect()
        });
        Self { learned, log_odds }
    }
}

impl From<Bayes> for BayesParameters {
    fn from(bayes: Bayes) -> Self {
        bayes.learned
    }
}

impl Bayes {
    /// Returns the learned parameters.
    pub fn learned(&self) -> &BayesParameters {
        &self.learned
    }

    /// Returns the evidence of a text.
    pub fn evidence(&self, text: &str, field: Field) -> Evidence {
        self.counted(&counts(text, field), field)
    }

    /// Returns the evidence of words that were already counted.
    pub fn counted(&self, words: &[(u64, u32)], field: Field) -> Evidence {
        let odds = &self.log_odds[field.index()];
        let mut found = Evidence::default();
        for &(word, occurrences) in words {
            if let Some(log_odds) = odds.get(&word) {
                let weight = weight(occurrences);
                found.log_odds += weight * log_odds;
                found.words += weight;
            }
        }
        found
    }

    /// Returns the calibrated probability that a page with this evidence is of the topic.
    pub fn page(&self, evidence: [Evidence; 3]) -> f64 {
        self.learned.page.probability(evidence.map(Evidence::score))
    }

    /// Returns the probability by text and title alone, without URL and links.
    pub fn judge_words(&self, page: &PageWords) -> f64 {
        self.page([
            self.counted(&page.body, Field::Text),
            self.counted(&page.title, Field::Title),
            Evidence::default(),
        ])
    }

    /// Returns the probability that a page is of the topic, by all fields.
    pub fn judge(&self, page: &TrainingDocument<'_>) -> f64 {
        let said = self.evidence(page.text, Field::Text);
        self.page([
            said.and(self.evidence(page.anchors, Field::Text)),
            self.evidence(page.title, Field::Title),
            self.evidence(page.url, Field::Url),
        ])
    }

    /// Returns the probability that an unread page is of the topic, by anchors and URL.
    pub fn link(&self, anchors: Evidence, url: Evidence) -> f64 {
        let scores = [anchors.score(), 0.0, url.score()];
        self.learned.link.probability(scores)
    }

    /// Returns the uncalibrated posterior, which treats all words as independent.
    ///
    /// The prior is the share of examples on the topic.
    pub fn posterior(&self, evidence: [Evidence; 3]) -> f64 {
        let [off, on] = self.learned.examples.map(f64::from);
        let words = evidence.iter().map(|found| f64::from(found.log_odds));
        logistic((on / off).ln() + words.sum::<f64>())
    }

    /// Returns the `most` strongest words of a text, for or against the topic.
    ///
    /// Each word comes with what all its occurrences add to the log odds. The largest absolute
    /// value is first.
    pub fn telling(&self, text: &str, field: Field, most: usize) -> Vec<(String, f32)> {
        let mut found: Vec<(String, f32)> = Vec::new();
        let occurrences: ByWord<u32> = counts(text, field).into_iter().collect();
        for word in &self.learned.words[field.index()] {
            let hash = hash(&word.word);
            if let Some(&count) = occurrences.get(&hash) {
                let log_odds = self.log_odds[field.index()].get(&hash).copied();
                found.push((word.word.clone(), weight(count) * log_odds.unwrap_or(0.0)));
            }
        }
        found.sort_by(|one, other| other.1.abs().total_cmp(&one.1.abs()));
        found.truncate(most);
        found
    }

    /// Returns the `most` strongest words for the topic over all examples, each with its log
    /// odds.
    ///
    /// Words are ranked by their weight on the topic times their log odds. Without smoothing,
    /// this product is proportional to a word's part of the Kullback–Leibler divergence of the
    /// two sides.
    pub fn strongest(&self, field: Field, most: usize) -> Vec<(&str, f32)> {
        let words = &self.learned.words[field.index()];
        let mut found: Vec<(&str, f32, f32)> = words
            .iter()
            .filter_map(|word| {
                let log_odds = *self.log_odds[field.index()].get(&hash(&word.word))?;
                Some((word.word.as_str(), log_odds, word.weights[1] * log_odds))
            })
            .collect();
        found.sort_by(|one, other| other.2.total_cmp(&one.2));
        found.truncate(most);
        found
            .into_iter()
            .map(|(word, odds, _)| (word, odds))
            .collect()
    }
}

/// Turns the weights of words into log odds with Laplace smoothing.
pub(super) struct Odds {
    /// N(c) + V of both sides.
    totals: Sides<f64>,
}

impl Odds {
    /// Sums the weights of a vocabulary.
    pub fn of(weights: impl Iterator<Item = Sides<f32>>) -> Self {
        let mut totals = [0.0; 2];
        for word in weights {
            // Laplace smoothing adds one per word.
            totals[0] += f64::from(word[0]) + 1.0;
            totals[1] += f64::from(word[1]) + 1.0;
        }
        Self { totals }
    }

    /// Returns ln P(w | on)/P(w | off).
    pub fn log(&self, weights: Sides<f32>) -> f32 {
        let share = |side: usize| (f64::from(weights[side]) + 1.0) / self.totals[side];
        (share(1) / share(0)).ln() as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(word: &str, off: f32, on: f32) -> TrainedWord {
        TrainedWord {
            word: word.into(),
            weights: [off, on],
        }
    }

    /// Returns the classifier of Manning, Raghavan & Schütze, table 13.1: three examples on
    /// China, one not.
    fn china() -> Bayes {
        let text = vec![
            word("chinese", 1.0, 5.0),
            word("beijing", 0.0, 1.0),
            word("shanghai", 0.0, 1.0),
            word("macao", 0.0, 1.0),
            word("tokyo", 1.0, 0.0),
            word("japan", 1.0, 0.0),
        ];
        Bayes::from(BayesParameters {
            examples: [1, 3],
            words: [text, Vec::new(), Vec::new()],
            page: LogisticCurve::default(),
            link: LogisticCurve::default(),
        })
    }

    #[test]
    fn the_posterior_follows_from_the_word_probabilities_of_the_book() {
        let china = china();
        // P(Chinese|c) = 6/14, P(Tokyo|c) = P(Japan|c) = 1/14; P(·|¬c) = 2/9 for all three. With
        // one occurrence each: ¾·(6/14)·(1/14)² against ¼·(2/9)³.
        let evidence = china.evidence("Chinese Tokyo Japan", Field::Text);
        let (on, off): (f64, f64) = (0.75 * 6.0 / 14.0 / 196.0, 0.25 * 8.0 / 729.0);
        let found = china.posterior([evidence, Evidence::default(), Evidence::default()]);
        assert!((found - on / (on + off)).abs() < 1e-6, "{found}");
        // Three occurrences have weight 2, and unknown words have none.
        let evidence = china.evidence("chinese CHINESE, Chinese unheard of", Field::Text);
        let odds = 3.0 * (54.0f64 / 28.0).powi(2);
        let found = china.posterior([evidence, Evidence::default(), Evidence::default()]);
        assert!((found - odds / (1.0 + odds)).abs() < 1e-6, "{found}");
        assert_eq!(evidence.words, 2.0);
    }

    #[test]
    fn evidence_adds_up_and_its_score_is_divided_by_the_root_of_its_weight() {
        let china = china();
        let [one, two] = ["Beijing Japan", "Tokyo"].map(|text| china.evidence(text, Field::Text));
        let both = china.evidence("Beijing Japan Tokyo", Field::Text);
        assert!((one.and(two).log_odds - both.log_odds).abs() < 1e-6);
        assert!((both.score() - f64::from(both.log_odds) / 3f64.sqrt()).abs() < 1e-9);
        assert_eq!(Evidence::default().score(), 0.0);
    }

    #[test]
    fn the_strongest_words_are_returned() {
        let china = china();
        let words = china.telling("Chinese in Tokyo and Chinese in Beijing", Field::Text, 2);
        assert_eq!(
            (words[0].0.as_str(), words[1].0.as_str()),
            ("tokyo", "chinese")
        );
        assert!(words[0].1 < 0.0 && words[1].1 > 0.0, "{words:?}");
        assert_eq!(china.strongest(Field::Text, 1)[0].0, "chinese");
    }
}
