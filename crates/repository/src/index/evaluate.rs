//! Runs a query plan: scores every page that has a term, and keeps the best pages.
//!
//! **Invariant:** a search needs memory for the pages it returns and for one window of pages,
//! whatever the size of the index.
//!
//! BM25F saturates the sum over all parts of a page. So all occurrences of a term in a page must
//! be added before the page can be scored. Pages are processed in windows of [`WINDOW`] document
//! numbers. Within a window, the posting lists of one term after the other are added up in an
//! array, which is faster than merging them with a heap.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tantivy::columnar::ColumnValues;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{EnableScoring, Scorer, Weight};
use tantivy::schema::{IndexRecordOption, Term as Key};
use tantivy::{
    DocAddress, DocId, DocSet, Searcher, SegmentOrdinal, SegmentReader, TERMINATED, TantivyError,
};

use super::phrase::PhrasePostings;
use super::plan::{ClauseNeed, Lookup, QueryPlan};
use super::schema::SchemaFields;
use super::score::{LinkStats, Scoring};
use super::weights::Part;

/// Document numbers per window. Its arrays take 68 KiB, which fit into the L2 cache of one core.
const WINDOW: usize = 4096;

/// Share of a clause's weight that a page gets if it has all single words of the clause, but not
/// the clause as it was typed.
const NEAR: f32 = 0.7;

/// A page that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RankedPage {
    /// How much of the query it has.
    pub(super) complete: Completeness,
    /// What results are sorted by: the score, or a time in Unix seconds.
    pub(super) key: f64,
    pub(super) score: f32,
    /// The factor from click evidence that is part of the score.
    pub(super) chosen: f32,
    pub(super) address: DocAddress,
    /// Bit *i* is set if the page has term *i* of the plan.
    pub(super) terms: u64,
}

/// How much of a query a page has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Completeness {
    /// Only some of it.
    Partial,
    /// All of it, but of some clauses only the single words.
    Near,
    /// All of it.
    Exact,
}

impl Eq for RankedPage {}

impl PartialOrd for RankedPage {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Better pages are greater. Of pages with equal keys, the one with the lower address in the index
/// is better.
impl Ord for RankedPage {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_key = self.key.total_cmp(&other.key);
        by_key.then(other.address.cmp(&self.address))
    }
}

/// The order of results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sort {
    /// By score, highest first.
    #[default]
    Relevance,
    /// By the date that the page states (of publication, or else of change), or else by the time
    /// of fetch; newest first.
    Newest,
}

/// The result of a run.
#[derive(Debug, Default)]
pub(super) struct PlanOutcome {
    pub(super) counts: MatchCounts,
    /// The best pages: exact ones first, then near ones, then partial ones, each best first.
    pub(super) best: Vec<RankedPage>,
}

/// Number of pages that have some of a query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MatchCounts {
    /// Pages that have all of it, exactly or nearly.
    pub(super) complete: usize,
    /// Pages that have only some of it.
    pub(super) partial: usize,
}

impl MatchCounts {
    /// Returns the number of pages that count as matches. Pages with only some of the query count
    /// if no page has all; `true` says that this is so.
    pub(super) fn total(self) -> (usize, bool) {
        match self.complete {
            0 => (self.partial, self.partial > 0),
            complete => (complete, false),
        }
    }
}

/// A run of a plan over all pages.
pub(super) struct PlanRun<'a> {
    pub(super) searcher: &'a Searcher,
    pub(super) fields: &'a SchemaFields,
    pub(super) scoring: &'a Scoring,
    pub(super) plan: &'a QueryPlan,
    pub(super) sort: Sort,
    /// The factors from click evidence, for the scores of some pages.
    pub(super) chosen: &'a [(DocAddress, f32)],
    /// Number of pages to keep.
    pub(super) keep: usize,
}

