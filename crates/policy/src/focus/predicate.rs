//! What does a page have to be, in the user's own words?
//!
//! `contains("workshop") and topic("ml") > .7 and not url("/archive/")`: the predicates of Aggarwal, Al-Garawi & Yu, "Intelligent crawling on
//! the World Wide Web with arbitrary predicates" (WWW 2001). Grammar: `or` binds least, then `and`, then `not`; parentheses; a test that
//! is a number (`topic`, `similar`) is compared by `>`, `>=`, `<` or `<=`, and without that with one half.
//!
//! **Invariant:** reading never panics and takes time linear in the text, nested at most [`DEEPEST`]; what cannot be read is
//! refused with the character that it fails at.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::bayes::{Bayes, Evidence};
use super::trainer::Document;
use super::words::{ByWord, Field, counts, hash};
use crate::query::words;

/// Parentheses and `not`s inside of each other.
const DEEPEST: usize = 64;
/// Tests in all: who reads and drops them goes as deep.
const MOST: usize = 1_000;

/// A page, as a predicate sees it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Candidate<'a> {
    /// URL, title and text.
    pub document: Document<'a>,
    /// Its host; empty if unknown.
    pub host: &'a str,
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
    topics: HashMap<String, Arc<Bayes>>,
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
    /// Reads a predicate. `topic` gives the classifier of a topic that it names.
    ///
    /// # Errors
    /// If it cannot be read, or names a topic that there is not.
    pub fn read(
        text: &str,
        topic: impl Fn(&str) -> Option<Arc<Bayes>>,
    ) -> Result<Self, Unreadable> {
        let mut reader = Reader {
            text,
            place: 0,
            tests: 0,
            topics: HashMap::new(),
            topic: &topic,
        };
        let node = reader.or(0)?;
        reader.space();
        if reader.place < text.len() {
            return Err(reader.wrong("`and`, `or` or the end is expected"));
        }
        let topics = reader.topics;
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
            Test::Topic(name) => self.topics.get(name).map_or(0.0, |bayes| {
                let found: [Evidence; 3] = [
                    bayes.evidence(said.text, Field::Text),
                    bayes.evidence(said.title, Field::Title),
                    bayes.evidence(said.url, Field::Url),
                ];
                bayes.page(found)
            }),
            Test::Similar(wanted) => cosine(wanted, &vector(said.text)),
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

struct Reader<'a> {
    text: &'a str,
    place: usize,
    tests: usize,
    topics: HashMap<String, Arc<Bayes>>,
    topic: &'a dyn Fn(&str) -> Option<Arc<Bayes>>,
}

