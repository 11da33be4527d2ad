//! Scores of texts for the queries that they answer.
//!
//! A text answers a query if it has all its words. Its score is then positive, and 0 otherwise.
//! Every word is also a query of its own, with the combined frequency of the queries that
//! contain it. The gain of a refresh is a sum over these single-word queries (Pandey & Olston
//! 2005, §5.1).
//!
//! **Invariant:** the score of a page does not depend on the current texts of other pages.
//! Document frequencies and the mean length are those of the pages at one fixed time.

use std::collections::BTreeMap;

use super::{CountedText, CountedTexts, QueryWorkload};
use crate::LabError;

/// Parameter k₁ of BM25, at its customary value.
const K1: f64 = 1.2;
/// Parameter b of BM25, at its customary value.
const B: f64 = 0.75;

/// A scoring function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scorer {
    /// TF-IDF as in Lucene's classic similarity.
    TfIdf,
    /// 1 + the number of in-links from other pages.
    Inlinks,
    /// Okapi BM25.
    Bm25,
}

impl Scorer {
    /// All scoring functions.
    pub const ALL: [Self; 3] = [Self::TfIdf, Self::Inlinks, Self::Bm25];

    /// Returns the name that the command line uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::TfIdf => "tf-idf",
            Self::Inlinks => "inlinks",
            Self::Bm25 => "bm25",
        }
    }
}

/// The scores of all texts for all queries. Each query has an answer list.
#[derive(Debug, Clone)]
pub struct Scored {
    /// For each text, its lists and its score in each, sorted by list number.
    texts: Vec<Box<[(u32, f32)]>>,
    /// Factor on each page's scores; empty means 1.
    factors: Vec<f32>,
    /// For each list, its share of all searches. The first lists are those of single words.
    shares: Vec<f64>,
    /// For each word, the share of searches that contain it.
    word_shares: Vec<f64>,
}

impl Scored {
    /// Scores all texts. Document frequencies and the mean length are those of the texts in
    /// `living`, which has one text per page.
    ///
    /// # Errors
    /// If the scorer is [`Scorer::Inlinks`] and the links of the pages are unknown.
    pub fn new(
        scorer: Scorer,
        texts: &CountedTexts,
        workload: &QueryWorkload,
        living: &[u32],
    ) -> Result<Self, LabError> {
        let factors = match (scorer, texts.in_links()) {
            (Scorer::Inlinks, None) => {
                let why = "the world's pages are not HTML: their links are unknown, so pages cannot be scored by inlinks";
                return Err(LabError::Wish(why.into()));
            }
            (Scorer::Inlinks, Some(counts)) => {
                counts.iter().map(|&count| 1.0 + count as f32).collect()
            }
            _ => Vec::new(),
        };
        let queries = QueryLists::of(workload);
        let statistics = Statistics::of(&queries, texts, living);
        let mut scratch = vec![0; queries.words.len()];
        let score = |text| queries.scores(scorer, &statistics, texts.text(text), &mut scratch);
        let texts = (0..texts.count() as u32).map(score).collect();
        Ok(Self {
            texts,
            factors,
            shares: queries.shares,
            word_shares: queries.word_shares,
        })
    }

    /// Returns the lists of a page with this text, and its score in each, sorted by list number.
    pub fn of(&self, page: u32, text: Option<u32>) -> impl Iterator<Item = (u32, f32)> {
        let factor = self.factors.get(page as usize).copied().unwrap_or(1.0);
        let lists = text.map_or(&[][..], |text| &self.texts[text as usize]);
        lists
            .iter()
            .map(move |(list, score)| (*list, score * factor))
    }

    /// Returns the score of a page with this text in one list; 0 if it is not in the list.
    pub fn in_list(&self, page: u32, text: Option<u32>, list: u32) -> f32 {
        let factor = self.factors.get(page as usize).copied().unwrap_or(1.0);
        let lists = text.map_or(&[][..], |text| &self.texts[text as usize]);
        let place = lists.binary_search_by_key(&list, |(list, _)| *list);
        place.map_or(0.0, |place| lists[place].1 * factor)
    }

