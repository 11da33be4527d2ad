//! What does the index say of a word: its weight, and the scores of its results?
//!
//! **Invariant:** a page scores here what a search for the single word gives it, by the statistics of the commit at
//! which the word was looked at; a test compares the two. Weight and list of a word are of the same
//! commit, so that a rank is never read from scores of another scale.
//!
//! BM25 as tantivy 0.27 computes it (k1 = 1.2, b = 0.75), its statistics included: they count pages that were
//! removed until their segment is merged.

use policy::quality::ScoreRank;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings, TermInfo};
use tantivy::schema::{Field, IndexRecordOption, Term};
use tantivy::{DocAddress, DocId, DocSet, Searcher, SegmentReader, TERMINATED, TantivyError};

use super::super::schema::Fields;
use super::super::search::places;

const K1: f32 = 1.2;
const B: f32 = 0.75;

/// The lengths of title, text and URL, as tantivy rounds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lengths([u8; 3]);

impl Lengths {
    pub(super) fn of(words: [u32; 3]) -> Self {
        Self(words.map(FieldNormReader::fieldnorm_to_id))
    }
}

/// What the length of a field does to a score, by the length as the index keeps it.
type Norms = [f32; 256];

/// The pages as a whole, at one commit.
pub(super) struct Survey {
    searcher: Searcher,
    /// Title, text and URL, and what a word is worth there.
    fields: [(Field, f32); 3],
    norms: [Box<Norms>; 3],
    pages: u64,
}

/// A word at one commit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    /// What it is worth in title, text and URL, at most.
    weights: [f32; 3],
    /// Its results.
    pub(super) list: ScoreRank,
}

/// Room to work in, kept from one word to the next.
#[derive(Default)]
pub(super) struct Scratch {
    /// By page of a segment, its score so far.
    sums: Vec<f32>,
    /// The pages whose score is not zero.
    pages: Vec<DocId>,
    /// The scores of all results, after a word was looked at.
    pub(super) scores: Vec<f32>,
}

impl Survey {
    pub(super) fn new(searcher: Searcher, fields: &Fields) -> Result<Self, TantivyError> {
        let fields = places(fields);
        let pages: u64 = searcher
            .segment_readers()
            .iter()
            .map(|segment| u64::from(segment.max_doc()))
            .sum();
        let mut norms = [(); 3].map(|()| Box::new([0.0; 256]));
        for ((field, _), norms) in fields.iter().zip(&mut norms) {
            let mut words = 0;
            for segment in searcher.segment_readers() {
                words += segment.inverted_index(*field)?.total_num_tokens();
            }
            **norms = self::norms(words as f32 / pages as f32);
        }
        Ok(Self {
            searcher,
            fields,
            norms,
            pages,
        })
    }

    /// The pages it covers.
    pub(super) fn searcher(&self) -> &Searcher {
        &self.searcher
    }

    /// Pages of the index, those removed but not merged away included.
    pub(super) fn pages(&self) -> u64 {
        self.pages
    }

    /// The lengths of a page.
    pub(super) fn lengths(&self, place: DocAddress) -> Result<Lengths, TantivyError> {
        let segment = self.searcher.segment_reader(place.segment_ord);
        let mut lengths = Lengths([0; 3]);
        for (length, (field, _)) in lengths.0.iter_mut().zip(self.fields) {
            *length = segment
                .get_fieldnorms_reader(field)?
                .fieldnorm_id(place.doc_id);
        }
        Ok(lengths)
    }

    /// How often a page has a word in its text.
    pub(super) fn times(&self, place: DocAddress, word: &str) -> Result<u64, TantivyError> {
        let segment = self.searcher.segment_reader(place.segment_ord);
        let (body, _) = self.fields[1];
        let term = Term::from_field_text(body, word);
        let inverted = segment.inverted_index(body)?;
        let Some(mut postings) = inverted.read_postings(&term, IndexRecordOption::WithFreqs)?
        else {
            return Ok(0);
        };
        if postings.doc() < place.doc_id {
            postings.seek(place.doc_id);
        }
        let has = postings.doc() == place.doc_id;
        Ok(if has { postings.term_freq().into() } else { 0 })
    }

