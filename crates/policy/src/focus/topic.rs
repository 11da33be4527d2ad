//! What does the user want to read about?
//!
//! Known by examples, from which a classifier was [trained](super::Trainer), by the words of a query, or by a predicate.

use serde::{Deserialize, Serialize};

use super::bayes::Bayes;
use super::predicate::Predicate;
use crate::catalog::CatalogError;
use crate::query::Query;

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
        }
    }

    /// Pages of which a predicate holds.
    pub fn described(text: impl Into<String>, predicate: Predicate) -> Self {
        Self {
            name: text.into(),
            known: Known::Where(Box::new(predicate)),
            layers: Vec::new(),
        }
    }

    /// A topic of which the user says only these words.
    ///
    /// # Errors
    /// If there is no word among them, or far too many.
    pub fn words(words: &str) -> Result<Self, CatalogError> {
        Query::new(words)?;
        Ok(Self {
            name: words.to_owned(),
            known: Known::Words(words.to_owned()),
            layers: Vec::new(),
        })
    }
}
