//! Counts how often each page mentions given words.
//!
//! **Invariant:** a word is split in the same way as the pages, so [`search`](Index::search)
//! finds what is counted here. Counts are those of the last commit, without removed pages.
//!
//! The counts come directly from the posting lists, which contain frequencies and positions. No
//! page is scored and no text is read. A word that is split into several (`state-of-the-art`,
//! 東京都) counts where these follow each other.

use std::collections::{BTreeSet, HashMap};

use page::PageId;
use tantivy::schema::Field;
use tantivy::{DocId, Searcher, SegmentReader, TERMINATED, TantivyError};

use super::phrase::PhrasePostings;
use super::{Index, IndexError, query, words};

/// How often a page mentions the words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mentions {
    /// Occurrences of all the words in its title.
    pub in_title: u32,
    /// Occurrences of all the words in its text.
    pub in_body: u32,
    /// Number of words of its text. It is exact up to 40; above, the index rounds down by at
    /// most one eighth.
    pub words: u32,
}

impl Index {
    /// Returns the pages that mention any of these words in title or text, sorted by id. Words
    /// that the index treats as equal (`café`, `cafe`) count once.
    pub fn mentions(&self, words: &[String]) -> Result<Vec<(PageId, Mentions)>, IndexError> {
        let mut found = self.read(|searcher| self.counted(searcher, words))?;
        found.sort_unstable_by_key(|&(id, _)| id);
        Ok(found)
    }

    fn counted(
        &self,
        searcher: &Searcher,
        words: &[String],
    ) -> Result<Vec<(PageId, Mentions)>, TantivyError> {
        let mut analyzer = words::analyzer();
        let clauses: BTreeSet<Vec<String>> = words
            .iter()
            .map(|word| query::words(word, &mut analyzer))
            .filter(|clause| !clause.is_empty())
            .collect();
        let mut found = Vec::new();
        for segment in searcher.segment_readers() {
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

/// Visits each page that has the words one after the other, with the number of times.
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
