//! Measures the gain for searchers when a page is put into the index or removed from it.
//!
//! Computes ΔQ_A of Pandey & Olston (2005), section 5, while the index is written. For every
//! word of the workload whose postings change, it computes the score of the last copy and of the
//! new one. [`ScoreRank`](policy::quality::ScoreRank) estimates their ranks. The gain is the
//! change in the value of the answers, times the frequency of the word.
//!
//! **Invariant:** everything here is in memory and can be lost: it is computed from the workload
//! and the index.
//!
//! A *survey* of a word reads its postings to find its weight and the scores of its results. Both
//! are kept until the next survey of the word.
//! When a page changes the postings of a word, the word is surveyed if
//! - it never was, or the index has doubled since; or
//! - 10% of the pages have changed since, and there is credit: for each byte of body text put,
//!   [`LOOKS`] postings may be read.
//!
//! This code runs in the thread that commits pages, while the index splits texts into words in
//! another thread. So it must be cheap.
//! It reads only the [difference] between a copy and the one before. How often the unchanged text
//! has the differing words is read from the posting lists. The whole text is read only if
//! - the page has no copy before, or that copy is not committed; or
//! - more than [`FEW`] words differ; or
//! - a part other than the body, the number of words or the share of link text has changed.

mod copies;
mod count;
mod difference;
mod survey;
#[cfg(test)]
mod tests;
mod usefulness;

use page::PageId;
use policy::quality::{Attention, gain};
use tantivy::{Searcher, TantivyError};

use super::content::PageTexts;
use super::schema::SchemaFields;
use super::score::LinkStats;
use super::stored::CommittedPage;
use super::weights::Part;
use super::workload::Workload;
use copies::{LastCopies, PageCopy};
use count::{Counter, Counts};
use difference::{WhichText, parts};
use survey::{Lengths, ScoreInputs, Scratch, Survey, SurveyedWord};

/// Postings that may be read to survey known words again, for each byte of body text put. This
/// adds about 1% to the work of indexing.
const LOOKS: f64 = 0.04;

/// Cost of finding a word in one part of one segment, in postings read.
const SEEK: u64 = 24;

/// Share of the pages that must have changed before a word is surveyed again.
const STALE: f64 = 0.1;

/// Maximum number of differing words that are looked up in the index for a page. Reading a text
/// of five kilobytes costs as much as about twenty lookups.
const FEW: usize = 16;

/// Measures the gain of changes to the index.
pub(super) struct GainMeasure {
    fields: SchemaFields,
    counter: Counter,
    words: Vec<WorkloadWord>,
    attention: Attention,
    survey: Survey,
    copies: LastCopies,
    few: usize,
    /// Pages put or removed so far.
    changed: u64,
    /// Postings that may be read to survey known words again.
    credit: f64,
    differences: Vec<(u16, Counts)>,
    changes: Vec<WordChange>,
    scratch: Scratch,
}

/// A word of the workload.
struct WorkloadWord {
    text: Box<str>,
    frequency: f64,
    known: Option<WordSurvey>,
}

/// A surveyed word, with the number of pages in the index and the number of changed pages at
/// that time.
struct WordSurvey {
    word: SurveyedWord,
    pages: u64,
    changed: u64,
}

/// How often a page had a word before, and has it now.
struct WordChange {
    word: u16,
    before: Counts,
    after: Counts,
}

impl GainMeasure {
    pub(super) fn new(
        workload: &Workload,
        searcher: Searcher,
        fields: &SchemaFields,
    ) -> Result<Self, TantivyError> {
        let words = workload.words().map(|(text, frequency)| WorkloadWord {
            text: text.into(),
            frequency,
            known: None,
        });
        Ok(Self {
            fields: *fields,
            counter: Counter::new(workload.words().map(|(word, _)| word)),
            words: words.collect(),
            attention: workload.attention(),
            survey: Survey::new(searcher, fields)?,
            copies: LastCopies::default(),
            few: FEW,
            changed: 0,
            credit: 0.0,
            differences: Vec::new(),
            changes: Vec::new(),
            scratch: Scratch::default(),
        })
    }

