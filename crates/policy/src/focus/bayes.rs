//! How likely is a page to be of a topic, by its words?
//!
//! Multinomial naive Bayes over the words of text, title and URL, each with probabilities of its own, smoothed by
//! Laplace: P(w | c) = (n(w, c) + 1)/(N(c) + V). Words that no example had say nothing. The bare posterior is far too
//! sure of itself, since words of a page are anything but independent; so the log odds of each field, divided by the
//! root of its length, go through a [`Curve`] that cross-validation found.
//!
//! **Invariant:** evidence is a sum over words, so that the evidence of a URL or an anchor can be kept in
//! eight bytes and added to that of the text when it comes.

use serde::{Deserialize, Serialize};

use super::calibration::{Curve, logistic};
use super::trainer::Document;
use super::word_counts::{ByWord, Field, Written, counts, weight};
use crate::words::hash;

/// Example pages off the topic, and on it.
pub type Sides<T> = [T; 2];

/// What speaks for the topic in some words: the sum of their log odds, and what they weigh.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Evidence {
    /// Σ weight · ln P(w | on)/P(w | off).
    pub log_odds: f32,
    /// Σ weight.
    pub words: f32,
}

impl Evidence {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            log_odds: self.log_odds + other.log_odds,
            words: self.words + other.words,
        }
    }

    /// Log odds over the root of the length.
    pub fn score(self) -> f64 {
        match self.words > 0.0 {
            true => f64::from(self.log_odds) / f64::from(self.words).sqrt(),
            false => 0.0,
        }
    }
}

/// A word and how much of it the examples had.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Word {
    /// In lower case.
    pub word: String,
    /// Its weight in examples off and on the topic.
    pub weights: Sides<f32>,
}

/// What was learned from examples: all that has to be kept of a classifier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Learned {
    /// How many examples there were.
    pub examples: Sides<u32>,
    /// The words of each field.
    pub words: [Vec<Word>; 3],
    /// The curve for pages that were read.
    pub page: Curve,
    /// The curve for links, of which anchor and URL are known.
    pub link: Curve,
}

/// A classifier, ready.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Learned", into = "Learned")]
pub struct Bayes {
    learned: Learned,
    log_odds: [ByWord<f32>; 3],
}

