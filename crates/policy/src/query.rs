//! The words of the user's query, and the search for them in texts and URLs.
//!
//! A word is a word of [`words`](crate::words) and matches as a whole: `art` does not match
//! `party`.
//!
//! **Invariant:** a search through a text allocates nothing, however long the text is.

use std::fmt;

use crate::words::{lower, unescape, words};
use crate::{Report, Text};

/// The largest number of different words: matches are the bits of a `u64`.
const MOST: usize = 64;

/// Number of occurrences in the body that count as much as one in the title. Algorithm 5.3 of
/// Cho, Garcia-Molina & Page calls a page hot for either.
const HOT: u32 = 10;

/// The words of a query, and which of them have occurred so far.
#[derive(Debug, Clone)]
pub struct Query {
    words: Vec<String>,
    seen: u64,
}

/// The matches of a query in a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueryMatch {
    /// The matching words, one bit each.
    pub words: u64,
    /// Number of occurrences of all words together.
    pub occurrences: u32,
}

/// The error for a query without words, or with too many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryError {
    /// The query.
    pub query: String,
    /// Number of different words. Counting stops once there are too many.
    pub words: usize,
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.words {
            0 => write!(
                f,
                "the query {:?} contains no word; give at least one letter or digit",
                self.query
            ),
            _ => write!(f, "the query has more than {MOST} words; give fewer"),
        }
    }
}

impl std::error::Error for QueryError {}

impl Query {
    /// Creates a query from its text.
    ///
    /// # Errors
    ///
    /// If the text contains no word, or more than 64 different words.
    pub fn new(text: &str) -> Result<Self, QueryError> {
        let mut found: Vec<String> = Vec::new();
        for word in words(text).map(|word| lower(word).collect()) {
            if found.len() <= MOST && !found.contains(&word) {
                found.push(word);
            }
        }
        if found.is_empty() || found.len() > MOST {
            return Err(QueryError {
                query: text.to_owned(),
                words: found.len(),
            });
        }
        Ok(Self {
            words: found,
            seen: 0,
        })
    }

    /// Searches a text and records which words occurred.
    pub fn look(&mut self, text: &str) -> QueryMatch {
        let mut found = QueryMatch::default();
        for word in words(text) {
            for (bit, wanted) in self.words.iter().enumerate() {
                if is(word, wanted) {
                    found.words |= 1 << bit;
                    found.occurrences = found.occurrences.saturating_add(1);
                    break;
                }
            }
        }
        self.seen |= found.words;
        found
    }

    /// Searches a URL. Percent-escapes are decoded first.
    pub fn look_at_url(&mut self, url: &str) -> QueryMatch {
        self.look(&unescape(url))
    }

    /// Returns the number of occurrences in the title and in the body.
    pub fn look_at_text(&mut self, text: Text<'_>) -> (u32, u32) {
        match text {
            Text::Nothing => (0, 0),
            Text::Whole { title, body, .. } => {
                (self.look(title).occurrences, self.look(body).occurrences)
            }
            Text::Counted {
                in_title, in_body, ..
            } => {
                // It is unknown which words occurred, so none can be called unseen.
                if in_title > 0 || in_body > 0 {
                    self.seen = u64::MAX;
                }
                (in_title, in_body)
            }
        }
    }

    /// Returns the share of the query's words that matched.
    pub fn share(&self, found: QueryMatch) -> f32 {
        found.words.count_ones() as f32 / self.words.len() as f32
    }

    /// Returns which words have occurred anywhere, and which have not.
    pub fn report(&self) -> Report {
        let (seen, unseen): (Vec<_>, Vec<_>) = (0..)
            .zip(&self.words)
            .partition(|(bit, _)| self.seen >> bit & 1 == 1);
        let names =
            |words: Vec<(u32, &String)>| words.into_iter().map(|(_, word)| word.clone()).collect();
        Report {
            seen_words: names(seen),
            unseen_words: names(unseen),
            ..Report::default()
        }
    }
}

/// Returns whether a page with these occurrences in title and body is hot
/// (Algorithm 5.3, line 5).
pub fn is_hot((in_title, in_body): (u32, u32)) -> bool {
    in_title >= 1 || in_body >= HOT
}

/// Returns the similarity of a text with these occurrences in title and body, from 0 to 1. It
/// is ½ for a page that is just hot.
///
/// Occurrences saturate: a text that repeats a word a thousand times is hardly better than one
/// that repeats it a hundred times.
pub fn similarity((in_title, in_body): (u32, u32)) -> f32 {
    let occurrences = f64::from(in_body) + f64::from(HOT) * f64::from(in_title);
    (occurrences / (occurrences + f64::from(HOT))) as f32
}

