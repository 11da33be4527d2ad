//! How is a predicate read?

use std::collections::HashMap;
use std::sync::Arc;

use super::super::topic::Topic;
use super::{Compare, Meanings, Node, Test, Unreadable, vector};
use crate::words::{hash, words};

/// Parentheses and `not`s inside of each other.
pub(super) const DEEPEST: usize = 64;
/// Tests in all: who reads and drops them goes as deep.
const MOST: usize = 1_000;
/// What can be asked.
const TESTS: [&str; 8] = [
    "contains", "title", "url", "host", "language", "date", "topic", "similar",
];

/// Reads from left to right.
pub(super) struct Reader<'a> {
    text: &'a str,
    place: usize,
    tests: usize,
    topics: HashMap<String, Arc<Topic>>,
    meanings: &'a Meanings<'a>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, meanings: &'a Meanings<'a>) -> Self {
        Self {
            text,
            place: 0,
            tests: 0,
            topics: HashMap::new(),
            meanings,
        }
    }

    /// Reads all of it. Returns the topics that it names, too.
    pub(super) fn whole(mut self) -> Result<(Node, HashMap<String, Arc<Topic>>), Unreadable> {
        let node = self.or(0)?;
        self.space();
        if self.place < self.text.len() {
            return Err(self.wrong("`and`, `or` or the end is expected"));
        }
        Ok((node, self.topics))
    }

    fn or(&mut self, depth: usize) -> Result<Node, Unreadable> {
        let mut node = self.and(depth)?;
        while self.word("or") {
            node = Node::Or(Box::new(node), Box::new(self.and(depth)?));
        }
        Ok(node)
    }

    fn and(&mut self, depth: usize) -> Result<Node, Unreadable> {
        let mut node = self.not(depth)?;
        while self.word("and") {
            node = Node::And(Box::new(node), Box::new(self.not(depth)?));
        }
        Ok(node)
    }

    fn not(&mut self, depth: usize) -> Result<Node, Unreadable> {
        if depth > DEEPEST {
            return Err(self.wrong("it is nested too deep"));
        }
        if self.word("not") {
            return Ok(Node::Not(Box::new(self.not(depth + 1)?)));
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

    fn test(&mut self) -> Result<Node, Unreadable> {
        self.space();
        self.tests += 1;
        if self.tests > MOST {
            return Err(self.wrong("there are too many tests"));
        }
        let start = self.place;
        let rest = self.rest();
        let end = rest
            .find(|letter: char| !letter.is_ascii_alphabetic())
            .unwrap_or(rest.len());
        let name = &rest[..end];
        self.place += end;
        if !TESTS.contains(&name) {
            self.place = start;
            return Err(self.wrong(
                "a test is expected: contains, title, url, host, language, date, topic or similar, with its text in parentheses and quotes",
            ));
        }
        if !self.sign("(") {
            return Err(self.wrong("`(` is expected"));
        }
        self.space();
        let quoted = self.place;
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
        Ok(Node::Test(test, compared))
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
        self.place += end;
        Ok(Some((compare, number)))
    }

    /// A text in double or single quotes.
    fn quoted(&mut self) -> Result<String, Unreadable> {
        let rest = self.rest();
        let Some(quote) = rest.chars().next().filter(|letter| "\"'".contains(*letter)) else {
            return Err(self.wrong("a text in quotes is expected"));
        };
        let Some(end) = rest[1..].find(quote) else {
            return Err(self.wrong("this quote is not closed"));
        };
        self.place += end + 2;
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
            self.place += word.len();
        }
        found
    }

    fn sign(&mut self, sign: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(sign);
        if found {
            self.place += sign.len();
        }
        found
    }

    fn space(&mut self) {
        let rest = self.rest();
        self.place += rest.len() - rest.trim_start().len();
    }

    fn rest(&self) -> &'a str {
        &self.text[self.place..]
    }

    fn column(&self, place: usize) -> usize {
        self.text[..place].chars().count() + 1
    }

    fn wrong(&self, why: &str) -> Unreadable {
        Unreadable {
            text: self.text.to_owned(),
            column: self.column(self.place),
            why: why.to_owned(),
        }
    }
}
