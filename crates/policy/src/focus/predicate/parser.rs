//! A recursive-descent parser of predicates.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::topic::Topic;
use super::{Compare, Meanings, PredicateNode, Test, Unreadable, vector};
use crate::words::{hash, words};

/// Maximum nesting depth of parentheses and `not`.
pub(super) const DEEPEST: usize = 64;
/// Maximum number of tests. It bounds the depth of the tree, which is evaluated and dropped
/// recursively.
const MOST: usize = 1_000;
/// Names of all tests.
const TESTS: [&str; 8] = [
    "contains", "title", "url", "host", "language", "date", "topic", "similar",
];

/// A parser that reads from left to right.
pub(super) struct PredicateParser<'a> {
    text: &'a str,
    position: usize,
    tests: usize,
    topics: HashMap<String, Arc<Topic>>,
    meanings: &'a Meanings<'a>,
}

impl<'a> PredicateParser<'a> {
    pub(super) fn new(text: &'a str, meanings: &'a Meanings<'a>) -> Self {
        Self {
            text,
            position: 0,
            tests: 0,
            topics: HashMap::new(),
            meanings,
        }
    }

    /// Parses the whole text. Returns the tree and the topics that it names.
    pub(super) fn whole(
        mut self,
    ) -> Result<(PredicateNode, HashMap<String, Arc<Topic>>), Unreadable> {
        let node = self.or(0)?;
        self.space();
        if self.position < self.text.len() {
            return Err(self.wrong("`and`, `or` or the end is expected"));
        }
        Ok((node, self.topics))
    }

    fn or(&mut self, depth: usize) -> Result<PredicateNode, Unreadable> {
        let mut node = self.and(depth)?;
        while self.word("or") {
            node = PredicateNode::Or(Box::new(node), Box::new(self.and(depth)?));
        }
        Ok(node)
    }

    fn and(&mut self, depth: usize) -> Result<PredicateNode, Unreadable> {
        let mut node = self.not(depth)?;
        while self.word("and") {
            node = PredicateNode::And(Box::new(node), Box::new(self.not(depth)?));
        }
        Ok(node)
    }

    fn not(&mut self, depth: usize) -> Result<PredicateNode, Unreadable> {
        if depth > DEEPEST {
            return Err(self.wrong("it is nested too deep"));
        }
        if self.word("not") {
            return Ok(PredicateNode::Not(Box::new(self.not(depth + 1)?)));
        }
        if self.sign("(") {
            let node = self.or(depth + 1)?;
            return match self.sign(")") {
                true => Ok(node),
                false => Err(self.wrong("`)` is expected")),
            };
        }
        self.test()
    }

    fn test(&mut self) -> Result<PredicateNode, Unreadable> {
        self.space();
        self.tests += 1;
        if self.tests > MOST {
            return Err(self.wrong("there are too many tests"));
        }
        let start = self.position;
        let rest = self.rest();
        let end = rest
            .find(|letter: char| !letter.is_ascii_alphabetic())
            .unwrap_or(rest.len());
        let name = &rest[..end];
        self.position += end;
        if !TESTS.contains(&name) {
            self.position = start;
            return Err(self.wrong(
                "a test is expected: contains, title, url, host, language, date, topic or similar, with its text in parentheses and quotes",
            ));
        }
        if !self.sign("(") {
            return Err(self.wrong("`(` is expected"));
        }
        self.space();
        let quoted = self.position;
        let text = self.quoted()?;
        if !self.sign(")") {
            return Err(self.wrong("`)` is expected"));
        }
        let phrase: Vec<u64> = words(&text).map(hash).collect();
        let wrong = |why: &str| Unreadable {
            column: self.column(quoted),
            ..self.wrong(why)
        };
        let test = match name {
            "url" => Test::Url(text),
            "host" => Test::Host(text.to_ascii_lowercase()),
            "topic" => {
                let Some(topic) = (self.meanings.topic)(&text) else {
                    return Err(wrong(&format!("no topic is called {text:?}")));
                };
                self.topics.insert(text.clone(), topic);
                Test::Topic(text)
            }
            "date" => match (self.meanings.span)(&text) {
                Some(span) => Test::Date(span),
                None => {
                    let why = "a date is expected, such as 2024, 2024-05 or 2019..2021";
                    return Err(wrong(why));
                }
            },
            _ if phrase.is_empty() => return Err(wrong("there is no word to look for")),
            "language" => Test::Language(text.to_ascii_lowercase()),
            "similar" => Test::Similar(vector(&text)),
            "title" => Test::Title(phrase),
            _ => Test::Contains(phrase),
        };
        let compared = self.compared()?;
        Ok(PredicateNode::Test(test, compared))
    }

    fn compared(&mut self) -> Result<Option<(Compare, f64)>, Unreadable> {
        let compare = if self.sign(">=") {
            Compare::AtLeast
        } else if self.sign("<=") {
            Compare::AtMost
        } else if self.sign(">") {
            Compare::Above
        } else if self.sign("<") {
            Compare::Below
        } else {
            return Ok(None);
        };
        self.space();
        let rest = self.rest();
        let end = rest
            .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
            .unwrap_or(rest.len());
        let Ok(number) = rest[..end].parse::<f64>() else {
            return Err(self.wrong("a number is expected, such as .7"));
        };
        self.position += end;
        Ok(Some((compare, number)))
    }

    /// Parses a text in double or single quotes.
    fn quoted(&mut self) -> Result<String, Unreadable> {
        let rest = self.rest();
        let Some(quote) = rest.chars().next().filter(|letter| "\"'".contains(*letter)) else {
            return Err(self.wrong("a text in quotes is expected"));
        };
        let Some(end) = rest[1..].find(quote) else {
            return Err(self.wrong("this quote is not closed"));
        };
        self.position += end + 2;
        Ok(rest[1..=end].to_owned())
    }

    fn word(&mut self, word: &str) -> bool {
        self.space();
        let rest = self.rest();
        let follows = rest
            .strip_prefix(word)
            .and_then(|after| after.chars().next());
        let ends = follows.is_none_or(|letter| !letter.is_ascii_alphanumeric());
        let found = rest.starts_with(word) && ends;
        if found {
            self.position += word.len();
        }
        found
    }

    fn sign(&mut self, sign: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(sign);
        if found {
            self.position += sign.len();
        }
        found
    }

    fn space(&mut self) {
        let rest = self.rest();
        self.position += rest.len() - rest.trim_start().len();
    }

    fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }

    fn column(&self, place: usize) -> usize {
        self.text[..place].chars().count() + 1
    }

    fn wrong(&self, why: &str) -> Unreadable {
        Unreadable {
            text: self.text.to_owned(),
            column: self.column(self.position),
            why: why.to_owned(),
        }
    }
}
