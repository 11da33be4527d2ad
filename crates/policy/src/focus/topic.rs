//! What does the user want to read about?
//!
//! Known by examples, from which a classifier was [trained](super::Trainer), by the words of a query, or by a predicate.

use serde::{Deserialize, Serialize};

use super::bayes::Bayes;
use super::guide::Guide;
use super::predicate::{Candidate, Predicate};
use super::trainer::Document;
use crate::query::{Query, QueryError, similarity};
use crate::{About, Text};

/// A topic.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Topic {
    /// What the user calls it.
    pub name: String,
    /// How it is known.
    pub known: Known,
    /// Classifiers for pages that are so many links from one of the topic: the first for pages of which a link leads
    /// there. Empty if nobody knows.
    #[serde(default)]
    pub layers: Vec<Bayes>,
    /// What links led to in crawls that have ended; `None` if nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guide: Option<Guide>,
    /// Classifiers of the topics above it, the nearest first: it was taught among their pages, and a page is of it if it
    /// is of all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub above: Vec<Bayes>,
}

/// How a topic is known.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Known {
    /// By examples.
    Examples(Box<Bayes>),
    /// By the words of a query.
    Words(String),
    /// By a predicate; what it is made of is kept elsewhere.
    #[serde(skip)]
    Where(Box<Predicate>),
}

impl Topic {
    /// A topic that examples taught.
    pub fn taught(name: impl Into<String>, bayes: Bayes) -> Self {
        Self {
            name: name.into(),
            known: Known::Examples(Box::new(bayes)),
            layers: Vec::new(),
            guide: None,
            above: Vec::new(),
        }
    }

    /// Pages of which a predicate holds.
    pub fn described(text: impl Into<String>, predicate: Predicate) -> Self {
        Self {
            name: text.into(),
            known: Known::Where(Box::new(predicate)),
            layers: Vec::new(),
            guide: None,
            above: Vec::new(),
        }
    }

    /// How likely a page is of it, of which all this is known; a query finds all of its words or some, and a predicate
    /// holds or does not.
    pub fn probability(&self, page: &Document<'_>) -> f64 {
        match &self.known {
            Known::Examples(bayes) => {
                let all = std::iter::once(&**bayes).chain(&self.above);
                all.map(|bayes| bayes.judge(page)).product()
            }
            Known::Words(words) => Query::new(words).map_or(0.0, |mut query| {
                let found = query.look_at_text(Text::Whole {
                    title: page.title,
                    body: page.text,
                    about: About::default(),
                });
                f64::from(similarity(found))
            }),
            Known::Where(predicate) => {
                let candidate = Candidate::of(*page);
                f64::from(u8::from(predicate.holds(&candidate)))
            }
        }
    }

    /// A topic of which the user says only these words.
    ///
    /// # Errors
    /// If there is no word among them, or far too many.
    pub fn words(words: &str) -> Result<Self, QueryError> {
        Query::new(words)?;
        Ok(Self {
            name: words.to_owned(),
            known: Known::Words(words.to_owned()),
            layers: Vec::new(),
            guide: None,
            above: Vec::new(),
        })
    }
}
