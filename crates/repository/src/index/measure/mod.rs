//! What it was worth to searchers that a page was put into the index, or taken out.
//!
//! ΔQ_A of Pandey & Olston (2005), §5, while the index is written: for every word of the workload whose postings
//! change, its scores in the last copy and in this one, their ranks by [`ScoreRank`](policy::quality::ScoreRank),
//! and what that changes for those who search the word, times how many do.
//!
//! **Invariant:** everything here is in memory and can be lost: it is made from the workload and the index.
//!
//! Scores and lists are of the last commit at which a word was looked at. A word is looked at when a page changes its
//! postings, and it never was or the index has doubled since; or a tenth of the pages changed since and there is
//! credit: beyond growth, no more than [`LOOKS`] postings are read for a byte of text that is put.
//!
//! A text is split into words once more by the index itself, in another thread, so this must be cheap: of a copy
//! and the one before only the [difference] is read. How often the page has a word of it besides,
//! the index knows; only if there are many such words, or more or fewer than before, all of the text is read.

mod copies;
mod count;
mod difference;
mod survey;
#[cfg(test)]
mod tests;
mod usefulness;

use page::PageId;
use policy::quality::gain;
use tantivy::{Searcher, TantivyError};

use super::content::Texts;
use super::schema::Fields;
use super::score::Standing;
use super::stored::Committed;
use super::weights::Part;
use super::workload::Workload;
use copies::{Copies, Copy};
use count::{Counter, Counts};
use difference::{Age, parts};
use survey::{Form, Lengths, Scratch, Survey, Word};

/// Postings read to look at known words again, for each byte of text put: about a hundredth of the work.
const LOOKS: f64 = 0.04;

/// What finding a word in one segment costs, in postings read.
const SEEK: u64 = 24;

/// The share of the pages that must have changed before a word is looked at again.
const STALE: f64 = 0.1;

/// Words that are looked up in the index for a page. Reading a text of five kilobytes costs as much as some twenty of them.
const FEW: usize = 16;

