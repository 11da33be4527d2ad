//! Selects the queries that are asked of a world from a query log.
//!
//! As in Pandey & Olston (2005), §6, a query log of the whole web is reduced to the queries that
//! concern the world's pages. A query stays if some page, as first seen, has all its words, and
//! if its TF-IDF scores, summed over these pages, reach the [knee](super::knee) of their
//! distribution. Of these the most frequent stay.
//!
//! **Invariant:** queries with the same words, in any order, are one query. The shares of the
//! selected queries add up to 1.

use std::collections::BTreeMap;

use super::knee::knee;
use super::scores::classic;
use policy::words::each_lower;

use super::words::QueryVocabulary;
use super::{CountedText, CountedTexts};
use crate::world::{Histories, Queries};

/// Queries and their frequencies.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QueryWorkload {
    /// The queries, most frequent first.
    pub queries: Vec<WorkloadQuery>,
    /// A sentence on how many queries were left out, and why.
    pub note: String,
}

/// A query.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkloadQuery {
    /// Numbers of its distinct words, ascending.
    pub words: Vec<u32>,
    /// Its share of the searches with selected queries.
    pub share: f64,
}

/// Queries before the selection for a world.
#[derive(Debug, Clone, Default)]
pub(crate) struct QueryLog {
    /// All words of all queries.
    pub vocabulary: QueryVocabulary,
    /// The words of each query and its count, in the order of the log.
    queries: Vec<(Vec<u32>, u64)>,
}

impl QueryLog {
    /// Splits queries into words and merges those with the same words.
    pub fn of(queries: &Queries) -> Self {
        let mut log = Self::default();
        let mut known: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
        for (text, count) in &queries.queries {
            let mut words = Vec::new();
            each_lower(text, |word| words.push(log.vocabulary.number(word)));
            words.sort_unstable();
            words.dedup();
            if words.is_empty() {
                continue;
            }
            let place = *known.entry(words.clone()).or_insert(log.queries.len());
            match log.queries.get_mut(place) {
                Some((_, counted)) => *counted += u64::from(*count),
                None => log.queries.push((words, u64::from(*count))),
            }
        }
        log
    }

    /// Selects at most `most` queries that concern the first texts of the pages.
    pub fn cut(&self, histories: &Histories, texts: &CountedTexts, most: usize) -> QueryWorkload {
        let first = super::first_bodies(histories).into_iter().flatten();
        let first: Vec<&CountedText> = first.map(|body| texts.text(texts.of_body(body))).collect();
        let relevance = self.relevance(&first);
        let answered = relevance.iter().filter(|sum| **sum > 0.0);
        let mut sums: Vec<f64> = answered.copied().collect();
        sums.sort_unstable_by(|one, other| other.total_cmp(one));
        let relevant = knee(&sums);
        let least = relevant.checked_sub(1).map_or(f64::INFINITY, |at| sums[at]);
        let mut kept: Vec<usize> = (0..self.queries.len())
            .filter(|&query| relevance[query] >= least)
            .collect();
        // The sort is stable, so ties stay in the order of the log.
        kept.sort_by_key(|&query| std::cmp::Reverse(self.queries[query].1));
        let relevant = kept.len();
        kept.truncate(most);
        let asked: u64 = kept.iter().map(|&query| self.queries[query].1).sum();
        let query = |&query: &usize| {
            let (words, count) = &self.queries[query];
            WorkloadQuery {
                words: words.clone(),
                share: *count as f64 / asked as f64,
            }
        };
        QueryWorkload {
            queries: kept.iter().map(query).collect(),
            note: format!(
                "Queries: {} different ones, by their words; {} of them have a page with all words; {relevant} are at or above the \
                 knee of the summed TF-IDF scores (the point of the falling curve, on a logarithmic scale, that is farthest above \
                 its chord); the {} most frequent of these are asked.",
                self.queries.len(),
                sums.len(),
                kept.len(),
            ),
        }
    }

    /// Returns, for each query, the sum of its scores over these texts; 0 if no text has all its
    /// words.
    fn relevance(&self, texts: &[&CountedText]) -> Vec<f64> {
        let mut postings = vec![Vec::new(); self.vocabulary.len()];
        for (place, text) in texts.iter().enumerate() {
            for &(word, count) in &text.counts {
                postings[word as usize].push((place, count));
            }
        }
        let of = |word: u32| &postings[word as usize];
        let idf = |word: u32| classic::idf(texts.len(), of(word).len());
        let sum = |(words, _): &(Vec<u32>, u64)| -> f64 {
            let rarest = words.iter().min_by_key(|word| of(**word).len());
            let candidates = rarest.map_or(&[][..], |word| of(*word));
            let score = |place: usize| -> f64 {
                let terms: Option<Vec<(f64, u32)>> = words
                    .iter()
                    .map(|&word| Some((idf(word), texts[place].count_of(word)?)))
                    .collect();
                terms.map_or(0.0, |terms| classic::score(&terms, texts[place].length))
            };
            candidates.iter().map(|(place, _)| score(*place)).sum()
        };
        self.queries.iter().map(sum).collect()
    }
}

impl CountedText {
    /// Returns the count of a word; `None` if the text does not contain it.
    fn count_of(&self, word: u32) -> Option<u32> {
        let place = self.counts.binary_search_by_key(&word, |(word, _)| *word);
        place.ok().map(|place| self.counts[place].1)
    }

    /// Returns whether the text contains a word of the vocabulary.
    pub fn has(&self, word: u32) -> bool {
        self.count_of(word).is_some()
    }
}

#[cfg(test)]
mod tests {
    use policy::Moment;

    use super::*;
    use crate::world::{Bodies, Body, Version};

    #[test]
    fn a_log_is_cut_to_the_most_frequent_queries_that_pages_answer() {
        let asked = [
            ("Blue Whale", 3),
            ("whale, blue!", 2),
            ("coral", 9),
            ("tea blue", 50),
            ("whale", 1),
            ("---", 7),
        ];
        let queries = Queries {
            queries: asked.map(|(text, count)| (text.to_owned(), count)).to_vec(),
        };
        let log = QueryLog::of(&queries);
        let version = |page| Version {
            page,
            at: Moment::START,
            body: Some(page),
        };
        let bodies = ["a blue whale", "green tea"].map(Body::text);
        let histories = Histories::new(
            ["http://a.example/", "http://b.example/"].into_iter(),
            vec![version(0), version(1)],
            Bodies::kept(bodies.to_vec()),
        );
        let texts = CountedTexts::read(&histories, &log.vocabulary).unwrap();
        let workload = log.cut(&histories, &texts, 10);
        // No page has coral, none has both tea and blue.
        let found: Vec<_> = workload
            .queries
            .iter()
            .map(|query| (query.words.clone(), query.share))
            .collect();
        assert_eq!(found, [(vec![0, 1], 5.0 / 6.0), (vec![1], 1.0 / 6.0)]);
        assert_eq!(log.cut(&histories, &texts, 1).queries.len(), 1);
    }
}