    /// Returns the share of all searches of each list.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// Returns the share of searches that contain each word, by the number of its single-word
    /// list. These lists have the lowest numbers.
    pub fn word_shares(&self) -> &[f64] {
        &self.word_shares
    }
}

/// Queries as answer lists.
struct QueryLists {
    /// The list of each word of any query.
    words: BTreeMap<u32, u32>,
    /// Queries of several words: their list, and the lists of their words.
    several: Vec<(u32, Vec<u32>)>,
    shares: Vec<f64>,
    word_shares: Vec<f64>,
}

impl QueryLists {
    fn of(workload: &QueryWorkload) -> Self {
        let mut words = BTreeMap::new();
        for &word in workload.queries.iter().flat_map(|query| &query.words) {
            words.insert(word, 0);
        }
        (0..)
            .zip(words.values_mut())
            .for_each(|(list, word)| *word = list);
        let mut queries = Self {
            shares: vec![0.0; words.len()],
            word_shares: vec![0.0; words.len()],
            several: Vec::new(),
            words,
        };
        for query in &workload.queries {
            let lists: Vec<u32> = query.words.iter().map(|word| queries.words[word]).collect();
            for &list in &lists {
                queries.word_shares[list as usize] += query.share;
            }
            if let [only] = lists[..] {
                queries.shares[only as usize] += query.share;
            } else {
                queries.several.push((queries.shares.len() as u32, lists));
                queries.shares.push(query.share);
            }
        }
        queries
    }

    /// Returns the query words of a text, as lists, with their counts.
    fn counts(&self, text: &CountedText) -> impl Iterator<Item = (u32, u32)> {
        let counts = text.counts.iter();
        counts.filter_map(|(word, count)| Some((*self.words.get(word)?, *count)))
    }

    /// Returns the scores of a text in all its lists. `scratch` has a zero for every word before
    /// and after the call.
    fn scores(
        &self,
        scorer: Scorer,
        statistics: &Statistics,
        text: &CountedText,
        scratch: &mut [u32],
    ) -> Box<[(u32, f32)]> {
        let counts: Vec<(u32, u32)> = self.counts(text).collect();
        for &(list, count) in &counts {
            scratch[list as usize] = count;
        }
        let score = |words: &[u32]| {
            let has = |&list: &u32| (statistics.frequency[list as usize], scratch[list as usize]);
            let terms: Vec<(usize, u32)> = words.iter().map(has).collect();
            statistics.score(scorer, &terms, text.length) as f32
        };
        let single = counts.iter().map(|&(list, _)| (list, score(&[list])));
        let mut scores: Vec<(u32, f32)> = single.collect();
        for &(list, _) in &counts {
            for &query in &statistics.by_rarest[list as usize] {
                let (query, words) = &self.several[query];
                if words.iter().all(|&word| scratch[word as usize] > 0) {
                    scores.push((*query, score(words)));
                }
            }
        }
        counts
            .iter()
            .for_each(|&(list, _)| scratch[list as usize] = 0);
        scores.sort_unstable_by_key(|(list, _)| *list);
        scores.into()
    }
}

/// Collection statistics that scores depend on.
struct Statistics {
    pages: usize,
    /// Document frequency of each word.
    frequency: Vec<usize>,
    /// Mean number of words per page.
    length: f64,
    /// For each word, the queries of several words of which it is the rarest.
    by_rarest: Vec<Vec<usize>>,
}