impl<'a> Reader<'a> {
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
        if !["contains", "title", "url", "host", "topic", "similar"].contains(&name) {
            self.place = start;
            return Err(self.wrong(
                "a test is expected: contains, title, url, host, topic or similar, with its text in parentheses and quotes",
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
        let wordless = || Unreadable {
            column: self.column(quoted),
            ..self.wrong("there is no word to look for")
        };
        let test = match name {
            "url" => Test::Url(text),
            "host" => Test::Host(text.to_ascii_lowercase()),
            "topic" => {
                let Some(bayes) = (self.topic)(&text) else {
                    return Err(Unreadable {
                        column: self.column(quoted),
                        ..self.wrong(&format!("no topic is called {text:?}"))
                    });
                };
                self.topics.insert(text.clone(), bayes);
                Test::Topic(text)
            }
            _ if phrase.is_empty() => return Err(wordless()),
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Predicate, Unreadable> {
        Predicate::read(text, |_| None)
    }

    #[test]
    fn pages_are_what_was_asked_for() {
        let page = Candidate {
            document: Document {
                url: "http://www.e.org/archive/97",
                title: "Call for Papers",
                text: "A workshop on red foxes, and other FOXES. Deadline: May 1.",
                anchors: "",
            },
            host: "www.e.org",
        };
        for (text, holds) in [
            ("contains(\"workshop\")", true),
            ("contains('red foxes')", true),
            ("contains('foxes red')", false),
            (
                "contains(\"call for papers\") and contains(\"deadline\")",
                true,
            ),
            ("title(\"papers\") and not title(\"deadline\")", true),
            ("url(\"/archive/\")", true),
            ("not url(\"/archive/\") or host(\"e.org\")", true),
            ("host(\"www.e.org\")", true),
            ("host(\".org\")", false),
            ("host(\"w.e.org\")", false),
            ("not (url(\"/archive/\") or title(\"x\"))", false),
            ("not not contains(\"workshop\")", true),
            ("similar(\"workshop on foxes\") > .1", true),
            ("similar(\"workshop on foxes\") >= 0.99", false),
            ("similar(\"bread\") < .1 and similar(\"bread\") <= 0", true),
            (
                "contains('x') and contains('y') or contains('workshop')",
                true,
            ),
            (
                "contains('x') and (contains('y') or contains('workshop'))",
                false,
            ),
        ] {
            assert_eq!(read(text).unwrap().holds(&page), holds, "{text}");
        }
    }

    #[test]
    fn topics_are_asked_by_name() {
        let topic = crate::focus::tests::red();
        let super::super::Known::Examples(bayes) = topic.known else {
            panic!("it was taught");
        };
        let bayes = Arc::new(*bayes);
        let known = |name: &str| (name == "red").then(|| Arc::clone(&bayes));
        let predicate = Predicate::read("topic(\"red\") > .7", known).unwrap();
        let page = |text| Candidate {
            document: Document {
                text,
                ..Document::default()
            },
            host: "",
        };
        assert!(predicate.holds(&page("red")) && !predicate.holds(&page("blue")));
        let unknown = Predicate::read("topic('green')", known).unwrap_err();
        assert_eq!(
            (unknown.column, unknown.why.as_str()),
            (7, "no topic is called \"green\"")
        );
    }

    #[test]
    fn errors_point_at_the_character() {
        for (text, column, why) in [
            ("", 1, "a test is expected"),
            ("contains", 9, "`(` is expected"),
            ("contains(workshop)", 10, "a text in quotes"),
            ("contains(\"workshop)", 10, "not closed"),
            ("contains(\"?!\")", 10, "no word"),
            ("contains(\"a b\"", 15, "`)` is expected"),
            (
                "contains(\"é\") annd url(\"x\")",
                15,
                "`and`, `or` or the end",
            ),
            ("contians(\"x\")", 1, "a test is expected"),
            ("topic(\"x\")", 7, "no topic is called"),
            ("similar(\"xy\") > much", 17, "a number"),
            ("(url(\"x\")", 10, "`)` is expected"),
            ("not", 4, "a test is expected"),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!(error.column, column, "{text}: {error}");
            assert!(error.why.contains(why), "{text}: {error}");
        }
        let deep = read(&"(".repeat(10_000)).unwrap_err();
        assert!(deep.why.contains("too deep"));
        let long = "url('x') or ".repeat(100_000);
        assert!(read(&long).unwrap_err().why.contains("too many"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_within_itself(text in "\\PC{0,60}") {
            if let Err(error) = read(&text) {
                prop_assert!(error.column >= 1 && error.column <= text.chars().count() + 1);
                prop_assert!(!error.to_string().is_empty());
            }
        }

        #[test]
        fn what_looks_like_one_never_panics(
            parts in prop::collection::vec(prop::sample::select(vec![
                "contains", "(", ")", "\"a b\"", "'x'", " and ", " or ", "not ", "url", "topic", ">", "<=", ".7", "similar", "é",
            ]), 0..20)
        ) {
            let text = parts.concat();
            if let Ok(predicate) = read(&text) {
                predicate.holds(&Candidate::default());
            }
        }
    }
}
