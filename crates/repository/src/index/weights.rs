//! The weights of the ranking function.
//!
//! Chosen on the tuning sites of `docs/science/relevance.md` and reported on the others;
//! `cargo xtask bench relevance --questions FILE` prints what each field contributes.

/// A text of a page that is searched on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// The title.
    Title,
    /// The headings of its sections.
    Headings,
    /// The ids of its sections.
    Ids,
    /// The words of links that lead to it.
    Anchors,
    /// Its URL.
    Url,
    /// Its text, without [`Part::Rest`].
    Body,
    /// Navigation, and lines that most pages of its host have.
    Rest,
}

impl Part {
    /// How many there are.
    pub const COUNT: usize = 7;

    /// All of them, in the order of their numbers.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Title,
        Self::Headings,
        Self::Ids,
        Self::Anchors,
        Self::Url,
        Self::Body,
        Self::Rest,
    ];

    /// The name that people know it by.
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

/// What the ranking function values.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// What one occurrence counts, by [`Part`].
    pub parts: [f32; Part::COUNT],
    /// By part, how much its length counts: BM25's b, 0 to 1.
    pub lengths: [f32; Part::COUNT],
    /// How soon more occurrences add nothing: BM25's k1.
    pub saturation: f32,
    /// What ten times as many pages that link to a page add to its score, as a share.
    pub links: f32,
    /// What a page loses, as a share, that consists of links alone.
    pub hub: f32,
    /// What the words of a compound count beside the compound.
    pub words: f32,
    /// What it counts that a title, a heading, an anchor or the body has all words of the query in this order.
    pub order: f32,
    /// How much a page loses that lacks words: its score is multiplied by the weight of the words it has, as a
    /// share of all, to this power.
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
    /// All of them by name, so that they can be set and tuned: `title`, `title.length`, …, `saturation`, ….
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
