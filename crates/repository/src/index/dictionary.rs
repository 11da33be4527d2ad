//! The words of all pages, and how many pages have each.
//!
//! The ranking, spelling correction and completion read the statistics of words here and nowhere
//! else: those of one index, or those that several indexes have together ([`QueryStatistics`]).

use std::collections::HashMap;

use tantivy::query::FuzzyTermQuery;
use tantivy::schema::Term;
use tantivy::{Searcher, TantivyError};

use super::schema::SchemaFields;
use super::score::CollectionSize;
use super::statistics::QueryStatistics;
use super::weights::Part;

/// Words with a number of pages each.
pub(super) type WordCounts = HashMap<String, u64>;

/// The parts whose words are read for corrections and completions: the parts with few, well
/// chosen words, then the body.
pub(super) const READ: [Part; 4] = [Part::Title, Part::Headings, Part::Anchors, Part::Body];

/// Maximum number of words that are read to complete a prefix, in each part of each segment.
const LOOKED_AT: usize = 4_000;

/// The words of all pages.
#[derive(Clone, Copy)]
pub(super) enum Dictionary<'a> {
    /// The words of one index.
    Index(&'a Searcher, &'a SchemaFields),
    /// The words of several indexes, as far as they matter to a query.
    Given(&'a QueryStatistics),
}

impl Dictionary<'_> {
    /// Returns the number of pages and of the words in their parts.
    pub(super) fn size(&self) -> Result<CollectionSize, TantivyError> {
        match self {
            Self::Index(searcher, fields) => CollectionSize::of(searcher, fields),
            Self::Given(statistics) => Ok(statistics.size),
        }
    }

    /// Estimates how many pages have a word: the maximum over the parts, because most words of
    /// the other parts are in the body too.
    pub(super) fn pages(&self, word: &str, parts: &[Part]) -> Result<u64, TantivyError> {
        let mut most = 0;
        for &part in parts {
            most = most.max(self.pages_of(word, part)?);
        }
        Ok(most)
    }

    /// Returns how many pages have a word in a part. Removed pages count until their segment is
    /// merged.
    pub(super) fn pages_of(&self, word: &str, part: Part) -> Result<u64, TantivyError> {
        match self {
            Self::Index(searcher, fields) => {
                searcher.doc_freq(&Term::from_field_text(fields.part(part), word))
            }
            Self::Given(statistics) => {
                let pages = statistics.words.get(word);
                Ok(pages.map_or(0, |pages| pages[part as usize]))
            }
        }
    }

    /// Returns the words within an edit distance of 1 or 2, and how many pages have each, summed
    /// over the parts that are read. Of the body, only words with the same first letter are read.
    pub(super) fn near(&self, word: &str, distance: u8) -> Result<WordCounts, TantivyError> {
        let (searcher, fields) = match self {
            Self::Index(searcher, fields) => (searcher, fields),
            Self::Given(statistics) => {
                let near = statistics.near.get(word);
                let near = near.map(|near| near[usize::from(distance) - 1].clone());
                return Ok(near.unwrap_or_default());
            }
        };
        let mut near = WordCounts::new();
        let asked = FuzzyTermQuery::new(Term::from_field_text(fields.body, word), distance, true);
        let first: String = word.chars().take(1).collect();
        for part in READ {
            for segment in searcher.segment_readers() {
                let inverted = segment.inverted_index(fields.part(part))?;
                let mut walk = inverted.terms().search(asked.automaton()?);
                if part == Part::Body {
                    walk = walk.ge(&first).lt(behind(&first));
                }
                let mut terms = walk.into_stream()?;
                while let Some((other, info)) = terms.next() {
                    if let Ok(other) = str::from_utf8(other) {
                        *near.entry(other.to_owned()).or_default() += u64::from(info.doc_freq);
                    }
                }
            }
        }
        Ok(near)
    }

    /// Adds the words of a part that begin with a prefix, and how many pages have each, to
    /// `found`. `place` is the index of the part in [`READ`].
    pub(super) fn endings(
        &self,
        start: &str,
        place: usize,
        found: &mut WordCounts,
    ) -> Result<(), TantivyError> {
        let (searcher, fields) = match self {
            Self::Index(searcher, fields) => (searcher, fields),
            Self::Given(statistics) => {
                if let Some(endings) = statistics.endings.get(start) {
                    add_counts(found, endings[place].clone());
                }
                return Ok(());
            }
        };
        for segment in searcher.segment_readers() {
            let inverted = segment.inverted_index(fields.part(READ[place]))?;
            let range = inverted.terms().range().ge(start).lt(behind(start));
            let mut terms = range.into_stream()?;
            let mut looked_at = 0;
            while looked_at < LOOKED_AT
                && let Some((word, info)) = terms.next()
            {
                looked_at += 1;
                if let Ok(word) = str::from_utf8(word) {
                    *found.entry(word.to_owned()).or_default() += u64::from(info.doc_freq);
                }
            }
        }
        Ok(())
    }
}

/// Adds the number of pages of each word.
pub(super) fn add_counts(sums: &mut WordCounts, counts: WordCounts) {
    for (word, pages) in counts {
        *sums.entry(word).or_default() += pages;
    }
}

/// Returns the smallest byte string that is greater than all texts with this prefix.
fn behind(start: &str) -> Vec<u8> {
    let mut bytes = start.as_bytes().to_vec();
    // UTF-8 has no byte 0xff.
    if let Some(last) = bytes.last_mut() {
        *last += 1;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_with_the_prefix_is_less_than_the_bound() {
        for (start, inside) in [("ab", "abz"), ("é", "éé"), ("東", "東京")] {
            assert!(inside.as_bytes() < &behind(start)[..] && start <= inside);
        }
    }
}
