//! The words that people search for, and how often.
//!
//! **Invariant:** words are split and queries are read as a search does it, so a word counts here if and only if a
//! search would look for it.
//!
//! Queries of several words are taken apart, as Pandey & Olston (2005), §5.1.1, do: the frequency of a word is
//! the sum of the frequencies of the queries that hold it.

use std::collections::{BTreeSet, HashMap};

use tantivy::tokenizer::TextAnalyzer;

use super::{query, words};

/// The words people search for, with their frequencies.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Workload {
    words: Vec<(Box<str>, f64)>,
}

impl Workload {
    /// The most words that are kept, the most frequent. They take some 40 bytes each in memory, and 16 bits name one.
    pub const LIMIT: usize = 50_000;

    /// The words of these queries, each with how often it was asked.
    pub fn of<'a>(queries: impl IntoIterator<Item = (&'a str, u64)>) -> Self {
        let mut demand = Demand::default();
        for (query, count) in queries {
            demand.ask(query, count);
        }
        demand.workload()
    }

    /// The words, the most frequent first. The frequency of a word is the share of all queries that hold it.
    pub fn words(&self) -> impl ExactSizeIterator<Item = (&str, f64)> {
        self.words
            .iter()
            .map(|(word, frequency)| (&**word, *frequency))
    }

    /// Whether nobody searches for anything.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

/// Queries, counted as they come.
#[derive(Clone)]
pub struct Demand {
    words: HashMap<Box<str>, u64>,
    asked: u64,
    analyzer: TextAnalyzer,
}

impl Default for Demand {
    fn default() -> Self {
        Self {
            words: HashMap::new(),
            asked: 0,
            analyzer: words::analyzer(),
        }
    }
}

impl Demand {
    /// Counts a query that was asked so often. Words that pages must not have are not searched for.
    pub fn ask(&mut self, query: &str, count: u64) {
        self.asked += count;
        let parsed = query::parse(query, &mut self.analyzer);
        let forms = parsed.wanted.into_iter().flat_map(|clause| clause.forms);
        let held: BTreeSet<String> = forms
            .flat_map(|form| form.words.into_iter().chain(form.compound))
            .collect();
        for word in held {
            match self.words.get_mut(word.as_str()) {
                Some(times) => *times += count,
                None => {
                    self.words.insert(word.into(), count);
                }
            }
        }
    }

    /// How many queries were asked.
    pub fn asked(&self) -> u64 {
        self.asked
    }

    /// The words of all queries so far.
    pub fn workload(&self) -> Workload {
        let mut counted: Vec<(&str, u64)> = self
            .words
            .iter()
            .map(|(word, &times)| (&**word, times))
            .collect();
        counted.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        counted.truncate(Workload::LIMIT);
        let all = self.asked as f64;
        let words = counted
            .into_iter()
            .filter(|&(_, times)| times > 0)
            .map(|(word, times)| (word.into(), times as f64 / all));
        Workload {
            words: words.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_as_searches_read_them() {
        let workload = Workload::of([
            ("Rust book", 3),
            ("rust rust -java site:x.org", 1),
            ("\"café rust\"", 2),
            ("?", 2),
        ]);
        let found: Vec<_> = workload.words().collect();
        assert_eq!(
            found,
            [("rust", 0.75), ("book", 0.375), ("cafe", 0.25)],
            "the query without words counts as one that was asked"
        );
        assert!(Workload::of([]).is_empty());
        assert!(Workload::of([("never", 0)]).is_empty());
    }

    #[test]
    fn the_rarest_words_are_left_out() {
        let queries: Vec<String> = (0..Workload::LIMIT + 10).map(|n| format!("w{n}")).collect();
        let counts = (1..=queries.len() as u64).rev();
        let workload = Workload::of(queries.iter().map(String::as_str).zip(counts));
        assert_eq!(workload.words().len(), Workload::LIMIT);
        assert_eq!(workload.words().next().map(|(word, _)| word), Some("w0"));
    }
}
