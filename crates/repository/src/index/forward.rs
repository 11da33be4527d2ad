//! A query whose pages are only ever looked for forwards.
//!
//! **Invariant:** the query inside is asked for a page only if that is beyond where it stands.
//!
//! tantivy 0.27 asks an excluded phrase for pages that lie before its first match, which a phrase
//! does not allow: a debug assertion fails (see its issue 2811 for the like). This goes away with it.

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

/// `seek_danger` is not passed on: its default compares before it seeks.
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
