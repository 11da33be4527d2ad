//! Facts: everything that a crawl learns and reports to its policy.
//!
//! **Invariant:** a fact contains only what the crawler has observed by the time that it reports
//! the fact. A policy has no other source of information. The same facts in the same order produce
//! the same policy state.
//!
//! After a restart the crawl replays the facts: all discoveries in their order, the last read of
//! each page in the order of the reads, the visits to each page as one fact, and the searches.

use std::collections::VecDeque;

use crate::{History, Moment, Worth};

/// The number of pages that were discovered before this one.
///
/// Numbers are dense and never change, so a policy can keep its data about pages in arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Number(pub u32);

impl Number {
    /// Returns the index of the page in an array.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A page whose worth is requested.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// The page number.
    pub number: Number,
    /// The facts of its visits.
    pub history: &'a History,
}

/// Something that the crawl has just learned.
#[derive(Debug, Clone, Copy)]
pub enum Fact<'a> {
    /// A page was discovered. Comes before any other fact that names the page, and in the order
    /// of page numbers, also in a replay.
    Discovered(Discovered<'a>),
    /// A page was requested and its answer was read. Replaces what was read of it before. A page
    /// with many links may be reported in several such facts, one for each [`Part`] of its links.
    Read(Read<'a>),
    /// A page was visited, or more became known about its last visit. A replay reports all
    /// visits of a page as one such fact, after the reads. The pages then come in the order of
    /// their keys in the ledger.
    Visited(VisitFact<'a>),
    /// A page was among the results of searches.
    Shown(Shown),
}

/// A page at its discovery.
#[derive(Debug, Clone, Copy)]
pub struct Discovered<'a> {
    /// Its number.
    pub page: Number,
    /// Its URL, as text: policies know no URL type. May be empty if the policy does not
    /// [need](Needs) words.
    pub url: &'a str,
    /// The number of its host, an index into arrays with little unused space. It may differ after
    /// a restart.
    pub host: u32,
    /// Number of links from a seed, along the path by which it was discovered.
    pub depth: u16,
    /// Whether the user named it as a seed.
    pub seed: bool,
    /// When it was discovered.
    pub at: Moment,
    /// The source on which it appeared, if it was new on a page that had been read before.
    pub appeared: Option<Appeared>,
}

#[cfg(test)]
impl Discovered<'static> {
    /// Creates the discovery of a page of host 0 of which nothing else is known.
    pub fn bare(page: Number) -> Self {
        Self {
            page,
            url: "",
            host: 0,
            depth: 0,
            seed: false,
            at: Moment::START,
            appeared: None,
        }
    }
}

/// The appearance of a new page on another page, between two visits to that other page. The
/// second visit discovered the new page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appeared {
    /// The page that links to the new page.
    pub on: Number,
    /// When that page was last read without the link.
    pub after: Moment,
}

/// The content of an answer.
#[derive(Debug, Clone, Copy)]
pub struct Read<'a> {
    /// The page.
    pub page: Number,
    /// Its text; `Nothing` for a redirect, a 404 or an image.
    pub text: Text<'a>,
    /// Its links to known pages, each page once, sorted by page number. A redirect counts as
    /// the only link of its page.
    pub links: &'a [LinkFact<'a>],
    /// Number of all pages that it links to, including those outside the crawl.
    pub out_links: u32,
    /// Which of its links to known pages `links` holds.
    pub part: Part,
}

impl<'a> Read<'a> {
    /// Returns the facts that report this read in parts of `size` links.
    pub fn in_parts(self, size: usize) -> impl Iterator<Item = Self> {
        let count = self.links.len();
        let starts = (0..count.max(1)).step_by(size);
        starts.map(move |before| {
            let end = count.min(before + size);
            Self {
                links: &self.links[before..end],
                part: Part {
                    before,
                    after: count - end,
                },
                ..self
            }
        })
    }

    /// Returns the number of its links to known pages, in all parts.
    pub fn known_links(&self) -> usize {
        self.part.before + self.links.len() + self.part.after
    }
}

/// The position of a fact among the facts that report one read.
///
/// The facts of a read follow each other in the order of its links, all with the same text. No
/// other read is reported between them. After the last one, a policy is in the same state as if
/// one fact had reported all links.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Part {
    /// Number of links in the facts before this one.
    pub before: usize,
    /// Number of links in the facts after this one.
    pub after: usize,
}

