//! Judges an answer: what it means for the page, the index and the frontier.
//!
//! Pure: takes an answer and what was known before; returns the new record, the links and the
//! change of the index. The live crawl, `rebuild` and `import` all judge answers here.
//!
//! **Invariant:** a page leaves the index ([`Verdict::gone`]) exactly when its copy was indexed
//! and no longer is ([`PageCopy::indexed`]), and only on evidence; see `verdict/evidence.rs`.

mod evidence;
mod read;
#[cfg(test)]
mod tests;

use std::ops::Range;

use frontier::{PageCopy, Visited};
use page::{PageId, PageUrl, TextDigest, listing};
use policy::{History, Moment, Outcome};

use crate::answer::Answer;

/// Error code of a fetched page without a copy: it was dropped from the buffer.
pub const DROPPED: &str = "buffer:dropped";

/// Maximum number of consecutive redirects (hostile-web.md, row 20).
const HOPS: u8 = 10;

/// The content of a page for the index.
#[derive(Debug, Clone)]
pub struct IndexText {
    /// The title; empty if there is none.
    pub title: String,
    /// The readable text, if [requested](Details::body).
    pub body: String,
    /// The parts of the body that are navigation, as byte ranges, if [requested](Details::outline).
    pub asides: Vec<Range<u32>>,
    /// The sections of the body, if [requested](Details::outline).
    pub sections: Vec<page::PageSection>,
    /// Bytes of the body that are anchor text, without navigation, if
    /// [requested](Details::outline).
    pub linked: u32,
    /// The kind of page: `html`, `text`, or the format of a document, such as `pdf`.
    pub kind: &'static str,
    /// The code of its language, if it is known and [requested](Details::language).
    pub language: Option<String>,
    /// Structured data of the page, if [requested](Details::stated).
    pub stated: page::Fields,
}

impl IndexText {
    /// Returns the text as a policy observes it.
    pub fn told(&self) -> policy::Text<'_> {
        policy::Text::Whole {
            title: &self.title,
            body: &self.body,
            about: policy::About {
                language: self.language.as_deref(),
                date: self.stated.date(),
            },
        }
    }
}

/// A link to follow.
#[derive(Debug, Clone)]
pub struct Lead {
    /// The target.
    pub url: PageUrl,
    /// The id of the target.
    pub id: PageId,
    /// Whether it is a redirect, a meta refresh or a canonical URL. Its target then has the depth
    /// of the page. The target of any other link is one deeper.
    pub redirect: bool,
    /// Whether it leads to a sitemap or a feed, according to the page.
    pub listing: bool,
    /// Its anchor text.
    pub anchor: String,
    /// Whether the link is part of navigation, if [requested](Details::outline).
    pub aside: bool,
    /// Its anchor text and up to eight words on either side, if [requested](Details::places).
    pub around: String,
    /// Its tag path, if [requested](Details::places).
    pub path: String,
}

/// A hint of a sitemap or feed that a page of its site has changed. It is often wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signal {
    /// The page.
    pub page: PageId,
    /// When the page changed according to the hint. A date without a time means the first second of
    /// that day.
    pub modified: Moment,
}

/// The meaning of an answer.
#[derive(Debug)]
pub struct Verdict {
    /// The record to store. The commit adds its location in the archive.
    pub visited: Visited,
    /// Whether `visited.copy` comes from this answer and not from an earlier one.
    pub copied: bool,
    /// Whether the body equals that of the last copy, byte for byte.
    pub repeated: bool,
    /// The links to follow.
    pub leads: Vec<Lead>,
    /// The text to index. `None`: there is none, or the page must not be indexed.
    pub text: Option<IndexText>,
    /// Whether the page leaves the index.
    pub gone: bool,
    /// Whether there is enough evidence that the page no longer exists, or may not be kept. Its
    /// last content, including its links, no longer counts then.
    pub dropped: bool,
    /// The kind of listing, if the page is a sitemap or a feed. The leads are its entries.
    pub listing: Option<listing::ListingKind>,
    /// The hints of a listing about changes of other pages.
    pub signals: Vec<Signal>,
    /// Number of entries of other sites, which a sitemap may not list (hostile-web.md, row 53).
    pub strangers: u32,
    /// Whether the text changed although the server's validators did not. The server's 304
    /// answers are not trusted then (hostile-web.md, row 68).
    pub lied: bool,
}

impl Verdict {
    /// Stores how many new pages the page named, if its outcome is `Changed` or `Unchanged`.
    pub fn named(&mut self, new: u32) {
        let history = self.visited.history;
        if matches!(history.outcome, Some(Outcome::Changed | Outcome::Unchanged)) {
            self.visited.history = history.named(new);
        }
    }

