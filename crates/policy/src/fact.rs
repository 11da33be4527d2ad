//! What a crawl learns, as its policy is told.
//!
//! **Invariant:** everything here could have been seen by the crawler at that moment. A policy has no
//! other source: what it knows it was told by a [`Fact`], and the same facts in the same order make
//! the same policy. After a stop the facts are told again from the ledger: all discoveries first, then
//! what was read, each in the order in which it happened.

use crate::{History, Moment, Worth};

/// How many pages were discovered before this one. Numbers are dense and stay with their page for
/// ever, so that what a policy knows of pages is an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Number(pub u32);

impl Number {
    /// The place in an array.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A page, as a policy is asked about it.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// Which one.
    pub number: Number,
    /// What its visits told.
    pub history: &'a History,
}

/// Something that the crawl has just learned.
#[derive(Debug, Clone, Copy)]
pub enum Fact<'a> {
    /// A page was heard of for the first time. Comes before any other fact that names the page, and in
    /// the order of numbers, also when an earlier run is recalled.
    Discovered(Discovered<'a>),
    /// A page was asked for and its answer was read. Takes the place of what was read of it before.
    Read(Read<'a>),
    /// A page was visited, or more became known of its last visit. When an earlier run is recalled, all its
    /// visits are told as one, in the order of numbers, after what was read.
    Visited(Visited<'a>),
    /// A page was among the results of searches.
    Shown(Shown),
}

/// A page that was heard of for the first time.
#[derive(Debug, Clone, Copy)]
pub struct Discovered<'a> {
    /// Its number.
    pub page: Number,
    /// Its URL, as text: policies know no URL type. Empty if the policy does not [need](Needs) words.
    pub url: &'a str,
    /// Its host, numbered in the order of discovery.
    pub host: u32,
    /// Links from a seed, along the path it was discovered by.
    pub depth: u16,
    /// Whether a user named it.
    pub seed: bool,
    /// When.
    pub at: Moment,
    /// Where it appeared, if it was new on a page that had been read before.
    pub appeared: Option<Appeared>,
}

/// A page was new on another: it appeared there between two looks, the second of which discovered it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appeared {
    /// The page that named it.
    pub on: Number,
    /// When that page was last read and did not name it.
    pub after: Moment,
}

/// What an answer said.
#[derive(Debug, Clone, Copy)]
pub struct Read<'a> {
    /// The page.
    pub page: Number,
    /// What it says; `Nothing` for a redirect, a 404, a picture.
    pub text: Text<'a>,
    /// Its links to pages that are known, each page once. A redirect is the one link of its page.
    pub links: &'a [Link<'a>],
    /// All pages that it links to, those outside of the crawl included.
    pub out_links: u32,
}

/// What is known of a page, and what was known before. What a policy sums up over pages grows by the
/// difference.
#[derive(Debug, Clone, Copy)]
pub struct Visited<'a> {
    /// The page.
    pub page: Number,
    /// Its visits so far.
    pub before: &'a History,
    /// The same with what is new.
    pub after: &'a History,
}

/// How often searchers met a page since the last such fact.
#[derive(Debug, Clone, Copy)]
pub struct Shown {
    /// The page.
    pub page: Number,
    /// When.
    pub at: Moment,
    /// Expected views: each time that it was a result counts by how likely it was seen at its rank.
    pub views: f64,
    /// Times that it was clicked.
    pub clicks: f64,
}

/// The text of a page, as far as it is at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text<'a> {
    /// There is none.
    Nothing,
    /// The page was just fetched.
    Whole {
        /// Its title.
        title: &'a str,
        /// Its readable text.
        body: &'a str,
        /// What else is known of it.
        about: About<'a>,
    },
    /// The page was fetched in an earlier run, whose index still knows how often it has the words of
    /// the query.
    Counted {
        /// Occurrences in the title.
        in_title: u32,
        /// Occurrences in the body.
        in_body: u32,
        /// Words of the body.
        words: u32,
    },
}

/// What is known of a text beside its words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct About<'a> {
    /// The code of its language, such as `en`, if it can be told.
    pub language: Option<&'a str>,
    /// When it was published, as the page says, in Unix seconds.
    pub date: Option<i64>,
}

/// A link on a page.
#[derive(Debug, Clone, Copy)]
pub struct Link<'a> {
    /// Where to.
    pub to: Number,
    /// Its words.
    pub anchor: &'a str,
    /// Its words and some on either side; empty if the policy does not [need](Needs) places, or nobody knows.
    pub around: &'a str,
    /// The elements that it stands in, such as `html/body/nav/ul/li/a`; empty as above.
    pub path: &'a str,
}

impl<'a> Link<'a> {
    /// A link of which its words are known and not its place.
    pub fn new(to: Number, anchor: &'a str) -> Self {
        Self {
            to,
            anchor,
            around: "",
            path: "",
        }
    }
}

/// What a policy wants to be told; the rest is not looked up for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Needs {
    /// [`Fact::Read`], with all links.
    pub links: bool,
    /// URLs, and the anchors of these links.
    pub words: bool,
    /// What is around these links, and their tag paths.
    pub places: bool,
    /// The texts.
    pub text: bool,
    /// [`Fact::Visited`].
    pub visits: bool,
    /// [`Fact::Shown`].
    pub searches: bool,
}

impl Needs {
    /// What graph orderings need: who links to whom, and no words.
    pub const LINKS: Self = Self {
        links: true,
        words: false,
        places: false,
        text: false,
        visits: false,
        searches: false,
    };

    /// What one of two wants.
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

/// Pages never fetched whose worth a fact has changed, and what they are worth now.
#[derive(Debug, Default)]
pub struct Moves(Vec<(Number, Worth)>);

impl Moves {
    /// Takes note that a page is now worth this.
    pub fn push(&mut self, page: Number, worth: Worth) {
        self.0.push((page, worth));
    }

    /// Takes the moves out, in the order they happened; the last of a page holds.
    pub fn drain(&mut self) -> impl Iterator<Item = (Number, Worth)> {
        self.0.drain(..)
    }

    /// Whether nothing moved.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
