//! Topics of focused crawls.
//!
//! A topic is defined by examples, from which a classifier was [trained](super::Trainer), by the
//! words of a query, or by a predicate.

use serde::{Deserialize, Serialize};

use super::bayes::Bayes;
use super::guide::Guide;
use super::predicate::{Candidate, Predicate};
use super::trainer::TrainingDocument;
use crate::query::{Query, QueryError, similarity};
use crate::{About, Text};

/// A topic of a focused crawl.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Topic {
    /// The name that the user gave it.
    pub name: String,
    /// Its definition.
    pub known: TopicDefinition,
    /// Classifiers of pages by their link distance from the topic; the first is for distance
    /// one. Empty if they were not trained.
    #[serde(default)]
    pub layers: Vec<Bayes>,
    /// Link models from completed crawls; `None` if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guide: Option<Guide>,
    /// Classifiers of the parent topics, the nearest first.
    ///
    /// The topic's own classifier was trained among pages of its parent. A page is of the topic
    /// only if it is of all parents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub above: Vec<Bayes>,
}

/// The definition of a topic.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TopicDefinition {
    /// A classifier, trained on examples.
    Examples(Box<Bayes>),
    /// The words of a query.
    Words(String),
    /// A predicate. It is not serialized here; its text is stored elsewhere.
    #[serde(skip)]
    Where(Box<Predicate>),
}

impl Topic {
    /// Creates a topic from a trained classifier.
    pub fn taught(name: impl Into<String>, bayes: Bayes) -> Self {
        Self {
            name: name.into(),
            known: TopicDefinition::Examples(Box::new(bayes)),
            layers: Vec::new(),
            guide: None,
            above: Vec::new(),
        }
    }

    /// Creates the topic of all pages for which a predicate holds.
    pub fn described(text: impl Into<String>, predicate: Predicate) -> Self {
        Self {
            name: text.into(),
            known: TopicDefinition::Where(Box::new(predicate)),
            layers: Vec::new(),
            guide: None,
            above: Vec::new(),
        }
    }

    /// Returns the probability that a page is of the topic.
    ///
    /// For a query this is the similarity to its words. For a predicate it is 0 or 1.
    pub fn probability(&self, page: &TrainingDocument<'_>) -> f64 {
        match &self.known {
            TopicDefinition::Examples(bayes) => {
                let all = std::iter::once(&**bayes).chain(&self.above);
                all.map(|bayes| bayes.judge(page)).product()
            }
            TopicDefinition::Words(words) => Query::new(words).map_or(0.0, |mut query| {
                let found = query.look_at_text(Text::Whole {
                    title: page.title,
                    body: page.text,
                    about: About::default(),
                });
                f64::from(similarity(found))
            }),
            TopicDefinition::Where(predicate) => {
                let candidate = Candidate::of(*page);
                f64::from(u8::from(predicate.holds(&candidate)))
            }
        }
    }

    /// Creates a topic from the words of a query.
    ///
    /// # Errors
    /// If the text has no word, or too many.
    pub fn words(words: &str) -> Result<Self, QueryError> {
        Query::new(words)?;
        Ok(Self {
            name: words.to_owned(),
            known: TopicDefinition::Words(words.to_owned()),
            layers: Vec::new(),
            guide: None,
            above: Vec::new(),
        })
    }
}