/// Measures what changes of the index are worth.
pub(super) struct Measure {
    fields: Fields,
    counter: Counter,
    words: Vec<Searched>,
    survey: Survey,
    copies: Copies,
    few: usize,
    /// Pages put or removed so far.
    changed: u64,
    /// Postings that may be read to look at known words again.
    credit: f64,
    differences: Vec<(u16, Counts)>,
    changes: Vec<Change>,
    scratch: Scratch,
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

/// How often a page had a word, and has it now.
struct Change {
    word: u16,
    before: Counts,
    after: Counts,
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
            few: FEW,
            changed: 0,
            credit: 0.0,
            differences: Vec::new(),
            changes: Vec::new(),
            scratch: Scratch::default(),
        })
    }

    /// What it is worth that a page has these texts now; `committed` is its copy in the last commit.
    ///
    /// Links to the page are not its own doing, so its last copy is scored with the links of now.
    pub(super) fn put(
        &mut self,
        page: PageId,
        committed: Option<&Committed>,
        texts: &Texts<'_>,
        standing: Standing,
    ) -> Result<f64, TantivyError> {
        let last = self.copies.take(page, committed);
        self.credit += texts.of(Part::Body).len() as f64 * LOOKS;
        self.copies
            .keep(page, Some((texts.clone().into_owned(), standing)));
        self.changes.clear();
        let Some(mut last) = last else {
            let form = Form {
                lengths: Lengths::of(self.read(texts)),
                standing,
            };
            self.note_rest(|after| (Counts::default(), after));
            return self.gain(form, form);
        };
        let anchors = texts.of(Part::Anchors);
        if last.texts.of(Part::Anchors) != anchors {
            last.texts.0[Part::Anchors as usize] = anchors.to_owned().into();
            last.place = None;
        }
        let before = Standing {
            in_links: standing.in_links,
            ..last.standing
        };
        let more = self.compare(&last.texts, texts);
        if more == Counts::default()
            && before == standing
            && let Some(lengths) = self.find(&last, texts)?
        {
            let form = Form { lengths, standing };
            return self.gain(form, form);
        }
        let lengths = self.read(texts);
        for &(word, more) in &self.differences {
            let after = self.counter.take(word);
            self.changes.push(Change {
                word,
                before: less(after, more),
                after,
            });
        }
        let before = Form {
            lengths: Lengths::of(less(lengths, more)),
            standing: before,
        };
        let after = Form {
            lengths: Lengths::of(lengths),
            standing,
        };
        if before == after {
            self.counter.take_rest(|_, _| ());
        } else {
            // The page scores otherwise for every word.
            self.note_rest(|times| (times, times));
        }
        self.gain(before, after)
    }

    /// What it is worth that a page, which is gone from the web, is no longer shown.
    pub(super) fn remove(
        &mut self,
        page: PageId,
        committed: Option<&Committed>,
    ) -> Result<f64, TantivyError> {
        let last = self.copies.take(page, committed);
        self.copies.keep(page, None);
        let Some(last) = last else {
            return Ok(0.0);
        };
        let form = Form {
            lengths: Lengths::of(self.read(&last.texts)),
            standing: last.standing,
        };
        self.changes.clear();
        self.note_rest(|before| (before, Counts::default()));
        self.gain(form, form)
    }

    /// Everything so far is in what this searches.
    pub(super) fn committed(&mut self, searcher: Searcher) -> Result<(), TantivyError> {
        self.survey = Survey::new(searcher, &self.fields)?;
        self.copies.committed();
        Ok(())
    }

    /// Counts the words of a page. Returns how many there are in each part.
    fn read(&mut self, texts: &Texts<'_>) -> Counts {
        Part::ALL.map(|part| self.counter.read(texts.of(part), part))
    }

    /// Finds the words that a copy has more often, or less, than the one before. Returns how many words it has more
    /// in each part. Less is a large number: all of this wraps.
    fn compare(&mut self, old: &Texts<'_>, new: &Texts<'_>) -> Counts {
        let more = Part::ALL.map(|part| {
            let mut more = 0u32;
            parts(old.of(part), new.of(part), |age, text| {
                more = match age {
                    Age::Old => more.wrapping_sub(self.counter.unread(text, part)),
                    Age::New => more.wrapping_add(self.counter.read(text, part)),
                };
            });
            more
        });
        let differences = &mut self.differences;
        differences.clear();
        self.counter
            .take_rest(|word, more| differences.push((word, more)));
        more
    }

    /// Notes the words that differ, by how often the index says that the last copy has them in its body. Returns
    /// the lengths of that copy, and `None` where it is better to read the new one.
    fn find(&mut self, last: &Copy, texts: &Texts<'_>) -> Result<Option<Lengths>, TantivyError> {
        let Some(place) = last.place else {
            return Ok(None);
        };
        let others = || Part::ALL.into_iter().filter(|&part| part != Part::Body);
        let same = others().all(|part| last.texts.of(part) == texts.of(part));
        if self.differences.len() > self.few || !same {
            return Ok(None);
        }
        let lengths = self.survey.lengths(place)?;
        if self.differences.is_empty() {
            return Ok(Some(lengths));
        }
        for part in others() {
            self.counter.read(texts.of(part), part);
        }
        for &(word, more) in &self.differences {
            let text = &self.words[usize::from(word)].text;
            let mut before = self.counter.take(word);
            before[Part::Body as usize] = self.survey.times(place, Part::Body, text)?;
            let mut after = before;
            for (after, more) in after.iter_mut().zip(more) {
                *after = after.wrapping_add(more);
            }
            self.changes.push(Change {
                word,
                before,
                after,
            });
        }
        self.counter.take_rest(|_, _| ());
        Ok(Some(lengths))
    }

    /// Notes all words that were counted, and how often they were there before and after.
    fn note_rest(&mut self, times: impl Fn(Counts) -> (Counts, Counts)) {
        let changes = &mut self.changes;
        self.counter.take_rest(|word, counted| {
            let (before, after) = times(counted);
            changes.push(Change {
                word,
                before,
                after,
            });
        });
    }

    /// Sums up the noted changes.
    fn gain(&mut self, before: Form, after: Form) -> Result<f64, TantivyError> {
        self.changed += 1;
        let changes = std::mem::take(&mut self.changes);
        let mut sum = 0.0;
        for change in &changes {
            self.look_at(change.word)?;
            let searched = &self.words[usize::from(change.word)];
            let Some(Known { word, .. }) = &searched.known else {
                continue;
            };
            let before = self.survey.score(word, change.before, before);
            let after = self.survey.score(word, change.after, after);
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
        let (word, read) = self.survey.word(&searched.text, &mut self.scratch)?;
        if paid {
            let segments = self.survey.searcher().segment_readers().len() as u64;
            self.credit -= (read + Part::COUNT as u64 * SEEK * segments) as f64;
        }
        searched.known = Some(Known {
            word,
            pages,
            changed: self.changed,
        });
        Ok(())
    }
}

/// What was there before more came; all of this wraps.
fn less(counts: Counts, more: Counts) -> Counts {
    std::array::from_fn(|part| counts[part].wrapping_sub(more[part]))
}
