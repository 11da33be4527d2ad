//! Statistics of words that a search of several indexes needs: how many pages of all indexes have
//! the words of a query, and what the words may be corrected to.
//!
//! **Invariant:** statistics add up. Those of several indexes together are those of one index with
//! all their pages, so a ranking by them does not depend on how the pages are divided. Three
//! things do depend on it, as they depend on the segments of a single index: removed pages count
//! until their segment is merged; of a prefix that begins more than 4,000 words of a part, not all
//! completions are read; and lines that most pages of a host have are learned by each index.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use tantivy::TantivyError;

use super::dictionary::{Dictionary, READ, WordCounts, add_counts};
use super::plan::ALL_PARTS;
use super::query::ParsedQuery;
use super::score::CollectionSize;
use super::search::SearchQuery;
use super::spelling::{
    ENDINGS, checked_words, expansions, is_correctable, max_distance, meant, most_likely, typed,
};
use super::weights::Part;
use super::{Index, IndexError};

/// What the score of a page depends on besides the page itself and the query.
///
/// A search of several indexes collects it from each index and adds it up:
/// 1. [`Index::statistics`] of each.
/// 2. [`Index::frequencies`] of each, for the words of [`QueryStatistics::missing_words`]. There
///    are none unless a word is corrected or completed.
/// 3. [`Index::search_part`] of each, with the sum; [`merge`](super::merge) makes one answer.
///
/// An index that does not answer is left out of the sums.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryStatistics {
    pub(super) size: CollectionSize,
    /// How many pages have a word, by part.
    pub(super) words: HashMap<String, [u64; Part::COUNT]>,
    /// The words within an edit distance of one, and of two, of a word.
    pub(super) near: HashMap<String, [WordCounts; 2]>,
    /// The words that begin with a prefix, by the parts that are read.
    pub(super) endings: HashMap<String, [WordCounts; READ.len()]>,
}

impl QueryStatistics {
    /// Adds the statistics of other pages.
    pub fn add(&mut self, other: Self) {
        self.size.pages += other.size.pages;
        add_all(&mut self.size.words, other.size.words);
        for (word, pages) in other.words {
            add_all(self.words.entry(word).or_default(), pages);
        }
        for (word, near) in other.near {
            let sums = self.near.entry(word).or_default();
            sums.iter_mut()
                .zip(near)
                .for_each(|(sum, near)| add_counts(sum, near));
        }
        for (start, endings) in other.endings {
            let sums = self.endings.entry(start).or_default();
            sums.iter_mut()
                .zip(endings)
                .for_each(|(sum, endings)| add_counts(sum, endings));
        }
    }

    /// Returns the words that are searched instead of words of the query or besides them, and
    /// whose [frequencies](Index::frequencies) are not known yet.
    pub fn missing_words(&self, query: &SearchQuery<'_>) -> Vec<String> {
        let found = expansions(&query.parsed(), query, Dictionary::Given(self));
        let words = found.expect(IN_MEMORY).words.into_values().flatten();
        let mut missing: Vec<String> = words.map(|(word, _)| word).collect();
        missing.retain(|word| !self.words.contains_key(word));
        missing.sort();
        missing.dedup();
        missing
    }

    /// Returns the query with words that are probably misspelled corrected, from the sum of the
    /// [spelling statistics](Index::spelling_statistics) of all indexes. Returns `None` if there
    /// are none.
    pub fn meant(&self, text: &str) -> Option<String> {
        meant(text, Dictionary::Given(self)).expect(IN_MEMORY)
    }
}

const IN_MEMORY: &str = "statistics in memory can be read";

