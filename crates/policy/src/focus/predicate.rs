//! Predicates over pages, written by the user.
//!
//! An example: `contains("workshop") and topic("ml") > .7 and not url("/archive/")`. The idea is
//! from Aggarwal, Al-Garawi & Yu, "Intelligent crawling on the World Wide Web with arbitrary
//! predicates" (WWW 2001).
//!
//! Grammar: `or` binds least, then `and`, then `not`; parentheses group. A test yields a number:
//! from 0 to 1 for `topic` and `similar`, 0 or 1 for the others. It may be compared by `>`, `>=`,
//! `<` or `<=`. Without a comparison a test holds if it yields at least 0.5. A test of a property
//! that is unknown, such as the language or the date, yields 0.
//!
//! **Invariant:** parsing never panics and takes time linear in the text. Nesting is limited to
//! [`parser::DEEPEST`]. A parse error names the character at which it occurred.

mod parser;

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::topic::Topic;
use super::trainer::TrainingDocument;
use super::word_counts::{ByWord, Field, counts};
use crate::About;
use crate::words::{hash, words};
use parser::PredicateParser;

/// A page that a predicate is evaluated on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Candidate<'a> {
    /// Its URL, title and text.
    pub document: TrainingDocument<'a>,
    /// Its host; empty if unknown.
    pub host: &'a str,
    /// Its language and date, if known.
    pub about: About<'a>,
}

impl<'a> Candidate<'a> {
    /// Creates a candidate whose host is taken from its URL.
    pub fn of(document: TrainingDocument<'a>) -> Self {
        let url = document.url;
        let after = url.split_once("://").map_or(url, |(_, rest)| rest);
        let host = after.split(['/', ':', '?', '#']).next().unwrap_or_default();
        Self {
            document,
            host,
            about: About::default(),
        }
    }
}

/// Resolves the names in a predicate.
pub struct Meanings<'a> {
    /// Returns the topic of this name.
    pub topic: &'a dyn Fn(&str) -> Option<Arc<Topic>>,
    /// Returns the span of a date such as `2024-05` or `2019..2021`, in Unix seconds.
    pub span: &'a dyn Fn(&str) -> Option<Range<i64>>,
}

/// A test of one property of a page. Boolean tests yield 0 or 1.
#[derive(Debug, Clone, PartialEq)]
enum Test {
    /// The title or the text contains the words of a phrase in sequence.
    Contains(Vec<u64>),
    /// The title contains the words of a phrase in sequence.
    Title(Vec<u64>),
    /// The URL contains this text, case-sensitive.
    Url(String),
    /// The host is this one or a subdomain of it.
    Host(String),
    /// The probability that the page is of this topic.
    Topic(String),
    /// The cosine similarity between the word counts of the text and these.
    Similar(ByWord<f64>),
    /// The language has this code or a subtag of it: `pt` also matches `pt-br`.
    Language(String),
    /// The date of the page lies in this span, in Unix seconds.
    Date(Range<i64>),
}

#[derive(Debug, Clone, PartialEq)]
enum PredicateNode {
    Test(Test, Option<(Compare, f64)>),
    Not(Box<PredicateNode>),
    And(Box<PredicateNode>, Box<PredicateNode>),
    Or(Box<PredicateNode>, Box<PredicateNode>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Compare {
    Above,
    AtLeast,
    Below,
    AtMost,
}

/// A parsed predicate, with the topics that it names.
#[derive(Debug, Clone)]
pub struct Predicate {
    node: PredicateNode,
    topics: HashMap<String, Arc<Topic>>,
}

/// A parse error of a predicate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The whole predicate.
    pub text: String,
    /// The position of the error, in characters from one.
    pub column: usize,
    /// What is wrong at that position.
    pub why: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let below = " ".repeat(self.column - 1);
        write!(
            f,
            "the predicate cannot be read: {} at character {}\n  {}\n  {below}^\nwrite for example contains(\"workshop\") and not url(\"/archive/\")",
            self.why, self.column, self.text
        )
    }
}

impl std::error::Error for Unreadable {}

impl Predicate {
    /// Parses a predicate.
    ///
    /// # Errors
    /// If the syntax is wrong, or a topic or date in it is unknown.
    pub fn read(text: &str, meanings: &Meanings<'_>) -> Result<Self, Unreadable> {
        let (node, topics) = PredicateParser::new(text, meanings).whole()?;
        Ok(Self { node, topics })
    }

    /// Returns whether the predicate holds for a page.
    pub fn holds(&self, page: &Candidate<'_>) -> bool {
        self.judge(&self.node, page)
    }

    fn judge(&self, node: &PredicateNode, page: &Candidate<'_>) -> bool {
        match node {
            PredicateNode::Not(inner) => !self.judge(inner, page),
            PredicateNode::And(one, other) => self.judge(one, page) && self.judge(other, page),
            PredicateNode::Or(one, other) => self.judge(one, page) || self.judge(other, page),
            PredicateNode::Test(test, compared) => {
                let value = self.value(test, page);
                match compared {
                    None => value >= 0.5,
                    Some((Compare::Above, number)) => value > *number,
                    Some((Compare::AtLeast, number)) => value >= *number,
                    Some((Compare::Below, number)) => value < *number,
                    Some((Compare::AtMost, number)) => value <= *number,
                }
            }
        }
    }

    fn value(&self, test: &Test, page: &Candidate<'_>) -> f64 {
        let said = &page.document;
        let yes = |holds: bool| if holds { 1.0 } else { 0.0 };
        match test {
            Test::Contains(phrase) => {
                yes(contains_phrase(said.text, phrase) || contains_phrase(said.title, phrase))
            }
            Test::Title(phrase) => yes(contains_phrase(said.title, phrase)),
            Test::Url(part) => yes(said.url.contains(part.as_str())),
            Test::Host(name) => {
                let inside = page.host.strip_suffix(name.as_str());
                yes(inside.is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
            }
            Test::Topic(name) => {
                let topic = self.topics.get(name);
                topic.map_or(0.0, |topic| topic.probability(said))
            }
            Test::Similar(wanted) => cosine(wanted, &vector(said.text)),
            Test::Language(code) => yes(page.about.language.is_some_and(|language| {
                let rest = language.strip_prefix(code.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
            })),
            Test::Date(span) => yes(page.about.date.is_some_and(|date| span.contains(&date))),
        }
    }
}

/// Returns whether a text contains the words of a phrase in sequence.
fn contains_phrase(text: &str, phrase: &[u64]) -> bool {
    let found: Vec<u64> = words(text).map(hash).collect();
    found.windows(phrase.len()).any(|window| window == phrase)
}

fn vector(text: &str) -> ByWord<f64> {
    let words = counts(text, Field::Text).into_iter();
    words
        .map(|(word, count)| (word, f64::from(count)))
        .collect()
}

fn cosine(one: &ByWord<f64>, other: &ByWord<f64>) -> f64 {
    let length = |vector: &ByWord<f64>| {
        let squares = vector.values().map(|value| value * value);
        squares.sum::<f64>().sqrt()
    };
    let shared = one
        .iter()
        .filter_map(|(word, value)| Some(value * other.get(word)?));
    let product: f64 = shared.sum();
    match product > 0.0 {
        true => product / length(one) / length(other),
        false => 0.0,
    }
}

#[cfg(test)]
mod tests;
