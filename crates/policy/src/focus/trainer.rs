//! Trains a naive Bayes classifier from examples and cross-validates it.
//!
//! The examples are dealt into [`FOLDS`] folds. Each fold is judged by a classifier trained on
//! the others. The calibration curves are fitted to these judgements. `topic test` prints the
//! quality that follows from the judgements, and the least certain examples. A curve has four
//! parameters and is evaluated on the judgements that it was fitted to. With some dozens of
//! examples this bias is small.
//!
//! **Invariant:** the same examples in the same order give the same classifier.

use super::bayes::{Bayes, BayesParameters, Evidence, Odds, Sides, TrainedWord};
use super::calibration::LogisticCurve;
use super::word_counts::{ByWord, Field, counts, weight};
use crate::words::{each_word, hash, lower, unescape};

/// Number of folds of the cross-validation.
const FOLDS: usize = 5;
/// Maximum number of words stored per field, which limits a model to some megabytes.
const MOST_WORDS: usize = 60_000;
/// With at least this number of examples, a word that a field has in only one of them is dropped
/// as a name or a typo. Anchors count apart: a word in both the text and the anchors of one
/// example is kept.
const MANY: usize = 50;
/// Minimum number of examples with anchors in each class for a separate calibration curve for
/// links.
const LINKED: usize = 20;

/// A page to train on or to judge.
#[derive(Debug, Clone, Copy, Default)]
pub struct TrainingDocument<'a> {
    /// Its URL; empty if it has none.
    pub url: &'a str,
    /// Its title.
    pub title: &'a str,
    /// Its readable text.
    pub text: &'a str,
    /// The known anchor texts of links to it.
    pub anchors: &'a str,
}

/// Collects examples and trains classifiers.
#[derive(Debug, Clone, Default)]
pub struct Trainer {
    fields: [FieldVocabulary; 3],
    examples: Vec<WeightedExample>,
}

#[derive(Debug, Clone, Default)]
struct FieldVocabulary {
    places: ByWord<u32>,
    words: Vec<String>,
}

/// Words by their index in the vocabulary, with their weights.
type WordWeights = Vec<(u32, f32)>;

#[derive(Debug, Clone)]
struct WeightedExample {
    on: bool,
    fields: [WordWeights; 3],
    /// The words of the anchors alone. The words of the text include them, too.
    anchors: WordWeights,
}

/// A classifier and its cross-validated judgements.
#[derive(Debug, Clone)]
pub struct Trained {
    /// The classifier, trained on all examples.
    pub bayes: Bayes,
    /// For each example in order: its held-out probability, and whether it is of the topic.
    pub judged: Vec<(f64, bool)>,
}

/// The error that a class has fewer than two examples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooFew {
    /// Number of examples off the topic, and on it.
    pub examples: Sides<usize>,
}

impl std::fmt::Display for TooFew {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [off, on] = self.examples;
        write!(
            f,
            "there are {on} examples of the topic and {off} of other things: at least two of each are needed, and fifty are better"
        )
    }
}

impl std::error::Error for TooFew {}

impl Trainer {
    /// Adds an example that is of the topic (`on`) or not.
    pub fn add(&mut self, page: &TrainingDocument<'_>, on: bool) {
        let mut text = self.weigh(page.text, Field::Text);
        let anchors = self.weigh(page.anchors, Field::Text);
        text.extend_from_slice(&anchors);
        let title = self.weigh(page.title, Field::Title);
        let url = self.weigh(page.url, Field::Url);
        self.examples.push(WeightedExample {
            on,
            fields: [text, title, url],
            anchors,
        });
    }

    /// Returns the number of examples off the topic, and on it.
    pub fn examples(&self) -> Sides<usize> {
        let on = self.examples.iter().filter(|example| example.on).count();
        [self.examples.len() - on, on]
    }