impl Index {
    /// Returns the statistics of this index for a query.
    pub fn statistics(&self, query: &SearchQuery<'_>) -> Result<QueryStatistics, IndexError> {
        let parsed = query.parsed();
        self.read(|searcher| {
            let dictionary = Dictionary::Index(searcher, &self.fields);
            let mut statistics = QueryStatistics {
                size: dictionary.size()?,
                words: frequencies(dictionary, words_of(&parsed))?,
                ..QueryStatistics::default()
            };
            for checked in checked_words(&parsed, query) {
                let word = checked.word;
                if checked.typing {
                    let endings = endings(dictionary, word)?;
                    statistics.endings.insert(word.to_owned(), endings);
                }
                // A word that a page of this index has is not corrected in any index.
                if is_correctable(word) && dictionary.pages(word, ALL_PARTS)? == 0 {
                    let near = near(dictionary, word, |near| {
                        most_likely(word, near, 0).is_some()
                    });
                    statistics.near.insert(word.to_owned(), near?);
                }
            }
            Ok(statistics)
        })
    }

    /// Returns how many pages of this index have each of these words, as a part of
    /// [`QueryStatistics`].
    pub fn frequencies(&self, words: &[String]) -> Result<QueryStatistics, IndexError> {
        self.read(|searcher| {
            let dictionary = Dictionary::Index(searcher, &self.fields);
            Ok(QueryStatistics {
                words: frequencies(dictionary, words.iter())?,
                ..QueryStatistics::default()
            })
        })
    }

    /// Returns the statistics of this index from which [`QueryStatistics::meant`] corrects words.
    pub fn spelling_statistics(&self, text: &str) -> Result<QueryStatistics, IndexError> {
        let typed = typed(text);
        self.read(|searcher| {
            let dictionary = Dictionary::Index(searcher, &self.fields);
            let mut statistics = QueryStatistics {
                words: frequencies(dictionary, typed.iter().map(|(word, _)| word))?,
                ..QueryStatistics::default()
            };
            for (word, _) in &typed {
                let near = near(dictionary, word, |_| false)?;
                statistics.near.insert(word.clone(), near);
            }
            Ok(statistics)
        })
    }
}

/// Returns the words of a query whose frequencies its ranking may need.
fn words_of(parsed: &ParsedQuery) -> impl Iterator<Item = &String> {
    let forms = parsed.wanted.iter().flat_map(|clause| &clause.forms);
    forms.flat_map(|form| form.words.iter().chain(&form.compound).chain(&form.parts))
}

fn frequencies<'a>(
    dictionary: Dictionary<'_>,
    words: impl Iterator<Item = &'a String>,
) -> Result<HashMap<String, [u64; Part::COUNT]>, TantivyError> {
    let mut frequencies = HashMap::new();
    for word in words {
        let mut pages = [0; Part::COUNT];
        for part in Part::ALL {
            pages[part as usize] = dictionary.pages_of(word, part)?;
        }
        frequencies.insert(word.clone(), pages);
    }
    Ok(frequencies)
}

/// Returns the words near a word, by distance. If `enough` holds for those at a distance of one,
/// it holds for those of all indexes together; then those at a distance of two are not needed.
fn near(
    dictionary: Dictionary<'_>,
    word: &str,
    enough: impl Fn(WordCounts) -> bool,
) -> Result<[WordCounts; 2], TantivyError> {
    let one = dictionary.near(word, 1)?;
    let two = if max_distance(word) < 2 || enough(one.clone()) {
        WordCounts::new()
    } else {
        dictionary.near(word, 2)?
    };
    Ok([one, two])
}

/// Returns the words that begin with a prefix, by part. If this index has enough completions in the
/// first parts, all indexes together have; then the other parts are not needed.
fn endings(
    dictionary: Dictionary<'_>,
    start: &str,
) -> Result<[WordCounts; READ.len()], TantivyError> {
    let mut endings: [WordCounts; READ.len()] = Default::default();
    let mut found = WordCounts::new();
    for (place, counts) in endings.iter_mut().enumerate() {
        dictionary.endings(start, place, counts)?;
        add_counts(&mut found, counts.clone());
        if found.len() > ENDINGS {
            break;
        }
    }
    Ok(endings)
}

fn add_all<const N: usize>(sums: &mut [u64; N], counts: [u64; N]) {
    sums.iter_mut()
        .zip(counts)
        .for_each(|(sum, count)| *sum += count);
}
