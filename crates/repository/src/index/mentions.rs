//! How often each page mentions some words.
//!
//! **Invariant:** a word is split as the pages were, so what [`search`](Index::search) would find is
//! what is counted, and counts are those of the last commit without pages that were removed.
//!
//! Read straight from the postings, which hold how often and where a word occurs: nothing is scored,
//! and no text is read. A word that is split into several (`state-of-the-art`, 東京都) is mentioned
//! where they follow each other.

use std::collections::{BTreeSet, HashMap};

use page::PageId;
use tantivy::schema::Field;
use tantivy::{DocId, SegmentReader, TERMINATED, TantivyError};

use super::phrase::PhrasePostings;
use super::{Index, IndexError, query, words};

/// What a page says of some words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mentions {
    /// Occurrences in its title, of all the words together.
    pub in_title: u32,
    /// Occurrences in its text.
    pub in_body: u32,
    /// The words of its text. Exact up to 40; above, what the index keeps of it: at most one eighth
    /// too few.
    pub words: u32,
}

impl Index {
    /// The pages that mention any of these words in title or text, in the order of their ids. Words
    /// that the index does not tell apart (`café`, `cafe`) count once.
    pub fn mentions(&self, words: &[String]) -> Result<Vec<(PageId, Mentions)>, IndexError> {
        let mut found = self
            .try_mentions(words)
            .map_err(|error| self.fail("read", error))?;
        found.sort_unstable_by_key(|&(id, _)| id);
        Ok(found)
    }

    fn try_mentions(&self, words: &[String]) -> Result<Vec<(PageId, Mentions)>, TantivyError> {
        let mut analyzer = words::analyzer();
        let clauses: BTreeSet<Vec<String>> = words
            .iter()
            .map(|word| query::words(word, &mut analyzer))
            .filter(|clause| !clause.is_empty())
            .collect();
        let mut found = Vec::new();
        for segment in self.reader.searcher().segment_readers() {
            let mut pages: HashMap<DocId, Mentions> = HashMap::new();
            for clause in &clauses {
                count(segment, self.fields.title, clause, |doc, times| {
                    pages.entry(doc).or_default().in_title += times;
                })?;
                count(segment, self.fields.body, clause, |doc, times| {
                    pages.entry(doc).or_default().in_body += times;
                })?;
            }
            if pages.is_empty() {
                continue;
            }
            let lengths = segment.get_fieldnorms_reader(self.fields.body)?;
            self.ids_of(segment, |doc, id| {
                if let Some(mentions) = pages.get(&doc) {
                    let words = lengths.fieldnorm(doc);
                    found.push((id, Mentions { words, ..*mentions }));
                }
            })?;
        }
        Ok(found)
    }
}

/// Visits each page that has the words one after the other, with how often it has them.
fn count(
    segment: &SegmentReader,
    field: Field,
    clause: &[String],
    mut visit: impl FnMut(DocId, u32),
) -> Result<(), TantivyError> {
    let Some(mut found) = PhrasePostings::new(segment, field, clause)? else {
        return Ok(());
    };
    while found.doc() != TERMINATED {
        visit(found.doc(), found.times());
        found.advance();
    }
    Ok(())
}
