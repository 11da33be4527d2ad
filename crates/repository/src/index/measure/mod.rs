//! What was it worth to searchers that a page was put into the index, or taken out?
//!
//! ΔQ_A of Pandey & Olston (2005), §5, while the index is written: for every word of the workload whose postings
//! change, its scores in the last copy and in this one, their ranks by [`ScoreRank`](policy::quality::ScoreRank),
//! and what that changes for those who search the word, times how many do.
//!
//! **Invariant:** everything here is in memory and can be lost: it is made from the workload and the index.
//!
//! Scores and lists are of the last commit at which a word was looked at. A word is looked at when a page changes its
//! postings, and it never was or the index has doubled since; or a tenth of the pages changed since and there is
//! credit: beyond growth, no more than [`LOOKS`] postings are read for a word of text that is put.

mod copies;
mod copy;
mod count;
mod survey;
#[cfg(test)]
mod tests;
mod usefulness;

use page::PageId;
use policy::quality::gain;
use tantivy::schema::{IndexRecordOption, Term, Value};
use tantivy::{DocAddress, DocSet, Searcher, TERMINATED, TantivyDocument, TantivyError};

use super::schema::Fields;
use super::workload::Workload;
use copies::{Copies, ROOM};
use copy::{Copy, Lengths};
use count::{Counter, IN_BODY, IN_TITLE, IN_URL};
use survey::{Survey, Word};

/// Postings read to look at known words again, for each word of text put: a fraction of a per cent of the work.
const LOOKS: f64 = 0.125;

/// What finding a word in one segment costs, in postings read.
const SEEK: u64 = 64;

/// The share of the pages that must have changed before a word is looked at again.
const STALE: f64 = 0.1;

/// The texts of a page that are searched.
#[derive(Debug, Clone, Copy)]
pub(super) struct Texts<'a> {
    pub(super) title: &'a str,
    pub(super) body: &'a str,
    pub(super) url: &'a str,
}

/// Measures what changes of the index are worth.
pub(super) struct Measure {
    fields: Fields,
    counter: Counter,
    words: Vec<Searched>,
    survey: Survey,
    copies: Copies,
    room: usize,
    /// Pages put or removed so far.
    changed: u64,
    /// Postings that may be read to look at known words again.
    credit: f64,
    changes: Vec<Change>,
    scores: Vec<f32>,
}

/// A word that people search for.
struct Searched {
    text: Box<str>,
    frequency: f64,
    known: Option<Known>,
}

/// A word as it was found in an index of so many pages, when so many had changed.
struct Known {
    word: Word,
    pages: u64,
    changed: u64,
}

/// How often a page had a word, and has it now, by field.
struct Change {
    word: u16,
    before: u64,
    after: u64,
}

impl Measure {
    pub(super) fn new(
        workload: &Workload,
        searcher: Searcher,
        fields: &Fields,
    ) -> Result<Self, TantivyError> {
        let words = workload.words().map(|(text, frequency)| Searched {
            text: text.into(),
            frequency,
            known: None,
        });
        Ok(Self {
            fields: *fields,
            counter: Counter::new(workload.words().map(|(word, _)| word)),
            words: words.collect(),
            survey: Survey::new(searcher, fields)?,
            copies: Copies::default(),
            room: ROOM,
            changed: 0,
            credit: 0.0,
            changes: Vec::new(),
            scores: Vec::new(),
        })
    }

    /// What it is worth that a page has these texts now.
    pub(super) fn put(&mut self, page: PageId, texts: Texts<'_>) -> Result<f64, TantivyError> {
        let last = self.last(page)?;
        let lengths = self.count(texts);
        let copy = Copy::new(lengths, self.counter.counts());
        let before = last.as_ref().map_or(lengths, |last| last.lengths);
        self.changes.clear();
        for (word, times) in last.iter().flat_map(Copy::counts) {
            let after = self.counter.take(word);
            self.note(word, times, after, before != lengths);
        }
        let changes = &mut self.changes;
        self.counter.take_rest(|word, after| {
            changes.push(Change {
                word,
                before: 0,
                after,
            });
        });
        self.copies.keep(page, Some(copy));
        self.gain(before, lengths)
    }

    /// What it is worth that a page, which is gone from the web, is no longer shown.
    pub(super) fn remove(&mut self, page: PageId) -> Result<f64, TantivyError> {
        let last = self.last(page)?;
        self.copies.keep(page, None);
        let Some(last) = last else {
            return Ok(0.0);
        };
        self.changes.clear();
        for (word, before) in last.counts() {
            self.note(word, before, 0, false);
        }
        self.gain(last.lengths, last.lengths)
    }