    /// Trains a classifier on all examples.
    ///
    /// # Errors
    /// If a class has fewer than two examples.
    pub fn train(&self) -> Result<Trained, TooFew> {
        let examples = self.examples();
        if examples.iter().any(|count| *count < 2) {
            return Err(TooFew { examples });
        }
        let kept = Field::ALL.map(|field| self.kept(field));
        let all = Field::ALL.map(|field| self.weights(field, |_| true));
        let (mut scores, mut links) = (vec![None; self.examples.len()], Vec::new());
        for fold in &self.folds() {
            let odds = Field::ALL.map(|field| {
                let rest = self.weights(field, |example| fold.contains(&example));
                let pairs = all[field.index()].iter().zip(rest);
                let rest: Vec<_> = pairs
                    .map(|(all, held)| [0, 1].map(|side| (all[side] - held[side]).max(0.0)))
                    .collect();
                log_odds(&rest, &kept[field.index()])
            });
            for &place in fold {
                let example = &self.examples[place];
                let found = Field::ALL.map(|field| {
                    let index = field.index();
                    evidence(&example.fields[index], &odds[index]).score()
                });
                scores[place] = Some((found, example.on));
                if !example.anchors.is_empty() {
                    let anchors = evidence(&example.anchors, &odds[0]);
                    links.push(([anchors.score(), 0.0, found[2]], example.on));
                }
            }
        }
        let scores: Vec<_> = scores.into_iter().flatten().collect();
        let page = LogisticCurve::through(&scores);
        let on = links.iter().filter(|(_, on)| *on).count();
        let enough = on >= LINKED && links.len() - on >= LINKED;
        let link = if enough {
            LogisticCurve::through(&links)
        } else {
            page
        };
        let judged = scores
            .iter()
            .map(|(scores, on)| (page.probability(*scores), *on));
        let judged = judged.collect();
        let words = Field::ALL.map(|field| self.words(field, &all, &kept));
        let bayes = Bayes::from(BayesParameters {
            examples: examples.map(|count| u32::try_from(count).unwrap_or(u32::MAX)),
            words,
            page,
            link,
        });
        Ok(Trained { bayes, judged })
    }

    fn weigh(&mut self, text: &str, field: Field) -> WordWeights {
        let unescaped;
        let plain = match field {
            Field::Url => {
                unescaped = unescape(text);
                unescaped.as_ref()
            }
            Field::Text | Field::Title => text,
        };
        let vocabulary = &mut self.fields[field.index()];
        each_word(plain, |_, word| vocabulary.learn(word));
        let places = &vocabulary.places;
        let counted = counts(text, field).into_iter();
        counted
            .filter_map(|(word, count)| Some((*places.get(&word)?, weight(count))))
            .collect()
    }

    /// Deals the examples into [`FOLDS`] folds, round robin within each class.
    fn folds(&self) -> Vec<Vec<usize>> {
        let mut folds = vec![Vec::new(); FOLDS];
        let mut dealt = [0, 0];
        for (place, example) in self.examples.iter().enumerate() {
            let side = usize::from(example.on);
            folds[dealt[side] % FOLDS].push(place);
            dealt[side] += 1;
        }
        folds
    }

    /// Returns the total weight of each word of a field in the wanted examples, off the topic
    /// and on it.
    fn weights(&self, field: Field, wanted: impl Fn(usize) -> bool) -> Vec<Sides<f32>> {
        let mut weights = vec![[0.0; 2]; self.fields[field.index()].words.len()];
        for (place, example) in self.examples.iter().enumerate() {
            if wanted(place) {
                for &(word, weight) in &example.fields[field.index()] {
                    weights[word as usize][usize::from(example.on)] += weight;
                }
            }
        }
        weights
    }

    /// Returns which words to keep: those in enough examples, and at most the [`MOST_WORDS`]
    /// commonest.
    fn kept(&self, field: Field) -> Vec<bool> {
        let mut seen = vec![0u32; self.fields[field.index()].words.len()];
        for example in &self.examples {
            for &(word, _) in &example.fields[field.index()] {
                seen[word as usize] += 1;
            }
        }
        let least = if self.examples.len() < MANY { 1 } else { 2 };
        let mut common: Vec<usize> = (0..seen.len())
            .filter(|word| seen[*word] >= least)
            .collect();
        common.sort_by_key(|word| std::cmp::Reverse(seen[*word]));
        common.truncate(MOST_WORDS);
        let mut kept = vec![false; seen.len()];
        common.into_iter().for_each(|word| kept[word] = true);
        kept
    }

    fn words(
        &self,
        field: Field,
        all: &[Vec<Sides<f32>>; 3],
        kept: &[Vec<bool>; 3],
    ) -> Vec<TrainedWord> {
        let index = field.index();
        let words = self.fields[index].words.iter().zip(&all[index]);
        let words = words.zip(&kept[index]).filter(|(_, kept)| **kept);
        words
            .map(|((word, weights), _)| TrainedWord {
                word: word.clone(),
                weights: *weights,
            })
            .collect()
    }
}

impl FieldVocabulary {
    fn learn(&mut self, word: &str) {
        let next = self.words.len() as u32;
        self.places.entry(hash(word)).or_insert_with(|| {
            self.words.push(lower(word).collect());
            next
        });
    }
}

