//! The reports of a policy to users: the terms behind a worth, and a summary of the crawl.

use serde::{Deserialize, Serialize};

/// One summand, or one fact, behind a worth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// Its name in explanations, such as `pagerank`, `in-links` or `changes a day`.
    pub name: String,
    /// Its value.
    pub value: f64,
}

impl Term {
    /// Creates a term.
    pub fn new(name: impl Into<String>, value: f64) -> Self {
        Self {
            name: name.into(),
            value,
        }
    }
}

/// What a policy knows of the whole crawl, for the stop conditions and the summary of the crawl.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// A lower bound on the share of all importance that the fetched pages hold, if the policy
    /// knows one.
    pub coverage: Option<f64>,
    /// Number of pages read that match the topic, in a focused crawl.
    pub found: Option<u64>,
    /// Words of the query that occurred in some text, anchor text or URL.
    pub seen_words: Vec<String>,
    /// Words of the query that have not occurred in any text, anchor text or URL.
    pub unseen_words: Vec<String>,
    /// Other remarks for the user, as sentences.
    pub remarks: Vec<String>,
}

impl Report {
    /// Merges two reports. A word counts as seen if either report saw it. Where both reports
    /// have a coverage or a number of found pages, the value of `self` stays.
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
    fn a_word_that_either_report_saw_counts_as_seen() {
        let both = report(&["a"], &["b", "c"]).and(report(&["b"], &["a", "c"]));
        assert_eq!(both, report(&["a", "b"], &["c"]));
        let known = Report {
            coverage: Some(0.5),
            ..Report::default()
        };
        assert_eq!(Report::default().and(known.clone()), known);
    }
}
