//! How often does each page mention some words?
//!
//! **Invariant:** a word is split as the pages were, so what [`search`](Index::search) would find is
//! what is counted, and counts are those of the last commit without pages that were removed.
//!
//! Read straight from the postings, which hold how often and where a word occurs: nothing is scored,
//! and no text is read. A word that is split into several (`state-of-the-art`, 東京都) is mentioned
//! where they follow each other.

use std::collections::{BTreeSet, HashMap};

use page::PageId;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::{Field, IndexRecordOption, Term};
use tantivy::{DocId, DocSet, InvertedIndexReader, SegmentReader, TERMINATED, TantivyError};

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
    let inverted = segment.inverted_index(field)?;
    let (first, rest) = match clause {
        [] => return Ok(()),
        [first, rest @ ..] => (first, rest),
    };
    let option = match rest {
        [] => IndexRecordOption::WithFreqs,
        _ => IndexRecordOption::WithFreqsAndPositions,
    };
    let Some(mut first) = postings(&inverted, field, first, option)? else {
        return Ok(());
    };
    let mut others = Vec::with_capacity(rest.len());
    for word in rest {
        match postings(&inverted, field, word, option)? {
            Some(postings) => others.push(postings),
            None => return Ok(()),
        }
    }
    while first.doc() != TERMINATED {
        let times = match others.is_empty() {
            true => first.term_freq(),
            false => in_a_row(&mut first, &mut others),
        };
        if times > 0 {
            visit(first.doc(), times);
        }
        first.advance();
    }
    Ok(())
}

fn postings(
    inverted: &InvertedIndexReader,
    field: Field,
    word: &str,
    option: IndexRecordOption,
) -> Result<Option<SegmentPostings>, TantivyError> {
    Ok(inverted.read_postings(&Term::from_field_text(field, word), option)?)
}

/// How often the words follow each other in the page that the first stands at.
fn in_a_row(first: &mut SegmentPostings, others: &mut [SegmentPostings]) -> u32 {
    let doc = first.doc();
    let mut starts = Vec::new();
    first.positions(&mut starts);
    let mut positions = Vec::new();
    for (after, other) in (1..).zip(others) {
        // It may stand beyond already, and a seek must not go backwards.
        if other.doc() < doc {
            other.seek(doc);
        }
        if other.doc() != doc {
            return 0;
        }
        positions.clear();
        other.positions(&mut positions);
        starts.retain(|&start| positions.binary_search(&(start + after)).is_ok());
    }
    starts.len() as u32
}