impl PlanRun<'_> {
    /// Runs the plan. `counted` is called for every page that is exactly or nearly complete.
    pub(super) fn run(
        &self,
        counted: &mut dyn FnMut(SegmentOrdinal, DocId),
    ) -> Result<PlanOutcome, TantivyError> {
        let weight = |condition: &dyn tantivy::query::Query| {
            condition.weight(EnableScoring::disabled_from_searcher(self.searcher))
        };
        let condition = self.plan.condition.as_deref().map(weight).transpose()?;
        let unwanted = self
            .plan
            .unwanted
            .iter()
            .map(|condition| weight(&**condition));
        let unwanted: Vec<Box<dyn Weight>> = unwanted.collect::<Result<_, _>>()?;
        let mut best = BestPages::new(self.keep);
        let mut window = ScoreWindow::new();
        for (number, segment) in (0..).zip(self.searcher.segment_readers()) {
            let conditions = Conditions {
                wanted: condition
                    .as_ref()
                    .map(|weight| weight.scorer(segment, 1.0))
                    .transpose()?,
                unwanted: unwanted
                    .iter()
                    .map(|weight| weight.scorer(segment, 1.0))
                    .collect::<Result<_, _>>()?,
            };
            let columns = ScoreColumns::new(segment, self.sort)?;
            let terms = self.cursors(segment)?;
            let pages = SegmentPages {
                number,
                segment,
                columns,
                conditions,
                terms,
            };
            self.segment(pages, &mut window, &mut best, counted);
        }
        Ok(best.finish())
    }

    /// Returns the posting lists of all terms in a segment, by term.
    fn cursors(&self, segment: &SegmentReader) -> Result<Vec<Vec<TermCursor>>, TantivyError> {
        let mut terms = Vec::with_capacity(self.plan.terms.len());
        for term in &self.plan.terms {
            let mut cursors = Vec::new();
            for (lookup, weight) in &term.lookups {
                for &part in term.parts {
                    if self.scoring.weights().parts[part as usize] <= 0.0 {
                        continue;
                    }
                    let field = self.fields.part(part);
                    let postings = match lookup {
                        Lookup::Word(word) => segment
                            .inverted_index(field)?
                            .read_postings(
                                &Key::from_field_text(field, word),
                                IndexRecordOption::WithFreqs,
                            )?
                            .map(PostingList::Word),
                        Lookup::Phrase(_) if part == Part::Rest => None,
                        Lookup::Phrase(words) => {
                            PhrasePostings::new(segment, field, words)?.map(PostingList::Phrase)
                        }
                    };
                    let Some(postings) = postings else { continue };
                    cursors.push(TermCursor {
                        postings,
                        part,
                        weight: *weight,
                        lengths: segment.get_fieldnorms_reader(field)?,
                    });
                }
            }
            terms.push(cursors);
        }
        Ok(terms)
    }

    fn segment(
        &self,
        mut pages: SegmentPages<'_>,
        window: &mut ScoreWindow,
        best: &mut BestPages,
        counted: &mut dyn FnMut(SegmentOrdinal, DocId),
    ) {
        while let Some(start) = pages.next(self.plan.terms.is_empty()) {
            window.start = start;
            pages.conditions.mark(window);
            for (bit, cursors) in pages.terms.iter_mut().enumerate() {
                for cursor in cursors {
                    cursor.add_to(window, self.scoring);
                }
                window.settle(1 << bit, self.plan.terms[bit].weight, self.scoring);
            }
            if self.plan.terms.is_empty() {
                window.take_all(pages.segment.max_doc());
            }
            window.drain(|doc, score, terms| {
                if pages.segment.is_deleted(doc) {
                    return;
                }
                let (complete, share) = completeness(&self.plan.needs, terms);
                let factor = self.scoring.factor(pages.columns.link_stats(doc));
                let address = DocAddress::new(pages.number, doc);
                let chosen = self.chosen.iter().find(|(other, _)| *other == address);
                let chosen = chosen.map_or(1.0, |(_, factor)| *factor);
                let missing = share.powf(self.scoring.weights().missing);
                let score = score * factor * missing * chosen;
                if complete > Completeness::Partial {
                    counted(pages.number, doc);
                }
                best.offer(RankedPage {
                    complete,
                    key: pages
                        .columns
                        .time(doc)
                        .map_or(f64::from(score), |time| time as f64),
                    score,
                    chosen,
                    address,
                    terms,
                });
            });
        }
    }
}

/// Returns how much of a query a page with these terms has: the completeness, and the share by
/// weight.
fn completeness(needs: &[ClauseNeed], terms: u64) -> (Completeness, f32) {
    let (mut complete, mut had, mut all) = (Completeness::Exact, 0.0, 0.0);
    for need in needs {
        all += need.weight;
        if terms & need.exact != 0 {
            had += need.weight;
            continue;
        }
        let near = (terms & need.near).count_ones() as f32 / need.near.count_ones().max(1) as f32;
        had += NEAR * near * need.weight;
        let all_near = need.near != 0 && terms & need.near == need.near;
        let this = if all_near {
            Completeness::Near
        } else {
            Completeness::Partial
        };
        complete = complete.min(this);
    }
    (complete, if all > 0.0 { had / all } else { 1.0 })
}

