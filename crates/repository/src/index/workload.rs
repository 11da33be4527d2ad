//! The workload: the words that users search for, with their frequencies.
//!
//! **Invariant:** queries are parsed and split as a search does it. Excluded words, and the parts
//! of words in camel case, do not count.
//!
//! Queries of several words are split as in Pandey & Olston (2005), section 5.1.1: the frequency
//! of a word is the sum of the frequencies of the queries that contain it.

use std::collections::{BTreeSet, HashMap};

use policy::quality::Attention;
use tantivy::tokenizer::TextAnalyzer;

use super::{query, words};

/// The words that users search for, with their frequencies.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Workload {
    words: Vec<(Box<str>, f64)>,
    attention: Attention,
}

impl Workload {
    /// Maximum number of words; the most frequent are kept. A word takes about 40 bytes of
    /// memory, and 16 bits identify it.
    pub const LIMIT: usize = 50_000;

    /// Returns the words of these queries, each given with its count.
    pub fn of<'a>(queries: impl IntoIterator<Item = (&'a str, u64)>) -> Self {
        let mut demand = QueryCounter::default();
        for (query, count) in queries {
            demand.ask(query, count);
        }
        demand.workload()
    }

    /// Returns the words, the most frequent first. The frequency of a word is the share of all
    /// queries that contain it.
    pub fn words(&self) -> impl ExactSizeIterator<Item = (&str, f64)> {
        self.words
            .iter()
            .map(|(word, frequency)| (&**word, *frequency))
    }

    /// Returns the workload of searchers with this attention.
    #[must_use]
    pub fn with_attention(self, attention: Attention) -> Self {
        Self { attention, ..self }
    }

    /// Returns the attention of the searchers by rank, the published one by default.
    pub fn attention(&self) -> Attention {
        self.attention
    }

    /// Returns whether there are no words.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

/// Counts queries as they arrive.
#[derive(Clone)]
pub struct QueryCounter {
    words: HashMap<Box<str>, u64>,
    asked: u64,
    analyzer: TextAnalyzer,
}

impl Default for QueryCounter {
    fn default() -> Self {
        Self {
            words: HashMap::new(),
            asked: 0,
            analyzer: words::analyzer(),
        }
    }
}

impl QueryCounter {
    /// Counts a query that was asked `count` times. Excluded words do not count.
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

    /// Returns the number of queries so far.
    pub fn asked(&self) -> u64 {
        self.asked
    }

    /// Returns the words of all queries so far.
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
            attention: Attention::default(),
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