fn log_odds(weights: &[Sides<f32>], kept: &[bool]) -> Vec<Option<f32>> {
    let known = weights.iter().zip(kept).filter(|(_, kept)| **kept);
    let odds = Odds::of(known.map(|(weights, _)| *weights));
    let each = weights.iter().zip(kept);
    each.map(|(weights, kept)| {
        // A word that only held-out examples have was not seen in training.
        let seen = *kept && weights.iter().any(|weight| *weight > 1e-4);
        seen.then(|| odds.log(*weights))
    })
    .collect()
}

fn evidence(words: &WordWeights, log_odds: &[Option<f32>]) -> Evidence {
    let mut found = Evidence::default();
    for &(word, weight) in words {
        if let Some(odds) = log_odds[word as usize] {
            found.log_odds += weight * odds;
            found.words += weight;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page<'a>(text: &'a str, title: &'a str, url: &'a str) -> TrainingDocument<'a> {
        TrainingDocument {
            url,
            title,
            text,
            anchors: "",
        }
    }

    #[test]
    fn word_weights_are_summed_over_the_examples() {
        let mut trainer = Trainer::default();
        for text in ["Chinese Beijing", "Chinese Shanghai", "Chinese Macao"] {
            trainer.add(&page(text, "China", "http://a.cn/"), true);
        }
        trainer.add(&page("Tokyo Japan Chinese Japan Japan", "", ""), false);
        assert_eq!(trainer.train().unwrap_err().examples, [1, 3]);
        trainer.add(&page("Tokyo", "", ""), false);
        let bayes = trainer.train().unwrap().bayes;
        let learned = bayes.learned();
        let weights = |field: usize, word: &str| {
            let found = learned.words[field].iter().find(|known| known.word == word);
            found.map(|found| found.weights)
        };
        assert_eq!(weights(0, "chinese"), Some([1.0, 3.0]));
        assert_eq!(weights(0, "japan"), Some([2.0, 0.0]), "log₂(1 + 3)");
        assert_eq!(weights(0, "tokyo"), Some([2.0, 0.0]));
        assert_eq!(weights(1, "china"), Some([0.0, 3.0]));
        assert_eq!(weights(2, "cn"), Some([0.0, 3.0]));
        assert_eq!(learned.examples, [2, 3]);
        // V = 6, N(on) = 6, N(off) = 5: ln (4/12)/(2/11).
        let found = bayes.evidence("chinese", Field::Text);
        let expected = (4.0f32 / 12.0 / (2.0 / 11.0)).ln();
        assert!((found.log_odds - expected).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn examples_are_judged_by_classifiers_that_were_not_trained_on_them() {
        // Each example has a unique word, which would give it away, and two words that all
        // share.
        let words: Vec<String> = (0..40).map(|n| format!("own{n} and the")).collect();
        let mut trainer = Trainer::default();
        for (n, text) in words.iter().enumerate() {
            trainer.add(&page(text, "", ""), n % 2 == 0);
        }
        let trained = trainer.train().unwrap();
        for (probability, _) in &trained.judged {
            assert!((probability - 0.5).abs() < 0.1, "{probability}");
        }
    }

    #[test]
    fn calibrated_probabilities_equal_the_shares_of_examples() {
        // `red` is in three of four pages on the topic and in one of four others.
        let mut trainer = Trainer::default();
        for n in 0..400 {
            let on = n % 2 == 0;
            let red = n / 2 % 4 < if on { 3 } else { 1 };
            let text = if red {
                "red page here"
            } else {
                "blue page here"
            };
            trainer.add(&page(text, "", ""), on);
        }
        let bayes = trainer.train().unwrap().bayes;
        for (text, share) in [("red page here", 0.75), ("blue page here", 0.25)] {
            let text = bayes.evidence(text, Field::Text);
            let found = bayes.page([text, Evidence::default(), Evidence::default()]);
            assert!((found - share).abs() < 0.02, "{found}");
        }
    }

    #[test]
    fn a_classifier_equals_the_one_made_from_its_parameters() {
        let mut trainer = Trainer::default();
        for n in 0..8 {
            let text = format!("fox {n}");
            trainer.add(&page(&text, "a title", "http://e.org/x"), n % 2 == 0);
        }
        let bayes = trainer.train().unwrap().bayes;
        assert_eq!(Bayes::from(BayesParameters::from(bayes.clone())), bayes);
    }
}