/// The posting lists and columns of a segment, with their read positions.
struct SegmentPages<'a> {
    number: SegmentOrdinal,
    segment: &'a SegmentReader,
    columns: ScoreColumns,
    conditions: Conditions,
    terms: Vec<Vec<TermCursor>>,
}

impl SegmentPages<'_> {
    /// Returns the first page of the next window. Each earlier page was visited, has no term or
    /// does not meet the condition. In a plan without terms, only the condition counts. Returns
    /// `None` at the end, and for a plan without terms and without a condition.
    fn next(&mut self, no_terms: bool) -> Option<DocId> {
        let wanted = self.conditions.wanted.as_ref().map(|wanted| wanted.doc());
        if no_terms {
            return wanted.filter(|&doc| doc != TERMINATED);
        }
        let cursors = self.terms.iter().flatten();
        let first = cursors.map(|cursor| cursor.postings.doc()).min()?;
        let start = first.max(wanted.unwrap_or(0));
        (start != TERMINATED).then_some(start)
    }
}

/// The posting list of a term in one part.
struct TermCursor {
    postings: PostingList,
    part: Part,
    weight: f32,
    lengths: FieldNormReader,
}

enum PostingList {
    Word(SegmentPostings),
    Phrase(PhrasePostings),
}

impl PostingList {
    fn doc(&self) -> DocId {
        match self {
            Self::Word(postings) => postings.doc(),
            Self::Phrase(postings) => postings.doc(),
        }
    }
}

impl TermCursor {
    /// Adds the occurrences of the term in the pages of a window.
    fn add_to(&mut self, window: &mut ScoreWindow, scoring: &Scoring) {
        let (start, end) = (window.start, window.end());
        let (part, weight, lengths) = (self.part, self.weight, &self.lengths);
        let mut add = |doc: DocId, times: u32| {
            let counts = scoring.weighted(part, times, lengths.fieldnorm_id(doc));
            window.add(doc, weight * counts);
        };
        match &mut self.postings {
            PostingList::Word(postings) => {
                if postings.doc() < start {
                    postings.seek(start);
                }
                while postings.doc() < end {
                    add(postings.doc(), postings.term_freq());
                    postings.advance();
                }
            }
            PostingList::Phrase(postings) => {
                postings.seek(start);
                while postings.doc() < end {
                    add(postings.doc(), postings.times());
                    postings.advance();
                }
            }
        }
    }
}

/// Conditions on the pages of a segment.
struct Conditions {
    wanted: Option<Box<dyn Scorer>>,
    unwanted: Vec<Box<dyn Scorer>>,
}

impl Conditions {
    /// Marks the pages of a window that may be shown.
    fn mark(&mut self, window: &mut ScoreWindow) {
        let (start, end) = (window.start, window.end());
        window.allowed.fill(self.wanted.is_none());
        if let Some(wanted) = &mut self.wanted {
            visit(wanted, start, end, |at| window.allowed[at] = true);
        }
        for unwanted in &mut self.unwanted {
            visit(unwanted, start, end, |at| window.allowed[at] = false);
        }
    }
}

/// Visits the pages of a window, by their index in it.
fn visit(pages: &mut Box<dyn Scorer>, start: DocId, end: DocId, mut visit: impl FnMut(usize)) {
    if pages.doc() < start {
        pages.seek(start);
    }
    while pages.doc() < end {
        visit((pages.doc() - start) as usize);
        pages.advance();
    }
}

/// A range of neighbouring pages while their scores are added up.
struct ScoreWindow {
    start: DocId,
    /// Whether a page may be shown.
    allowed: Box<[bool; WINDOW]>,
    /// Weighted occurrences of the current term.
    weighted: Box<[f32; WINDOW]>,
    /// The pages that have the current term.
    having: Vec<u16>,
    scores: Box<[f32; WINDOW]>,
    terms: Box<[u64; WINDOW]>,
    /// The pages that have any term; if the plan has no terms, all pages that may be shown.
    found: Vec<u16>,
}

impl ScoreWindow {
    fn new() -> Self {
        Self {
            start: 0,
            allowed: Box::new([true; WINDOW]),
            weighted: Box::new([0.0; WINDOW]),
            having: Vec::new(),
            scores: Box::new([0.0; WINDOW]),
            terms: Box::new([0; WINDOW]),
            found: Vec::new(),
        }
    }

