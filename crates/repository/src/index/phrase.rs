//! Posting list of a phrase: the pages that have given words one after the other in one part.
//!
//! **Invariant:** the current page has the words in order, or the list is at its end. The list
//! only moves forwards.

use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::{Field, IndexRecordOption, Term};
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED, TantivyError};

/// The pages of a segment that have given words one after the other.
pub(super) struct PhrasePostings {
    /// The rarest word, which leads the search: the posting lists of the others are skipped to
    /// its pages.
    first: SegmentPostings,
    /// The position of the rarest word in the phrase, from 0.
    place: u32,
    /// The other words with their positions in the phrase, rarest first.
    others: Vec<(u32, SegmentPostings)>,
    starts: Vec<u32>,
    positions: Vec<u32>,
    times: u32,
}

impl PhrasePostings {
    /// Moves to the first page of a segment that has this phrase in a field. Returns `None` if
    /// a word does not occur in this field of the segment, or if there are no words.
    pub(super) fn new(
        segment: &SegmentReader,
        field: Field,
        words: &[String],
    ) -> Result<Option<Self>, TantivyError> {
        let inverted = segment.inverted_index(field)?;
        let mut found = Vec::with_capacity(words.len());
        for (place, word) in (0..).zip(words) {
            let term = Term::from_field_text(field, word);
            match inverted.read_postings(&term, IndexRecordOption::WithFreqsAndPositions)? {
                Some(postings) => found.push((place, postings)),
                None => return Ok(None),
            }
        }
        if found.is_empty() {
            return Ok(None);
        }
        found.sort_by_key(|(_, postings)| postings.doc_freq());
        let (place, first) = found.remove(0);
        let mut phrase = Self {
            first,
            place,
            others: found,
            starts: Vec::new(),
            positions: Vec::new(),
            times: 0,
        };
        phrase.find();
        Ok(Some(phrase))
    }

    /// Returns the current page; [`TERMINATED`] at the end.
    pub(super) fn doc(&self) -> DocId {
        self.first.doc()
    }

    /// Returns how often the current page has the phrase.
    pub(super) fn times(&self) -> u32 {
        self.times
    }

    /// Moves to the next page.
    pub(super) fn advance(&mut self) {
        self.first.advance();
        self.find();
    }

    /// Moves to the first page at or after `target`.
    pub(super) fn seek(&mut self, target: DocId) {
        if self.first.doc() < target {
            self.first.seek(target);
            self.find();
        }
    }

    /// Moves from the page of the rarest word to the first page that has the phrase.
    fn find(&mut self) {
        while self.first.doc() != TERMINATED {
            match self.behind() {
                Some(behind) => {
                    self.first.seek(behind);
                }
                None => {
                    self.times = self.count();
                    if self.times > 0 {
                        return;
                    }
                    self.first.advance();
                }
            }
        }
        self.times = 0;
    }

    /// Returns the first page that could have all words, if the current page lacks one.
    fn behind(&mut self) -> Option<DocId> {
        let doc = self.first.doc();
        for (_, other) in &mut self.others {
            if other.doc() < doc {
                other.seek(doc);
            }
            if other.doc() > doc {
                return Some(other.doc());
            }
        }
        None
    }

    /// Counts how often the phrase occurs in the current page, which has all words.
    fn count(&mut self) -> u32 {
        if self.others.is_empty() {
            return self.first.term_freq();
        }
        self.starts.clear();
        self.first.positions(&mut self.starts);
        let place = self.place;
        self.starts.retain(|&position| position >= place);
        self.starts
            .iter_mut()
            .for_each(|position| *position -= place);
        for (place, other) in &mut self.others {
            if self.starts.is_empty() {
                break;
            }
            self.positions.clear();
            other.positions(&mut self.positions);
            let positions = &self.positions;
            self.starts
                .retain(|start| positions.binary_search(&(start + *place)).is_ok());
        }
        self.starts.len() as u32
    }
}