impl Part {
    /// The only fact of a read.
    pub const WHOLE: Self = Self {
        before: 0,
        after: 0,
    };

    /// Returns whether this is the first fact of the read.
    pub fn is_first(self) -> bool {
        self.before == 0
    }

    /// Returns whether this is the last fact of the read.
    pub fn is_last(self) -> bool {
        self.after == 0
    }
}

/// The history of a page before and after a visit. A policy updates its sums by the difference.
#[derive(Debug, Clone, Copy)]
pub struct VisitFact<'a> {
    /// The page.
    pub page: Number,
    /// The history before the visit.
    pub before: &'a History,
    /// The history after the visit.
    pub after: &'a History,
}

/// The views of a page in search results, and the clicks on it, since the last such fact.
#[derive(Debug, Clone, Copy)]
pub struct Shown {
    /// The page.
    pub page: Number,
    /// When the counts were taken.
    pub at: Moment,
    /// Expected views: each appearance counts as the probability that a user examines a result
    /// at that rank.
    pub views: f64,
    /// Number of clicks on the page.
    pub clicks: f64,
}

/// The text of a page, as far as it is available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text<'a> {
    /// There is no text.
    Nothing,
    /// The page was just fetched, or its copy was read again from the archive after a restart.
    Whole {
        /// Its title.
        title: &'a str,
        /// Its readable text.
        body: &'a str,
        /// Its language and date.
        about: About<'a>,
    },
    /// The page was fetched in an earlier run. The index still knows how often it contains the
    /// words of the query.
    Counted {
        /// Occurrences in the title.
        in_title: u32,
        /// Occurrences in the body.
        in_body: u32,
        /// Number of words in the body.
        words: u32,
    },
}

/// The language and the date of a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct About<'a> {
    /// The code of its language, such as `en`, if it was detected.
    pub language: Option<&'a str>,
    /// The publication date that the page states, in Unix seconds.
    pub date: Option<i64>,
}

/// A link on a page.
#[derive(Debug, Clone, Copy)]
pub struct LinkFact<'a> {
    /// The target.
    pub to: Number,
    /// The anchor text.
    pub anchor: &'a str,
    /// The anchor text and the words next to it; a crawl gives 8 words on either side. Empty if the
    /// policy does not [need](Needs) places, or if they are unknown.
    pub around: &'a str,
    /// The path of enclosing elements, such as `html/body/nav/ul/li/a`. Empty if the policy does
    /// not need places, or if the path is unknown.
    pub path: &'a str,
}

impl<'a> LinkFact<'a> {
    /// Creates a link with known anchor text and unknown place.
    pub fn new(to: Number, anchor: &'a str) -> Self {
        Self {
            to,
            anchor,
            around: "",
            path: "",
        }
    }
}

/// The facts that a policy needs. A crawl may leave out the others; after a restart it does not
/// look them up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Needs {
    /// [`Fact::Read`], with all links.
    pub links: bool,
    /// URLs, and the anchor texts of links.
    pub words: bool,
    /// The words around links, and their element paths.
    pub places: bool,
    /// The texts of pages.
    pub text: bool,
    /// [`Fact::Visited`].
    pub visits: bool,
    /// [`Fact::Shown`].
    pub searches: bool,
}

impl Needs {
    /// Needs of orderings by the link graph: links without words.
    pub const LINKS: Self = Self {
        links: true,
        words: false,
        places: false,
        text: false,
        visits: false,
        searches: false,
    };

    /// Returns the union of both needs.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            links: self.links || other.links,
            words: self.words || other.words,
            places: self.places || other.places,
            text: self.text || other.text,
            visits: self.visits || other.visits,
            searches: self.searches || other.searches,
        }
    }
}

/// Pages that were never fetched and whose worth a fact has changed, with their new worth.
#[derive(Debug, Default)]
pub struct Moves(VecDeque<(Number, Worth)>);

impl Moves {
    /// Records the new worth of a page.
    pub fn push(&mut self, page: Number, worth: Worth) {
        self.0.push_back((page, worth));
    }

    /// Removes and returns the change that was recorded first.
    pub fn pop(&mut self) -> Option<(Number, Worth)> {
        self.0.pop_front()
    }

    /// Removes and returns all changes, in the order in which they were recorded. If a page has
    /// several, the last one holds.
    pub fn drain(&mut self) -> impl Iterator<Item = (Number, Worth)> {
        self.0.drain(..)
    }

    /// Returns whether no worth changed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