    /// Returns the first page after the window.
    fn end(&self) -> DocId {
        self.start.saturating_add(WINDOW as DocId).min(TERMINATED)
    }

    #[inline]
    fn add(&mut self, doc: DocId, weighted: f32) {
        let at = (doc - self.start) as usize;
        if !self.allowed[at] {
            return;
        }
        if self.weighted[at] == 0.0 {
            self.having.push(at as u16);
        }
        self.weighted[at] += weighted;
    }

    /// Turns the occurrences of a term into scores.
    fn settle(&mut self, term: u64, weight: f32, scoring: &Scoring) {
        for at in self.having.drain(..) {
            let place = usize::from(at);
            let weighted = std::mem::take(&mut self.weighted[place]);
            if self.terms[place] == 0 {
                self.found.push(at);
            }
            self.terms[place] |= term;
            self.scores[place] += scoring.saturated(weight, weighted);
        }
    }

    /// Takes every page that may be shown, for a query that has only conditions.
    fn take_all(&mut self, pages: DocId) {
        let inside = pages.saturating_sub(self.start).min(WINDOW as u32) as u16;
        let allowed = (0..inside).filter(|&at| self.allowed[usize::from(at)]);
        self.found.extend(allowed);
        for &at in &self.found {
            self.scores[usize::from(at)] = 1.0;
        }
    }

    /// Removes the pages that were found, and visits the number, score and terms of each.
    fn drain(&mut self, mut visit: impl FnMut(DocId, f32, u64)) {
        for at in self.found.drain(..) {
            let place = usize::from(at);
            let score = std::mem::take(&mut self.scores[place]);
            let terms = std::mem::take(&mut self.terms[place]);
            visit(self.start + DocId::from(at), score, terms);
        }
    }
}

/// The columns of a segment that scoring and sorting need.
pub(super) struct ScoreColumns {
    in_links: Arc<dyn ColumnValues<u64>>,
    link_share: Arc<dyn ColumnValues<u64>>,
    /// The date that the page states and the time of fetch, if pages are sorted by time.
    times: Option<[Arc<dyn ColumnValues<i64>>; 2]>,
}

impl ScoreColumns {
    pub(super) fn new(segment: &SegmentReader, sort: Sort) -> Result<Self, TantivyError> {
        let columns = segment.fast_fields();
        let times = match sort {
            Sort::Relevance => None,
            Sort::Newest => Some([
                columns.i64("date")?.first_or_default_col(i64::MIN),
                columns.i64("fetched_at")?.first_or_default_col(i64::MIN),
            ]),
        };
        Ok(Self {
            in_links: columns.u64("in_links")?.first_or_default_col(0),
            link_share: columns.u64("link_share")?.first_or_default_col(0),
            times,
        })
    }

    #[inline]
    pub(super) fn link_stats(&self, doc: DocId) -> LinkStats {
        LinkStats {
            in_links: self.in_links.get_val(doc) as u32,
            link_share: self.link_share.get_val(doc) as u32,
        }
    }

    fn time(&self, doc: DocId) -> Option<i64> {
        let [published, fetched] = self.times.as_ref()?;
        let published = published.get_val(doc);
        Some(if published == i64::MIN {
            fetched.get_val(doc)
        } else {
            published
        })
    }
}

/// The best pages so far, by completeness.
struct BestPages {
    keep: usize,
    heaps: [BinaryHeap<Reverse<RankedPage>>; 3],
    counts: [usize; 3],
}

impl BestPages {
    fn new(keep: usize) -> Self {
        Self {
            keep,
            heaps: Default::default(),
            counts: [0; 3],
        }
    }

    fn offer(&mut self, candidate: RankedPage) {
        let number = candidate.complete as usize;
        self.counts[number] += 1;
        let heap = &mut self.heaps[number];
        if heap.len() < self.keep {
            heap.push(Reverse(candidate));
        } else if let Some(mut worst) = heap.peek_mut()
            && candidate > worst.0
        {
            *worst = Reverse(candidate);
        }
    }

    fn finish(self) -> PlanOutcome {
        let [partial, near, exact] = self.counts;
        let heaps = self.heaps.into_iter().rev();
        let best = heaps
            .flat_map(|heap| heap.into_sorted_vec())
            .map(|Reverse(candidate)| candidate);
        PlanOutcome {
            counts: MatchCounts {
                complete: exact + near,
                partial,
            },
            best: best.take(self.keep).collect(),
        }
    }
}