impl Statistics {
    fn of(queries: &QueryLists, texts: &CountedTexts, living: &[u32]) -> Self {
        let mut frequency = vec![0; queries.words.len()];
        let mut words = 0;
        for text in living.iter().map(|&text| texts.text(text)) {
            words += u64::from(text.length);
            queries
                .counts(text)
                .for_each(|(list, _)| frequency[list as usize] += 1);
        }
        let mut by_rarest = vec![Vec::new(); queries.words.len()];
        for (query, (_, words)) in queries.several.iter().enumerate() {
            let rarest = words.iter().min_by_key(|&&word| frequency[word as usize]);
            rarest
                .into_iter()
                .for_each(|&word| by_rarest[word as usize].push(query));
        }
        Self {
            pages: living.len(),
            frequency,
            length: (words as f64 / living.len().max(1) as f64).max(1.0),
            by_rarest,
        }
    }

    /// Returns the score of a text for words, given as document frequency and count in the text.
    fn score(&self, scorer: Scorer, words: &[(usize, u32)], length: u32) -> f64 {
        match scorer {
            Scorer::Inlinks => 1.0,
            Scorer::TfIdf => {
                let idf = |&(frequency, count): &(usize, u32)| {
                    (classic::idf(self.pages, frequency), count)
                };
                classic::score(&words.iter().map(idf).collect::<Vec<_>>(), length)
            }
            Scorer::Bm25 => {
                let each = words.iter().map(|&(frequency, count)| {
                    bm25(
                        self.pages,
                        frequency,
                        count,
                        f64::from(length) / self.length,
                    )
                });
                each.sum()
            }
        }
    }
}

/// Returns the BM25 score of one word: Robertson & Zaragoza, "The probabilistic relevance
/// framework: BM25 and beyond" (2009), with Lucene's inverse document frequency, which is positive
/// for every word. `relative` is the length of the text divided by the mean length.
fn bm25(pages: usize, frequency: usize, count: u32, relative: f64) -> f64 {
    let (pages, frequency, count) = (pages as f64, frequency as f64, f64::from(count));
    let idf = (1.0 + (pages - frequency + 0.5) / (frequency + 0.5)).ln();
    idf * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * relative))
}

/// Lucene's classic similarity, without its rounding of norms to a byte.
///
/// `score = queryNorm · Σ √tf · idf² · 1/√length`, where `queryNorm = 1/√(Σ idf²)`. All words are
/// required, so the coordination factor is 1.
pub(super) mod classic {
    /// Returns `1 + ln(pages / (frequency + 1))`, at least 0.
    pub fn idf(pages: usize, frequency: usize) -> f64 {
        let idf = 1.0 + (pages.max(1) as f64 / (frequency as f64 + 1.0)).ln();
        idf.max(0.0)
    }

    /// Returns the score of a text of this length for words, given as inverse document frequency
    /// and count.
    pub fn score(words: &[(f64, u32)], length: u32) -> f64 {
        let norm: f64 = words.iter().map(|(idf, _)| idf * idf).sum();
        if norm == 0.0 {
            return 0.0;
        }
        let each = words
            .iter()
            .map(|(idf, count)| f64::from(*count).sqrt() * idf * idf);
        each.sum::<f64>() / norm.sqrt() / f64::from(length.max(1)).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_those_of_the_formulas() {
        let close = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
        };
        // 1 + ln(10/5) and 1 + ln(10/2).
        let (common, rare) = (classic::idf(10, 4), classic::idf(10, 1));
        close(common, 1.693_147_180_559_945);
        close(rare, 2.609_437_912_434_1);
        close(classic::score(&[(rare, 4)], 25), rare * 2.0 / 5.0);
        let both =
            (common * common * 3.0 + rare * rare) / (common * common + rare * rare).sqrt() / 4.0;
        close(classic::score(&[(common, 9), (rare, 1)], 16), both);
        // ln(1 + 6.5/4.5) · 2·2.2/(2 + 1.2).
        close(bm25(10, 4, 2, 1.0), (1.0_f64 + 6.5 / 4.5).ln() * 4.4 / 3.2);
        assert!(bm25(10, 4, 2, 3.0) < bm25(10, 4, 2, 1.0));
    }
}