    /// Excludes the page from the index but keeps its copy; `before` is the previous record.
    pub fn leave_out(&mut self, before: Option<&Visited>) {
        self.text = None;
        if let Some(copy) = &mut self.visited.copy {
            copy.indexed = false;
        }
        let copy = before.and_then(|before| before.copy.as_ref());
        self.gone = copy.is_some_and(|copy| copy.indexed);
    }

    /// Returns whether a policy must observe the page. It need not observe an identical body, an
    /// outage, or a missing page while the evidence is too weak. It must observe other bytes with
    /// the same text, because they may have other links.
    pub fn is_news(&self) -> bool {
        let other_bytes = self.copied && !self.repeated;
        match self.visited.history.outcome {
            Some(Outcome::Changed) => true,
            Some(Outcome::Gone) => self.dropped,
            _ => other_bytes,
        }
    }
}

/// The facts about a requested page by which its answer is judged.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Its URL.
    pub url: &'a PageUrl,
    /// Number of consecutive redirects that led to it.
    pub hops: u8,
    /// Summary of all visits before this one.
    pub history: History,
    /// The result of the last visit. `None`: there was none.
    pub before: Option<&'a Visited>,
    /// When it is requested.
    pub at: Moment,
    /// The text of its host's soft 404 page; `None`: the host was not probed, or answers with
    /// 404 (hostile-web.md, row 65).
    pub missing: Option<&'a TextDigest>,
    /// The details to read.
    pub details: Details,
}

/// Details of a page that are expensive to read and not always used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Details {
    /// [`Lead::around`] and [`Lead::path`], which methods of focused crawling use.
    pub places: bool,
    /// [`IndexText::body`], which the index and policies that read texts use.
    pub body: bool,
    /// [`IndexText::language`], which the index and policies that read texts use.
    pub language: bool,
    /// [`IndexText::stated`], which the index and policies that read texts use.
    pub stated: bool,
    /// Sections and navigation, which the index uses.
    pub outline: bool,
}

impl Details {
    /// What the index uses.
    pub const INDEXED: Self = Self {
        places: false,
        body: true,
        language: true,
        stated: true,
        outline: true,
    };
    /// Nothing but the facts that the ledger stores: a crawl without index, whose policies read no
    /// texts.
    pub const FACTS: Self = Self {
        places: false,
        body: false,
        language: false,
        stated: false,
        outline: false,
    };
    /// Everything.
    pub const ALL: Self = Self {
        places: true,
        ..Self::INDEXED
    };

    /// Returns the parts of an HTML page that must be read for these details.
    fn parts(self) -> page::PageParts {
        page::PageParts {
            outline: self.outline,
            fields: self.stated,
            paths: self.places,
        }
    }
}

impl<'a> Asked<'a> {
    /// Returns the facts for reading an archived answer again, when only its text and links are
    /// needed.
    pub fn again(url: &'a PageUrl) -> Self {
        Self {
            url,
            hops: 0,
            history: History::default(),
            before: None,
            at: Moment::START,
            missing: None,
            details: Details::INDEXED,
        }
    }

    /// Judges an answer. `bytes` is its size as received. `ours` returns whether a URL is in scope.
    /// A page whose canonical URL is another one in scope is not indexed: that URL is a lead.
    pub fn judge(&self, answer: &Answer, bytes: u64, ours: &dyn Fn(&PageUrl) -> bool) -> Verdict {
        match answer.status {
            200..=203 | 206..=299 if !self.is_incomplete(answer) => self.read(answer, bytes, ours),
            _ => self.settle(answer, bytes, ours),
        }
    }

    fn copy(&self) -> Option<&'a PageCopy> {
        self.before.and_then(|before| before.copy.as_ref())
    }
}

impl Lead {
    /// Returns the lead for a seed.
    pub fn seed(url: &PageUrl) -> Self {
        Self::to(url.clone())
    }

    /// Returns the lead for a sitemap that a robots.txt names.
    pub fn listing(url: PageUrl) -> Self {
        Self {
            listing: true,
            ..Self::to(url)
        }
    }

    fn redirect(url: PageUrl) -> Self {
        Self {
            redirect: true,
            ..Self::to(url)
        }
    }

    fn to(url: PageUrl) -> Self {
        Self {
            id: url.id(),
            url,
            redirect: false,
            listing: false,
            anchor: String::new(),
            aside: false,
            around: String::new(),
            path: String::new(),
        }
    }
}
