//! Surveys a word in the index: its weight, and the scores of its results.
//!
//! **Invariant:** for a word that was surveyed at the last commit, a page has the same score here
//! as in a search for this word. A property test compares the two. The weight and the result list
//! of a word always come from one commit, so that a rank is computed on one scale. Only the mean
//! lengths of the parts are always those of the last commit.

use policy::quality::ScoreRank;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings, TermInfo};
use tantivy::schema::{IndexRecordOption, Term};
use tantivy::{DocAddress, DocId, DocSet, Searcher, SegmentReader, TERMINATED, TantivyError};

use super::super::evaluate::{ScoreColumns, Sort};
use super::super::schema::SchemaFields;
use super::super::score::{CollectionSize, LinkStats, Scoring};
use super::super::weights::{Part, Weights};
use super::count::Counts;

/// The lengths of a page's parts, as tantivy rounds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lengths([u8; Part::COUNT]);

impl Lengths {
    pub(super) fn of(words: Counts) -> Self {
        Self(words.map(FieldNormReader::fieldnorm_to_id))
    }
}

/// Everything that the score of a page for a word depends on, except the word's occurrences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ScoreInputs {
    pub(super) lengths: Lengths,
    pub(super) link_stats: LinkStats,
}

/// The index at one commit.
pub(super) struct Survey {
    searcher: Searcher,
    fields: SchemaFields,
    scoring: Scoring,
    /// The columns, by segment.
    columns: Vec<ScoreColumns>,
}

/// A word at one commit.
#[derive(Debug, Clone, Copy)]
pub(super) struct SurveyedWord {
    /// Its weight: the upper bound of what it adds to a score.
    weight: f32,
    /// A summary of the scores of its results, from which ranks are estimated.
    pub(super) list: ScoreRank,
}

/// Buffers that are reused from one word to the next.
#[derive(Default)]
pub(super) struct Scratch {
    /// Weighted occurrences so far, by page of a segment.
    sums: Vec<f32>,
    /// The pages whose sum is not 0.
    pages: Vec<DocId>,
    /// The scores of all results of the last word that was surveyed.
    pub(super) scores: Vec<f32>,
}

impl Survey {
    pub(super) fn new(searcher: Searcher, fields: &SchemaFields) -> Result<Self, TantivyError> {
        let size = CollectionSize::of(&searcher, fields)?;
        let scoring = Scoring::new(&size, &Weights::default());
        let segments = searcher.segment_readers().iter();
        let columns = segments.map(|segment| ScoreColumns::new(segment, Sort::Relevance));
        let columns = columns.collect::<Result<_, _>>()?;
        Ok(Self {
            searcher,
            fields: *fields,
            scoring,
            columns,
        })
    }

    /// Returns the searcher of this commit.
    pub(super) fn searcher(&self) -> &Searcher {
        &self.searcher
    }

    /// Returns the number of pages in the index. Removed pages count until their segment is
    /// merged.
    pub(super) fn pages(&self) -> u64 {
        self.scoring.pages()
    }

    /// Returns the lengths of a page's parts.
    pub(super) fn lengths(&self, place: DocAddress) -> Result<Lengths, TantivyError> {
        let segment = self.searcher.segment_reader(place.segment_ord);
        let mut lengths = Lengths([0; Part::COUNT]);
        for (length, part) in lengths.0.iter_mut().zip(Part::ALL) {
            *length = segment
                .get_fieldnorms_reader(self.fields.part(part))?
                .fieldnorm_id(place.doc_id);
        }
        Ok(lengths)
    }

    /// Returns how often a page has a word in a part.
    pub(super) fn times(
        &self,
        place: DocAddress,
        part: Part,
        word: &str,
    ) -> Result<u32, TantivyError> {
        let segment = self.searcher.segment_reader(place.segment_ord);
        let field = self.fields.part(part);
        let term = Term::from_field_text(field, word);
        let inverted = segment.inverted_index(field)?;
        let Some(mut postings) = inverted.read_postings(&term, IndexRecordOption::WithFreqs)?
        else {
            return Ok(0);
        };
        if postings.doc() < place.doc_id {
            postings.seek(place.doc_id);
        }
        let has = postings.doc() == place.doc_id;
        Ok(if has { postings.term_freq() } else { 0 })
    }

    /// Returns the score of a copy for a word with these occurrences.
    pub(super) fn score(&self, word: &SurveyedWord, times: Counts, form: ScoreInputs) -> f32 {
        let weighted = Part::ALL.into_iter().map(|part| {
            let number = part as usize;
            self.scoring
                .weighted(part, times[number], form.lengths.0[number])
        });
        let weighted: f32 = weighted.sum();
        self.scoring.saturated(word.weight, weighted) * self.scoring.factor(form.link_stats)
    }

    /// Surveys a word by reading its posting lists. Returns it, and the number of postings read.
    pub(super) fn word(
        &self,
        text: &str,
        scratch: &mut Scratch,
    ) -> Result<(SurveyedWord, u64), TantivyError> {
        let mut found = Vec::new();
        let mut having = [0; Part::COUNT];
        for segment in self.searcher.segment_readers() {
            let mut infos = [const { None }; Part::COUNT];
            for (info, part) in infos.iter_mut().zip(Part::ALL) {
                let field = self.fields.part(part);
                let inverted = segment.inverted_index(field)?;
                *info = inverted.get_term_info(&Term::from_field_text(field, text))?;
                having[part as usize] += info.as_ref().map_or(0, |info| u64::from(info.doc_freq));
            }
            found.push(infos);
        }
        let most = having.into_iter().max().unwrap_or_default();
        let mut word = SurveyedWord {
            weight: self.scoring.idf(most),
            list: ScoreRank::EMPTY,
        };
        scratch.scores.clear();
        let segments = self.searcher.segment_readers().iter().zip(&self.columns);
        for ((segment, columns), infos) in segments.zip(&found) {
            self.scores(segment, columns, &word, infos, scratch)?;
        }
        word.list = ScoreRank::of(&mut scratch.scores);
        Ok((word, having.iter().sum()))
    }

    /// Computes the scores of the results in a segment.
    fn scores(
        &self,
        segment: &SegmentReader,
        columns: &ScoreColumns,
        word: &SurveyedWord,
        infos: &[Option<TermInfo>; Part::COUNT],
        scratch: &mut Scratch,
    ) -> Result<(), TantivyError> {
        let Scratch {
            sums,
            pages,
            scores,
        } = scratch;
        sums.resize(sums.len().max(segment.max_doc() as usize), 0.0);
        for (part, info) in Part::ALL.into_iter().zip(infos) {
            let Some(info) = info else { continue };
            let field = self.fields.part(part);
            let inverted = segment.inverted_index(field)?;
            let mut postings =
                inverted.read_postings_from_terminfo(info, IndexRecordOption::WithFreqs)?;
            let lengths = segment.get_fieldnorms_reader(field)?;
            while postings.doc() != TERMINATED {
                let page = postings.doc();
                let sum = &mut sums[page as usize];
                if *sum == 0.0 {
                    pages.push(page);
                }
                *sum +=
                    self.scoring
                        .weighted(part, postings.term_freq(), lengths.fieldnorm_id(page));
                postings.advance();
            }
        }
        for page in pages.drain(..) {
            let weighted = std::mem::take(&mut sums[page as usize]);
            if !segment.is_deleted(page) {
                let score = self.scoring.saturated(word.weight, weighted);
                scores.push(score * self.scoring.factor(columns.link_stats(page)));
            }
        }
        Ok(())
    }
}
