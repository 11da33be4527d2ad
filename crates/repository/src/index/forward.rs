//! A query wrapper that never seeks backwards.
//!
//! **Invariant:** the inner query is asked to seek only to pages after its current position.
//!
//! tantivy 0.27 asks an excluded phrase for pages before its first match. A phrase does not
//! allow this, and a debug assertion fails (its issue 2811 is similar). Remove this wrapper when
//! tantivy is fixed.

use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, SegmentReader, Term};

#[derive(Debug)]
pub(super) struct Forward(pub(super) Box<dyn Query>);

struct ForwardWeight(Box<dyn Weight>);

struct ForwardScorer(Box<dyn Scorer>);

impl Clone for Forward {
    fn clone(&self) -> Self {
        Self(self.0.box_clone())
    }
}

impl Query for Forward {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(ForwardWeight(self.0.weight(scoring)?)))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.0.query_terms(visitor);
    }
}

impl Weight for ForwardWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        Ok(Box::new(ForwardScorer(self.0.scorer(reader, boost)?)))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        self.0.explain(reader, doc)
    }
}

/// `seek_danger` is not forwarded: its default implementation compares before it seeks.
impl DocSet for ForwardScorer {
    fn advance(&mut self) -> DocId {
        self.0.advance()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        self.0.seek(target)
    }

    fn doc(&self) -> DocId {
        self.0.doc()
    }

    fn size_hint(&self) -> u32 {
        self.0.size_hint()
    }
}

impl Scorer for ForwardScorer {
    fn score(&mut self) -> Score {
        self.0.score()
    }
}