    /// Everything so far is in what this searches.
    pub(super) fn committed(&mut self, searcher: Searcher) -> Result<(), TantivyError> {
        self.survey = Survey::new(searcher, &self.fields)?;
        self.copies.committed(self.room);
        Ok(())
    }

    /// Notes a word, unless the page scores for it what it did.
    fn note(&mut self, word: u16, before: u64, after: u64, other_length: bool) {
        if before != after || other_length {
            self.changes.push(Change {
                word,
                before,
                after,
            });
        }
    }

    /// Sums up the noted changes.
    fn gain(&mut self, before: Lengths, after: Lengths) -> Result<f64, TantivyError> {
        self.changed += 1;
        let changes = std::mem::take(&mut self.changes);
        let mut sum = 0.0;
        for change in &changes {
            self.look_at(change.word)?;
            let searched = &self.words[usize::from(change.word)];
            let Some(Known { word, .. }) = &searched.known else {
                continue;
            };
            let before = self.survey.score(word, by_field(change.before), before);
            let after = self.survey.score(word, by_field(change.after), after);
            sum += searched.frequency * gain(&word.list, before.into(), after.into());
        }
        self.changes = changes;
        Ok(sum)
    }

    /// Looks at a word in the index, unless it is known well enough.
    fn look_at(&mut self, word: u16) -> Result<(), TantivyError> {
        let searched = &mut self.words[usize::from(word)];
        let pages = self.survey.pages();
        let mut paid = false;
        if let Some(known) = &searched.known {
            let doubled = pages > known.pages && pages >= 2 * known.pages;
            let since = (self.changed - known.changed) as f64;
            paid = !doubled;
            if paid && (self.credit <= 0.0 || since < pages as f64 * STALE) {
                return Ok(());
            }
        }
        let (word, read) = self.survey.word(&searched.text, &mut self.scores)?;
        if paid {
            let segments = self.survey.searcher().segment_readers().len() as u64;
            self.credit -= (read + 3 * SEEK * segments) as f64;
        }
        searched.known = Some(Known {
            word,
            pages,
            changed: self.changed,
        });
        Ok(())
    }

    /// Counts the words of a page.
    fn count(&mut self, texts: Texts<'_>) -> Lengths {
        let url = self.counter.read(texts.url, IN_URL);
        let title = self.counter.read(texts.title, IN_TITLE);
        let body = self.counter.read(texts.body, IN_BODY);
        self.credit += f64::from(body) * LOOKS;
        Lengths::of([title, body, url])
    }

    /// The last copy of a page, committed or not.
    fn last(&mut self, page: PageId) -> Result<Option<Copy>, TantivyError> {
        if let Some(copy) = self.copies.take(page) {
            return Ok(copy);
        }
        let Some(document) = self.document(page)? else {
            return Ok(None);
        };
        let text = |field| {
            let value = document.get_first(field);
            value.and_then(|value| value.as_str()).unwrap_or_default()
        };
        let fields = self.fields;
        let lengths = self.count(Texts {
            title: text(fields.title),
            body: text(fields.body),
            url: text(fields.url),
        });
        let copy = Copy::new(lengths, self.counter.counts());
        self.counter.take_rest(|_, _| ());
        Ok(Some(copy))
    }

    /// What the index keeps of a page.
    fn document(&self, page: PageId) -> Result<Option<TantivyDocument>, TantivyError> {
        let searcher = self.survey.searcher();
        let id = Term::from_field_bytes(self.fields.id, &page.0.to_be_bytes());
        for (number, segment) in (0..).zip(searcher.segment_readers()) {
            let inverted = segment.inverted_index(self.fields.id)?;
            let Some(mut found) = inverted.read_postings(&id, IndexRecordOption::Basic)? else {
                continue;
            };
            while found.doc() != TERMINATED {
                if !segment.is_deleted(found.doc()) {
                    let address = DocAddress::new(number, found.doc());
                    return searcher.doc(address).map(Some);
                }
                found.advance();
            }
        }
        Ok(None)
    }
}

/// A tally taken apart: title, text, URL.
fn by_field(times: u64) -> [u32; 3] {
    [
        (times / IN_TITLE) as u32 % (1 << 16),
        times as u32,
        (times / IN_URL) as u32,
    ]
}
