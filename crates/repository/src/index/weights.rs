//! The weights of the ranking function.
//!
//! They were chosen on the tuning sites of `docs/science/relevance.md`; results are reported on
//! other sites. `cargo xtask bench relevance --questions FILE` prints what each field adds.

use serde::{Deserialize, Serialize};

/// A text of a page that is searched as a field of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// The title.
    Title,
    /// The headings of its sections.
    Headings,
    /// The ids of its sections.
    Ids,
    /// The anchor texts of links to it.
    Anchors,
    /// Its URL.
    Url,
    /// Its text, without [`Part::Rest`].
    Body,
    /// Navigation, and lines that most pages of its host have.
    Rest,
}

impl Part {
    /// Number of parts.
    pub const COUNT: usize = 7;

    /// All parts, in the order of their numbers.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Title,
        Self::Headings,
        Self::Ids,
        Self::Anchors,
        Self::Url,
        Self::Body,
        Self::Rest,
    ];

    /// Returns the name that users see.
    pub fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Headings => "headings",
            Self::Ids => "ids",
            Self::Anchors => "anchors",
            Self::Url => "url",
            Self::Body => "body",
            Self::Rest => "rest",
        }
    }
}

/// The parameters of the ranking function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    /// Weight of one occurrence, by [`Part`].
    pub parts: [f32; Part::COUNT],
    /// Strength of the length normalisation, by part: BM25's b, 0 to 1.
    pub lengths: [f32; Part::COUNT],
    /// Saturation of occurrences: BM25's k1.
    pub saturation: f32,
    /// Weight of links: a score is multiplied by 1 + `links` · log10(1 + number of pages that link
    /// to the page).
    pub links: f32,
    /// Relative loss in score of a page that consists only of links. The loss of other pages is
    /// proportional to the square of their share of link text.
    pub hub: f32,
    /// Weight of the single words of a compound relative to the compound.
    pub words: f32,
    /// Weight of the whole query as a phrase in a title, a heading, an anchor or the body,
    /// relative to the sum of the weights of its clauses.
    pub order: f32,
    /// Exponent of the penalty for missing words: the score is multiplied by (weight of the
    /// words that a page has / weight of all words) to this power.
    pub missing: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            parts: [4.0, 8.0, 4.0, 8.0, 2.0, 0.6, 0.1],
            lengths: [0.3, 0.25, 0.25, 0.5, 0.3, 0.6, 0.5],
            saturation: 1.5,
            links: 0.05,
            hub: 0.8,
            words: 0.3,
            order: 1.0,
            missing: 2.0,
        }
    }
}

impl Weights {
    /// Returns all weights by name, for tuning: `title`, `title.length`, …, `saturation`, ….
    pub fn named(&mut self) -> Vec<(String, &mut f32)> {
        let mut named = Vec::new();
        for (part, weight) in Part::ALL.into_iter().zip(&mut self.parts) {
            named.push((part.name().to_owned(), weight));
        }
        for (part, length) in Part::ALL.into_iter().zip(&mut self.lengths) {
            named.push((format!("{}.length", part.name()), length));
        }
        let others = [
            ("saturation", &mut self.saturation),
            ("links", &mut self.links),
            ("hub", &mut self.hub),
            ("words", &mut self.words),
            ("order", &mut self.order),
            ("missing", &mut self.missing),
        ];
        named.extend(others.map(|(name, weight)| (name.to_owned(), weight)));
        named
    }
}
