//! The result of reading a page.
//!
//! **Invariant:** the anchor text of a link is a range of the page's text, so nothing is copied
//! per link. A range always lies on character boundaries of its text.

use std::ops::Range;

use super::fields::Fields;
use super::outline::PageSection;
use crate::directives::Directives;
use crate::fingerprint::TextDigest;
use crate::url::{PageId, PageUrl};

/// Limits on what is read from one page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Links kept; further ones are only counted.
    pub links: usize,
    /// Bytes of visible text kept.
    pub text: usize,
    /// Bytes of the title kept.
    pub title: usize,
    /// Bytes of anchor text per link.
    pub anchor: usize,
    /// Distinct tag paths kept.
    pub paths: usize,
    /// Attributes read per tag.
    pub attributes: usize,
    /// Bytes of one attribute value; an attribute with a longer one is skipped.
    pub value: usize,
    /// The parts that are read besides title, text and links.
    pub parts: PageParts,
}

/// Parts of a page that cost time and are not always used. A part that is not read is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageParts {
    /// [`PageReading::sections`], [`PageReading::asides`], [`PageReading::linked`] and
    /// [`Link::aside`].
    pub outline: bool,
    /// [`PageReading::fields`].
    pub fields: bool,
    /// [`PageReading::paths`] and [`Link::path`].
    pub paths: bool,
}

impl PageParts {
    /// All parts.
    pub const ALL: Self = Self {
        outline: true,
        fields: true,
        paths: true,
    };
}

impl Default for ReadLimits {
    /// The limits of hostile-web.md, rows 30 (values), 32 (attributes), 34 (links) and 35
    /// (text). Titles beyond 512 bytes and anchor texts beyond 1,024 are not written for people.
    fn default() -> Self {
        Self {
            links: 10_000,
            text: 1 << 20,
            title: 512,
            anchor: 1_024,
            paths: 256,
            attributes: 256,
            value: 64 << 10,
            parts: PageParts::ALL,
        }
    }
}

/// The result of reading a page.
#[derive(Clone, Debug)]
pub struct PageReading {
    /// The content of `title` with white space collapsed; empty if there is none.
    pub title: String,
    /// The visible text in document order: single spaces, and a line break between blocks. It
    /// excludes the title, scripts, styles, templates, `noscript`, `textarea` and SVG.
    pub text: String,
    /// The sections of the text, in order.
    pub sections: Vec<PageSection>,
    /// The byte ranges of the text that are navigation: menus, breadcrumbs, footers.
    pub asides: Vec<Range<u32>>,
    /// Bytes of anchor text outside of navigation.
    pub linked: u32,
    /// The links to documents, each target once, in order of first occurrence.
    pub links: Vec<Link>,
    /// The distinct tag paths of the links, such as `html/body/nav/ul/li/a`. An empty one stands
    /// for those beyond the limit.
    pub paths: Vec<String>,
    /// The canonical URL that the page names, if it has the same registrable domain. It is only
    /// a hint.
    pub canonical: Option<PageUrl>,
    /// The target of a refresh, which counts as a redirect.
    pub refresh: Option<PageUrl>,
    /// The restrictions for robots.
    pub robots: Directives,
    /// The language that the page claims (`lang` of `html`).
    pub language: Option<String>,
    /// The metadata that the page states about itself.
    pub fields: Fields,
    /// Fingerprint and sketches of the text.
    pub digest: TextDigest,
    /// Number of targets with other schemes: `mailto:`, `javascript:`, `data:` …
    pub not_links: u32,
    /// Number of targets that are not valid URLs.
    pub malformed: u32,
    /// What the limits removed.
    pub cut: Cuts,
}

/// Counts of what the limits removed from a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cuts {
    /// Links beyond the limit. A link to a kept target counts too, unless the collector knows this
    /// spelling of the target. A repeated target counts each time.
    pub links: u32,
    /// Attributes beyond the limit per tag.
    pub attributes: u32,
    /// Attributes whose value is too long.
    pub values: u32,
    /// Whether the text was truncated.
    pub text: bool,
}

/// A link to a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The target.
    pub url: PageUrl,
    /// The id of the target.
    pub id: PageId,
    /// The anchor text, as a byte range of [`PageReading::text`].
    pub anchor: Range<u32>,
    /// The element that makes the link.
    pub kind: LinkKind,
    /// Whether every link to this target has `rel=nofollow`.
    pub nofollow: bool,
    /// The tag path, as an index into [`PageReading::paths`].
    pub path: u32,
    /// Whether the anchor text is part of navigation.
    pub aside: bool,
}

/// The element or relation that makes a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkKind {
    /// `a`.
    Anchor,
    /// `area` of an image map.
    Area,
    /// `frame` or `iframe`.
    Frame,
    /// `link` to a feed of the site.
    Feed,
    /// `link` to the page in another language.
    Alternate,
    /// `link` to the next page of a series.
    Next,
    /// `link` to the previous page of a series.
    Previous,
}

impl PageReading {
    /// Returns the anchor text of a link of this page.
    pub fn anchor(&self, link: &Link) -> &str {
        self.slice(link.anchor.start as usize, link.anchor.end as usize)
    }

    /// Returns the anchor text of a link of this page with up to `words` words on either side.
    pub fn around(&self, link: &Link, words: usize) -> &str {
        let (start, end) = (link.anchor.start as usize, link.anchor.end as usize);
        let before = self.text.get(..start).unwrap_or_default();
        let after = self.text.get(end..).unwrap_or_default();
        let from = before
            .split_whitespace()
            .rev()
            .take(words)
            .last()
            .map_or(start, |word| offset(before, word));
        let to = after
            .split_whitespace()
            .take(words)
            .last()
            .map_or(end, |word| end + offset(after, word) + word.len());
        self.slice(from, to)
    }

    /// Returns the tag path of a link of this page.
    pub fn path(&self, link: &Link) -> &str {
        self.paths
            .get(link.path as usize)
            .map_or("", String::as_str)
    }

    fn slice(&self, start: usize, end: usize) -> &str {
        self.text.get(start..end).unwrap_or_default()
    }
}

/// Returns the offset of `part` in `whole`, of which it must be a slice.
fn offset(whole: &str, part: &str) -> usize {
    part.as_ptr() as usize - whole.as_ptr() as usize
}
