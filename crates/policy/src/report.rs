//! What a policy says of itself, for people.

use serde::{Deserialize, Serialize};

/// One summand, or one fact, behind a worth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// What it is, in the words of the literature: `pagerank`, `in-links`, `depth`.
    pub name: String,
    /// Its value.
    pub value: f64,
}

impl Term {
    /// A term.
    pub fn new(name: impl Into<String>, value: f64) -> Self {
        Self {
            name: name.into(),
            value,
        }
    }
}

/// What a policy says at the end of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// A lower bound on the share of all importance that the fetched pages hold, where the policy
    /// knows one.
    pub coverage: Option<f64>,
    /// Pages that were read and are what the crawl is about, where it is about something.
    pub found: Option<u64>,
    /// Words of the query that were in some text, anchor or URL.
    pub seen_words: Vec<String>,
    /// Words of the query that were in no text, anchor or URL so far.
    pub unseen_words: Vec<String>,
    /// What else a reader should know, in sentences.
    pub remarks: Vec<String>,
}

impl Report {
    /// Both reports in one. A word that one of them saw was seen.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.coverage = self.coverage.or(other.coverage);
        self.found = self.found.or(other.found);
        unite(&mut self.seen_words, other.seen_words);
        unite(&mut self.unseen_words, other.unseen_words);
        unite(&mut self.remarks, other.remarks);
        self.unseen_words
            .retain(|word| !self.seen_words.contains(word));
        self
    }
}

fn unite(words: &mut Vec<String>, more: Vec<String>) {
    for word in more {
        if !words.contains(&word) {
            words.push(word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(seen: &[&str], unseen: &[&str]) -> Report {
        let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        Report {
            coverage: None,
            found: None,
            seen_words: owned(seen),
            unseen_words: owned(unseen),
            remarks: Vec::new(),
        }
    }

    #[test]
    fn a_word_that_one_saw_was_seen() {
        let both = report(&["a"], &["b", "c"]).and(report(&["b"], &["a", "c"]));
        assert_eq!(both, report(&["a", "b"], &["c"]));
        let known = Report {
            coverage: Some(0.5),
            ..Report::default()
        };
        assert_eq!(Report::default().and(known.clone()), known);
    }
}