/// Returns whether `word`, in any case, equals `wanted`, which is in lower case.
fn is(word: &str, wanted: &str) -> bool {
    if word.is_ascii() {
        return word.eq_ignore_ascii_case(wanted);
    }
    lower(word).eq(wanted.chars())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_found_whole_and_in_any_case() {
        for (query, text, words, occurrences) in [
            ("art", "party art-ART, (Art)!", 1, 3),
            ("art party", "Party? art. art", 3, 3),
            ("müller", "MÜLLER Muller müllers Müller", 1, 2),
            ("ΣΟΦΟΣ", "σοφος, Σοφος", 1, 2),
            ("İstanbul", "istanbul İSTANBUL", 1, 1),
            ("straße", "STRASSE straße", 1, 1),
            ("c++ 2024", "C 2024 20245", 3, 2),
            ("a a a", "A b", 1, 1),
            ("word", "", 0, 0),
        ] {
            let found = Query::new(query).unwrap().look(text);
            assert_eq!(
                (found.words, found.occurrences),
                (words, occurrences),
                "{query} in {text}"
            );
        }
    }

    #[test]
    fn urls_are_unescaped() {
        for (url, there) in [
            ("https://a.example/M%C3%BCller/x", true),
            ("https://a.example/m%c3%bcller", true),
            ("https://a.example/müller", true),
            ("https://a.example/m%C3%BCllerin", false),
            ("https://a.example/%", false),
            ("https://a.example/%C3müller%", true),
            ("https://a.example/%4", false),
            ("https://a.example/%+fmüller", false),
        ] {
            let found = Query::new("Müller").unwrap().look_at_url(url);
            assert_eq!(found.words == 1, there, "{url}");
        }
    }

    #[test]
    fn a_query_has_1_to_64_words() {
        for empty in ["", "?!", "   ", "+-*"] {
            let error = Query::new(empty).unwrap_err().to_string();
            assert_eq!(
                error,
                format!("the query {empty:?} contains no word; give at least one letter or digit")
            );
        }
        let words = |count: usize| {
            (0..count)
                .map(|word| format!("w{word} "))
                .collect::<String>()
        };
        assert!(Query::new(&words(64)).is_ok());
        let error = Query::new(&words(65)).unwrap_err().to_string();
        assert_eq!(error, "the query has more than 64 words; give fewer");
    }

    #[test]
    fn a_report_separates_seen_from_unseen_words() {
        let mut query = Query::new("alpha beta gamma").unwrap();
        query.look("Beta");
        assert_eq!(query.report().unseen_words, ["alpha", "gamma"]);
        query.look_at_url("/alpha");
        query.look_at_text(Text::Counted {
            in_title: 0,
            in_body: 0,
            words: 9,
        });
        assert_eq!(query.report().unseen_words, ["gamma"]);
        assert_eq!(query.report().seen_words, ["alpha", "beta"]);
        query.look_at_text(Text::Counted {
            in_title: 0,
            in_body: 1,
            words: 9,
        });
        assert!(query.report().unseen_words.is_empty());
    }

    #[test]
    fn similarity_saturates_and_the_title_counts() {
        for (counts, hot, similar) in [
            ((0, 0), false, 0.0),
            ((0, 9), false, 9.0 / 19.0),
            ((0, 10), true, 0.5),
            ((1, 0), true, 0.5),
            ((1, 10), true, 2.0 / 3.0),
            ((u32::MAX, u32::MAX), true, 1.0),
        ] {
            assert_eq!(is_hot(counts), hot, "{counts:?}");
            assert!((similarity(counts) - similar).abs() < 1e-6, "{counts:?}");
        }
    }

    proptest! {
        #[test]
        fn look_counts_the_words_that_splitting_finds(text in "\\PC{0,60}", query in "[a-cÄé ]{1,9}[a-z]") {
            let mut query = Query::new(&query).unwrap();
            let plain = text.split(|letter: char| !letter.is_alphanumeric())
                .filter(|word| query.words.iter().any(|wanted| {
                    word.chars().flat_map(char::to_lowercase).collect::<String>() == *wanted
                }))
                .count();
            prop_assert_eq!(query.look(&text).occurrences as usize, plain);
            query.look_at_url(&text);
        }
    }
}
