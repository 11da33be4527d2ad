//! The ranking function: the score of a page for a word.
//!
//! BM25F (Robertson, Zaragoza & Taylor, "Simple BM25 extension to multiple weighted fields",
//! CIKM 2004), with a length normalisation for each field as in Zaragoza et al. (TREC 2004).
//! Occurrences in all parts of a page are weighted and summed before they saturate. So a word in
//! title and body adds less than the sum of two separate scores.
//!
//! **Invariant:** search and the measurement of gains (ΔQ) use these functions and no others.

use serde::{Deserialize, Serialize};
use tantivy::fieldnorm::FieldNormReader;
use tantivy::{Searcher, TantivyError};

use super::schema::SchemaFields;
use super::weights::{Part, Weights};

/// The weight of one occurrence in a part, by the length of the part as tantivy encodes it.
type Norms = [f32; 256];

/// The ranking function for the pages of a collection.
#[derive(Clone)]
pub(super) struct Scoring {
    weights: Weights,
    norms: [Box<Norms>; Part::COUNT],
    /// Number of pages in the collection.
    pages: u64,
}

/// The properties of a page besides its words that affect its score.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct LinkStats {
    /// Number of pages that link to it.
    pub(super) in_links: u32,
    /// Share of its text that is link text, in percent.
    pub(super) link_share: u32,
}

/// The size of a collection of pages. Removed pages count until their segment is merged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CollectionSize {
    /// Number of pages.
    pub(super) pages: u64,
    /// Number of words in each part of all pages.
    pub(super) words: [u64; Part::COUNT],
}

impl CollectionSize {
    /// Returns the size of an index.
    pub(super) fn of(searcher: &Searcher, fields: &SchemaFields) -> Result<Self, TantivyError> {
        let mut size = Self::default();
        for segment in searcher.segment_readers() {
            size.pages += u64::from(segment.max_doc());
            for (part, words) in Part::ALL.into_iter().zip(&mut size.words) {
                *words += segment
                    .inverted_index(fields.part(part))?
                    .total_num_tokens();
            }
        }
        Ok(size)
    }
}

impl Scoring {
    pub(super) fn new(size: &CollectionSize, weights: &Weights) -> Self {
        let mut norms = [(); Part::COUNT].map(|()| Box::new([0.0; 256]));
        for (number, norms) in norms.iter_mut().enumerate() {
            let mean = size.words[number] as f32 / size.pages.max(1) as f32;
            **norms = self::norms(weights.parts[number], weights.lengths[number], mean);
        }
        Self {
            weights: weights.clone(),
            norms,
            pages: size.pages,
        }
    }

    pub(super) fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Returns the number of pages in the index. Removed pages count until their segment is
    /// merged.
    pub(super) fn pages(&self) -> u64 {
        self.pages
    }

    /// Returns the weight of a word: ln(1 + (N − n + ½) / (n + ½)), where n of the N pages have
    /// it.
    pub(super) fn idf(&self, having: u64) -> f32 {
        let others = self.pages.saturating_sub(having) as f32;
        (1.0 + (others + 0.5) / (having as f32 + 0.5)).ln()
    }

    /// Returns the weighted occurrences in a part of this encoded length.
    #[inline]
    pub(super) fn weighted(&self, part: Part, times: u32, length: u8) -> f32 {
        times as f32 * self.norms[part as usize][usize::from(length)]
    }

    /// Returns what a word adds to a score: idf · w / (w + k1), where w are its weighted
    /// occurrences.
    #[inline]
    pub(super) fn saturated(&self, idf: f32, weighted: f32) -> f32 {
        idf * (weighted / (weighted + self.weights.saturation))
    }

    /// Returns the factor of a page's score for its links.
    #[inline]
    pub(super) fn factor(&self, link_stats: LinkStats) -> f32 {
        let share = link_stats.link_share.min(100) as f32 / 100.0;
        let links = 1.0 + self.weights.links * (1.0 + link_stats.in_links as f32).log10();
        links * (1.0 - self.weights.hub * share * share)
    }
}

/// Returns w / (1 − b + b · length / mean length) for each encoded length. Returns w if the part
/// is empty in all pages.
fn norms(weight: f32, b: f32, mean: f32) -> Norms {
    let mut norms = [weight; 256];
    if mean > 0.0 {
        for (id, norm) in (0..=u8::MAX).zip(&mut norms) {
            let length = FieldNormReader::id_to_fieldnorm(id) as f32;
            *norm = weight / (1.0 - b + b * length / mean);
        }
    }
    norms
}