    /// What a copy scores for a word that it has so often in title, text and URL.
    pub(super) fn score(&self, word: &Word, times: [u32; 3], lengths: Lengths) -> f32 {
        let mut score = 0.0;
        for field in 0..3 {
            if times[field] > 0 {
                let times = times[field] as f32;
                let norm = self.norms[field][usize::from(lengths.0[field])];
                score += word.weights[field] * (times / (times + norm));
            }
        }
        score
    }

    /// Looks at a word: reads its postings. Returns it, and how many they are.
    pub(super) fn word(
        &self,
        text: &str,
        scratch: &mut Scratch,
    ) -> Result<(Word, u64), TantivyError> {
        let mut found = Vec::new();
        let mut having = [0; 3];
        for segment in self.searcher.segment_readers() {
            let mut infos = [const { None }; 3];
            for (field, info) in infos.iter_mut().enumerate() {
                let inverted = segment.inverted_index(self.fields[field].0)?;
                let term = Term::from_field_text(self.fields[field].0, text);
                *info = inverted.get_term_info(&term)?;
                having[field] += info.as_ref().map_or(0, |info| u64::from(info.doc_freq));
            }
            found.push(infos);
        }
        let mut word = Word {
            weights: [0.0; 3],
            list: ScoreRank::EMPTY,
        };
        for ((weight, having), (_, boost)) in word.weights.iter_mut().zip(having).zip(self.fields) {
            *weight = idf(having, self.pages) * (1.0 + K1) * boost;
        }
        scratch.scores.clear();
        for (segment, infos) in self.searcher.segment_readers().iter().zip(&found) {
            self.scores(segment, &word, infos, scratch)?;
        }
        word.list = ScoreRank::of(&mut scratch.scores);
        Ok((word, having.iter().sum()))
    }

    /// The scores of the results in a segment.
    fn scores(
        &self,
        segment: &SegmentReader,
        word: &Word,
        infos: &[Option<TermInfo>; 3],
        scratch: &mut Scratch,
    ) -> Result<(), TantivyError> {
        let Scratch {
            sums,
            pages,
            scores,
        } = scratch;
        sums.resize(sums.len().max(segment.max_doc() as usize), 0.0);
        for (field, info) in infos.iter().enumerate() {
            let Some(info) = info else { continue };
            let inverted = segment.inverted_index(self.fields[field].0)?;
            let mut postings =
                inverted.read_postings_from_terminfo(info, IndexRecordOption::WithFreqs)?;
            let lengths = segment.get_fieldnorms_reader(self.fields[field].0)?;
            let (weight, norms) = (word.weights[field], &self.norms[field]);
            while postings.doc() != TERMINATED {
                let page = postings.doc();
                let norm = norms[usize::from(lengths.fieldnorm_id(page))];
                let times = postings.term_freq() as f32;
                let sum = &mut sums[page as usize];
                if *sum == 0.0 {
                    pages.push(page);
                }
                *sum += weight * (times / (times + norm));
                postings.advance();
            }
        }
        for page in pages.drain(..) {
            let score = std::mem::take(&mut sums[page as usize]);
            if !segment.is_deleted(page) {
                scores.push(score);
            }
        }
        Ok(())
    }
}

/// The weight of a word that so many of all pages have: ln(1 + (N − n + ½) / (n + ½)).
fn idf(having: u64, all: u64) -> f32 {
    let others = all.saturating_sub(having) as f32;
    (1.0 + (others + 0.5) / (having as f32 + 0.5)).ln()
}

/// k1 · (1 − b + b · length / mean length). In an index without words every length is the mean.
fn norms(mean: f32) -> Norms {
    let mut norms = [K1; 256];
    if mean > 0.0 {
        for (id, norm) in (0..=u8::MAX).zip(&mut norms) {
            let length = FieldNormReader::id_to_fieldnorm(id) as f32;
            *norm = K1 * (1.0 - B + B * length / mean);
        }
    }
    norms
}