impl From<Learned> for Bayes {
    fn from(learned: Learned) -> Self {
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

impl From<Bayes> for Learned {
    fn from(bayes: Bayes) -> Self {
        bayes.learned
    }
}

impl Bayes {
    /// What was learned.
    pub fn learned(&self) -> &Learned {
        &self.learned
    }

    /// What speaks for the topic in these words.
    pub fn evidence(&self, text: &str, field: Field) -> Evidence {
        self.counted(&counts(text, field), field)
    }

    /// The same of words that were counted.
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

    /// The probability that a page with this evidence is of the topic.
    pub fn page(&self, evidence: [Evidence; 3]) -> f64 {
        self.learned.page.probability(evidence.map(Evidence::score))
    }

    /// The probability that a page that says this is of the topic, whatever its URL and the links to it say.
    pub fn written(&self, page: &Written) -> f64 {
        self.page([
            self.counted(&page.body, Field::Text),
            self.counted(&page.title, Field::Title),
            Evidence::default(),
        ])
    }

    /// The probability that a page is of the topic of which all this is known.
    pub fn judge(&self, page: &Document<'_>) -> f64 {
        let said = self.evidence(page.text, Field::Text);
        self.page([
            said.and(self.evidence(page.anchors, Field::Text)),
            self.evidence(page.title, Field::Title),
            self.evidence(page.url, Field::Url),
        ])
    }

    /// The same before anybody read the page: of anchors and URL.
    pub fn link(&self, anchors: Evidence, url: Evidence) -> f64 {
        let scores = [anchors.score(), 0.0, url.score()];
        self.learned.link.probability(scores)
    }

    /// What Bayes' rule says without calibration: the share of examples and all words, as if these were independent.
    pub fn posterior(&self, evidence: [Evidence; 3]) -> f64 {
        let [off, on] = self.learned.examples.map(f64::from);
        let words = evidence.iter().map(|found| f64::from(found.log_odds));
        logistic((on / off).ln() + words.sum::<f64>())
    }

    /// The words of a text that say most, for the topic and against it: each with what all its occurrences add
    /// to the log odds, the strongest first.
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

    /// The words of the examples that say most for the topic, each with its log odds. What weighs: a word's
    /// share of the topic times its log odds, which is its part in the divergence of the two sides.
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

/// Turns weights of words into log odds.
pub(super) struct Odds {
    /// N(c) + V of both sides.
    totals: Sides<f64>,
}

impl Odds {
    /// Over a vocabulary with these weights.
    pub fn of(weights: impl Iterator<Item = Sides<f32>>) -> Self {
        let mut totals = [0.0; 2];
        for word in weights {
            // One more for each word: Laplace.
            totals[0] += f64::from(word[0]) + 1.0;
            totals[1] += f64::from(word[1]) + 1.0;
        }
        Self { totals }
    }

    /// ln P(w | on)/P(w | off).
    pub fn log(&self, weights: Sides<f32>) -> f32 {
        let share = |side: usize| (f64::from(weights[side]) + 1.0) / self.totals[side];
        (share(1) / share(0)).ln() as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(word: &str, off: f32, on: f32) -> Word {
        Word {
            word: word.into(),
            weights: [off, on],
        }
    }

    /// Three examples on, one off; the example of Manning, Raghavan & Schütze, table 13.1: China or not.
    fn china() -> Bayes {
        let text = vec![
            word("chinese", 1.0, 5.0),
            word("beijing", 0.0, 1.0),
            word("shanghai", 0.0, 1.0),
            word("macao", 0.0, 1.0),
            word("tokyo", 1.0, 0.0),
            word("japan", 1.0, 0.0),
        ];
        Bayes::from(Learned {
            examples: [1, 3],
            words: [text, Vec::new(), Vec::new()],
            page: Curve::default(),
            link: Curve::default(),
        })
    }

    #[test]
    fn the_posterior_is_that_of_the_book() {
        let china = china();
        // P(Chinese|c) = 6/14, P(Tokyo|c) = P(Japan|c) = 1/14; P(·|¬c) = 2/9 for all three. One occurrence each:
        // ¾·(6/14)·(1/14)² against ¼·(2/9)³.
        let evidence = china.evidence("Chinese Tokyo Japan", Field::Text);
        let (on, off): (f64, f64) = (0.75 * 6.0 / 14.0 / 196.0, 0.25 * 8.0 / 729.0);
        let found = china.posterior([evidence, Evidence::default(), Evidence::default()]);
        assert!((found - on / (on + off)).abs() < 1e-6, "{found}");
        // Three occurrences weigh two, and unknown words nothing.
        let evidence = china.evidence("chinese CHINESE, Chinese unheard of", Field::Text);
        let odds = 3.0 * (54.0f64 / 28.0).powi(2);
        let found = china.posterior([evidence, Evidence::default(), Evidence::default()]);
        assert!((found - odds / (1.0 + odds)).abs() < 1e-6, "{found}");
        assert_eq!(evidence.words, 2.0);
    }

    #[test]
    fn evidence_adds_up_over_the_root_of_its_length() {
        let china = china();
        let [one, two] = ["Beijing Japan", "Tokyo"].map(|text| china.evidence(text, Field::Text));
        let both = china.evidence("Beijing Japan Tokyo", Field::Text);
        assert!((one.and(two).log_odds - both.log_odds).abs() < 1e-6);
        assert!((both.score() - f64::from(both.log_odds) / 3f64.sqrt()).abs() < 1e-9);
        assert_eq!(Evidence::default().score(), 0.0);
    }

    #[test]
    fn it_says_which_words_were_telling() {
        let china = china();
        let told = china.telling("Chinese in Tokyo and Chinese in Beijing", Field::Text, 2);
        assert_eq!(
            (told[0].0.as_str(), told[1].0.as_str()),
            ("tokyo", "chinese")
        );
        assert!(told[0].1 < 0.0 && told[1].1 > 0.0, "{told:?}");
        assert_eq!(china.strongest(Field::Text, 1)[0].0, "chinese");
    }
}