    /// Returns the gain of a page's new texts; `committed` is its copy in the last commit.
    ///
    /// Links to the page are not part of its content. So the last copy is scored with the
    /// current anchor texts and number of links.
    pub(super) fn put(
        &mut self,
        page: PageId,
        committed: Option<&CommittedPage>,
        texts: &PageTexts<'_>,
        link_stats: LinkStats,
    ) -> Result<f64, TantivyError> {
        let last = self.copies.take(page, committed);
        self.credit += texts.of(Part::Body).len() as f64 * LOOKS;
        self.copies
            .keep(page, Some((texts.clone().into_owned(), link_stats)));
        self.changes.clear();
        let Some(mut last) = last else {
            let form = ScoreInputs {
                lengths: Lengths::of(self.read(texts)),
                link_stats,
            };
            self.note_rest(|after| (Counts::default(), after));
            return self.gain(form, form);
        };
        let anchors = texts.of(Part::Anchors);
        if last.texts.of(Part::Anchors) != anchors {
            last.texts.0[Part::Anchors as usize] = anchors.to_owned().into();
            last.place = None;
        }
        let before = LinkStats {
            in_links: link_stats.in_links,
            ..last.link_stats
        };
        let more = self.compare(&last.texts, texts);
        if more == Counts::default()
            && before == link_stats
            && let Some(lengths) = self.find(&last, texts)?
        {
            let form = ScoreInputs {
                lengths,
                link_stats,
            };
            return self.gain(form, form);
        }
        let lengths = self.read(texts);
        for &(word, more) in &self.differences {
            let after = self.counter.take(word);
            self.changes.push(WordChange {
                word,
                before: less(after, more),
                after,
            });
        }
        let before = ScoreInputs {
            lengths: Lengths::of(less(lengths, more)),
            link_stats: before,
        };
        let after = ScoreInputs {
            lengths: Lengths::of(lengths),
            link_stats,
        };
        if before == after {
            self.counter.take_rest(|_, _| ());
        } else {
            // The length or the links changed, so the page has a new score for every word.
            self.note_rest(|times| (times, times));
        }
        self.gain(before, after)
    }

    /// Returns the gain of removing a page that is gone from the web.
    pub(super) fn remove(
        &mut self,
        page: PageId,
        committed: Option<&CommittedPage>,
    ) -> Result<f64, TantivyError> {
        let last = self.copies.take(page, committed);
        self.copies.keep(page, None);
        let Some(last) = last else {
            return Ok(0.0);
        };
        let form = ScoreInputs {
            lengths: Lengths::of(self.read(&last.texts)),
            link_stats: last.link_stats,
        };
        self.changes.clear();
        self.note_rest(|before| (before, Counts::default()));
        self.gain(form, form)
    }

    /// Replaces the searcher by one whose commit has everything put so far.
    pub(super) fn committed(&mut self, searcher: Searcher) -> Result<(), TantivyError> {
        self.survey = Survey::new(searcher, &self.fields)?;
        self.copies.committed();
        Ok(())
    }

    /// Counts the words of a page. Returns how many there are in each part.
    fn read(&mut self, texts: &PageTexts<'_>) -> Counts {
        Part::ALL.map(|part| self.counter.read(texts.of(part), part))
    }

    /// Finds the words that a copy has more or less often than the one before. Returns how many
    /// more words it has in each part. All numbers wrap around.
    fn compare(&mut self, old: &PageTexts<'_>, new: &PageTexts<'_>) -> Counts {
        let more = Part::ALL.map(|part| {
            let mut more = 0u32;
            parts(old.of(part), new.of(part), |age, text| {
                more = match age {
                    WhichText::Old => more.wrapping_sub(self.counter.unread(text, part)),
                    WhichText::New => more.wrapping_add(self.counter.read(text, part)),
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

    /// Records the changes of the differing words, with their counts in the last copy's body
    /// taken from the index.
    ///
    /// Returns the lengths of that copy. Returns `None` if reading the new copy is cheaper or
    /// necessary.
    fn find(
        &mut self,
        last: &PageCopy,
        texts: &PageTexts<'_>,
    ) -> Result<Option<Lengths>, TantivyError> {
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
            self.changes.push(WordChange {
                word,
                before,
                after,
            });
        }
        self.counter.take_rest(|_, _| ());
        Ok(Some(lengths))
    }

    /// Records changes of all counted words; `times` gives the counts before and after.
    fn note_rest(&mut self, times: impl Fn(Counts) -> (Counts, Counts)) {
        let changes = &mut self.changes;
        self.counter.take_rest(|word, counted| {
            let (before, after) = times(counted);
            changes.push(WordChange {
                word,
                before,
                after,
            });
        });
    }

    /// Returns the sum of the gains of the recorded changes, each weighted by word frequency.
    fn gain(&mut self, before: ScoreInputs, after: ScoreInputs) -> Result<f64, TantivyError> {
        self.changed += 1;
        let changes = std::mem::take(&mut self.changes);
        let mut sum = 0.0;
        for change in &changes {
            self.look_at(change.word)?;
            let searched = &self.words[usize::from(change.word)];
            let Some(WordSurvey { word, .. }) = &searched.known else {
                continue;
            };
            let before = self.survey.score(word, change.before, before);
            let after = self.survey.score(word, change.after, after);
            let gained = gain(self.attention, &word.list, before.into(), after.into());
            sum += searched.frequency * gained;
        }
        self.changes = changes;
        Ok(sum)
    }

    /// Surveys a word in the index if it must be surveyed (see the module documentation).
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
        searched.known = Some(WordSurvey {
            word,
            pages,
            changed: self.changed,
        });
        Ok(())
    }
}

/// Returns `counts` − `more`, wrapping around.
fn less(counts: Counts, more: Counts) -> Counts {
    std::array::from_fn(|part| counts[part].wrapping_sub(more[part]))
}
