//! Words that follow each other, read from the postings of one part of a page.
//!
//! **Invariant:** it stands at a page that has the words in order, or behind the last one; it only moves forwards.

use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::{Field, IndexRecordOption, Term};
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED, TantivyError};

/// The pages of a segment that have some words one after the other.
pub(super) struct PhrasePostings {
    /// The rarest word, which leads: the postings of the others are skipped over.
    first: SegmentPostings,
    /// The place of the rarest word among the words.
    place: u32,
    /// The other words, with their places, the rarest first.
    others: Vec<(u32, SegmentPostings)>,
    starts: Vec<u32>,
    positions: Vec<u32>,
    times: u32,
}

impl PhrasePostings {
    /// Stands at the first page of a segment that has these words in a field; `None` if no page has all of them.
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

    /// The page it stands at; [`TERMINATED`] behind the last one.
    pub(super) fn doc(&self) -> DocId {
        self.first.doc()
    }

    /// How often that page has the words in order.
    pub(super) fn times(&self) -> u32 {
        self.times
    }

    /// Goes to the next page.
    pub(super) fn advance(&mut self) {
        self.first.advance();
        self.find();
    }

    /// Goes to the first page at or behind `target`.
    pub(super) fn seek(&mut self, target: DocId) {
        if self.first.doc() < target {
            self.first.seek(target);
            self.find();
        }
    }

    /// Goes on from where the first word is to where all are in order.
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

    /// The first page that could have all words, if this one lacks some.
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

    /// How often the words follow each other in the page that all stand at.
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
