//! What does an answer mean for the page, the index and the frontier?
//!
//! Pure: an answer and what was known before go in; the new record, the links and the change of the
//! index come out. The live crawl, `rebuild` and `import` all pass here.
//!
//! **Invariant:** a page leaves the index ([`Verdict::gone`]) exactly when its copy was to be found and no
//! longer is ([`PageCopy::indexed`]), and only on evidence: see `verdict/evidence.rs`.

mod evidence;
mod read;
#[cfg(test)]
mod tests;

use std::ops::Range;

use frontier::{PageCopy, Visited};
use page::{Digest, PageId, PageUrl, listing};
use policy::{History, Moment, Outcome};

use crate::answer::Answer;

/// Why a page that was fetched has no copy: it fell out of the buffer.
pub const DROPPED: &str = "buffer:dropped";

/// Redirects in a row, at most (hostile-web.md, row 20).
const HOPS: u8 = 10;

/// What is to be found by search.
#[derive(Debug, Clone)]
pub struct Text {
    /// The title, or the URL's last part where there is none.
    pub title: String,
    /// The readable text.
    pub body: String,
    /// The parts of the body that are navigation.
    pub asides: Vec<Range<u32>>,
    /// The sections of the body.
    pub sections: Vec<page::Section>,
    /// Bytes of the body that are words of links, navigation left out.
    pub linked: u32,
    /// What kind of document it is: `html`, `text`, …
    pub kind: &'static str,
    /// The code of its language, if it can be told.
    pub language: Option<String>,
    /// What the page says of itself to machines.
    pub stated: page::Fields,
}

impl Text {
    /// As a policy is told of it.
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
    /// Where to.
    pub url: PageUrl,
    /// Its id.
    pub id: PageId,
    /// Whether it is a redirect, and so no step away from the seed.
    pub redirect: bool,
    /// Whether it leads to a sitemap or a feed, as the page that has it says.
    pub listing: bool,
    /// Its words.
    pub anchor: String,
    /// Whether they are part of navigation.
    pub aside: bool,
    /// Its words and some on either side, if somebody [wants](Asked::places) them.
    pub around: String,
    /// Its tag path, if somebody wants it.
    pub path: String,
}

/// A word of a sitemap or a feed on when a page of its own site changed. A hint, and often wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signal {
    /// The page.
    pub page: PageId,
    /// When it is said to have changed; a date alone is its first second.
    pub modified: Moment,
}

/// What an answer means.
#[derive(Debug)]
pub struct Verdict {
    /// The record to keep; its places in the archive are filled in when it is committed.
    pub visited: Visited,
    /// Whether `visited.copy` is of this answer, and not of an earlier one.
    pub copied: bool,
    /// Whether the body is one that the archive has already, byte for byte.
    pub repeated: bool,
    /// What to follow.
    pub leads: Vec<Lead>,
    /// What to index.
    pub text: Option<Text>,
    /// Whether the page leaves the index.
    pub gone: bool,
    /// Whether there is evidence enough that the page is no more, or is not ours to have: what its last body
    /// said, its links included, no longer counts.
    pub dropped: bool,
    /// What the answer lists, if it is a sitemap or a feed; its entries are among the leads.
    pub listing: Option<listing::Kind>,
    /// What it says of changes.
    pub signals: Vec<Signal>,
    /// Entries of other sites that it had no right to name (hostile-web.md, row 53).
    pub strangers: u32,
    /// Whether the text changed although the server's validators did not: its 304s are not to be trusted
    /// (hostile-web.md, row 68).
    pub lied: bool,
}

impl Verdict {
    /// Takes note of how many pages nobody had heard of were named, if there was a page that could name any.
    pub fn named(&mut self, new: u32) {
        let history = self.visited.history;
        if matches!(history.outcome, Some(Outcome::Changed | Outcome::Unchanged)) {
            self.visited.history = history.named(new);
        }
    }

    /// Makes the page one that is not to be found by search, though its copy is kept; `before` is what was known of it.
    pub fn leave_out(&mut self, before: Option<&Visited>) {
        self.text = None;
        if let Some(copy) = &mut self.visited.copy {
            copy.indexed = false;
        }
        let copy = before.and_then(|before| before.copy.as_ref());
        self.gone = copy.is_some_and(|copy| copy.indexed);
    }

    /// Whether a policy is to be told: a page that is as it was, byte for byte, says nothing new, and
    /// neither does an outage, or a page that may be gone. The same words may come with other links.
    pub fn is_news(&self) -> bool {
        let other_bytes = self.copied && !self.repeated;
        match self.visited.history.outcome {
            Some(Outcome::Changed) => true,
            Some(Outcome::Gone) => self.dropped,
            _ => other_bytes,
        }
    }
}

/// What is known of the page that was asked for.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Its URL.
    pub url: &'a PageUrl,
    /// Redirects in a row that led to it.
    pub hops: u8,
    /// All visits before this one.
    pub history: History,
    /// What the last of them found.
    pub before: Option<&'a Visited>,
    /// When it was asked for.
    pub at: Moment,
    /// What its host answers, with 200, to a URL that cannot exist; `None`: nobody asked, or it answers
    /// with 404 as it should (hostile-web.md, row 65).
    pub missing: Option<&'a Digest>,
    /// Whether somebody wants to know what is around its links, and where these stand.
    pub places: bool,
}

impl<'a> Asked<'a> {
    /// A page whose archived answer is read once more, for its text.
    pub fn again(url: &'a PageUrl) -> Self {
        Self {
            url,
            hops: 0,
            history: History::default(),
            before: None,
            at: Moment::START,
            missing: None,
            places: false,
        }
    }

    /// Judges an answer of which `bytes` came over the wire. `ours` says whether a URL belongs to the
    /// crawl: a page whose canonical form does is found under that one.
    pub fn judge(&self, answer: &Answer, bytes: u64, ours: &dyn Fn(&PageUrl) -> bool) -> Verdict {
        match answer.status {
            200..=203 | 206..=299 if !self.is_half(answer) => self.read(answer, bytes, ours),
            _ => self.settle(answer, bytes, ours),
        }
    }

    fn copy(&self) -> Option<&'a PageCopy> {
        self.before.and_then(|before| before.copy.as_ref())
    }
}

impl Lead {
    /// Where a crawl begins.
    pub fn seed(url: &PageUrl) -> Self {
        Self::to(url.clone())
    }

    /// A sitemap, as a robots.txt or an index names it, or a feed.
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
