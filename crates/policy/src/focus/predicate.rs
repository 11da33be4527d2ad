//! What does a page have to be, in the user's own words?
//!
//! `contains("workshop") and topic("ml") > .7 and not url("/archive/")`: the predicates of Aggarwal, Al-Garawi & Yu, "Intelligent crawling on
//! the World Wide Web with arbitrary predicates" (WWW 2001). Grammar: `or` binds least, then `and`, then `not`; parentheses; a test that
//! is a number (`topic`, `similar`) is compared by `>`, `>=`, `<` or `<=`, and without that with one half. What is not known
//! of a page, its language or date, is not what was asked for.
//!
//! **Invariant:** reading never panics and takes time linear in the text, nested at most [`reader::DEEPEST`]; what cannot be read is
//! refused with the character that it fails at.

mod reader;

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::topic::Topic;
use super::trainer::Document;
use super::word_counts::{ByWord, Field, counts};
use crate::About;
use crate::words::{hash, words};
use reader::Reader;

/// A page, as a predicate sees it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Candidate<'a> {
    /// URL, title and text.
    pub document: Document<'a>,
    /// Its host; empty if unknown.
    pub host: &'a str,
    /// Its language and its date, if known.
    pub about: About<'a>,
}

impl<'a> Candidate<'a> {
    /// A page of which this is known; its host is that of its URL.
    pub fn of(document: Document<'a>) -> Self {
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

/// What names in a predicate stand for.
pub struct Meanings<'a> {
    /// The topic of this name.
    pub topic: &'a dyn Fn(&str) -> Option<Arc<Topic>>,
    /// The time of a date such as `2024-05` or `2019..2021`, in Unix seconds.
    pub span: &'a dyn Fn(&str) -> Option<Range<i64>>,
}

/// What can be asked of a page.
#[derive(Debug, Clone, PartialEq)]
enum Test {
    /// All words of a phrase, one after another, in title or text.
    Contains(Vec<u64>),
    /// The same in the title.
    Title(Vec<u64>),
    /// A part of the URL, letter by letter.
    Url(String),
    /// The host, or a domain that it is in.
    Host(String),
    /// The probability of a topic.
    Topic(String),
    /// The cosine of word counts with a text.
    Similar(ByWord<f64>),
    /// The code of the language, or how it begins: `pt` is also `pt-br`.
    Language(String),
    /// A time that the page is of.
    Date(Range<i64>),
}

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Test(Test, Option<(Compare, f64)>),
    Not(Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Compare {
    Above,
    AtLeast,
    Below,
    AtMost,
}

/// A predicate, with the topics that it names.
#[derive(Debug, Clone)]
pub struct Predicate {
    node: Node,
    topics: HashMap<String, Arc<Topic>>,
}

/// Why a predicate cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The predicate.
    pub text: String,
    /// Where it fails, in characters from one.
    pub column: usize,
    /// What is wrong there.
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
    /// Reads a predicate.
    ///
    /// # Errors
    /// If it cannot be read, or names a topic or a date that there is not.
    pub fn read(text: &str, meanings: &Meanings<'_>) -> Result<Self, Unreadable> {
        let (node, topics) = Reader::new(text, meanings).whole()?;
        Ok(Self { node, topics })
    }

    /// Whether a page is what the user wants.
    pub fn holds(&self, page: &Candidate<'_>) -> bool {
        self.judge(&self.node, page)
    }

    fn judge(&self, node: &Node, page: &Candidate<'_>) -> bool {
        match node {
            Node::Not(inner) => !self.judge(inner, page),
            Node::And(one, other) => self.judge(one, page) && self.judge(other, page),
            Node::Or(one, other) => self.judge(one, page) || self.judge(other, page),
            Node::Test(test, compared) => {
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
            Test::Contains(phrase) => yes(has(said.text, phrase) || has(said.title, phrase)),
            Test::Title(phrase) => yes(has(said.title, phrase)),
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

/// Whether a text has the words of a phrase one after another.
fn has(text: &str, phrase: &[u64]) -> bool {
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
