//! What was read off a page.
//!
//! **Invariant:** a link's words are a range of the page's text: nothing is copied per link, and a
//! range always lies on character boundaries of the text it came with.

use std::ops::Range;

use super::fields::Fields;
use super::meta::RobotsMeta;
use super::outline::Section;
use crate::fingerprint::Digest;
use crate::url::{PageId, PageUrl};

/// Bounds on what is read off one page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Links kept; later ones are counted.
    pub links: usize,
    /// Bytes of readable text kept.
    pub text: usize,
    /// Bytes of title kept.
    pub title: usize,
    /// Bytes of a link's words.
    pub anchor: usize,
    /// Distinct tag paths kept.
    pub paths: usize,
    /// Attributes read on one tag.
    pub attributes: usize,
    /// Bytes of one attribute's value; a longer one is skipped.
    pub value: usize,
}

impl Default for Limits {
    /// The hostile list, rows 30 (values), 32 (attributes), 34 (links) and 35 (text). A title beyond
    /// 512 bytes and a link of more than 1,024 are not written for people.
    fn default() -> Self {
        Self {
            links: 10_000,
            text: 1 << 20,
            title: 512,
            anchor: 1_024,
            paths: 256,
            attributes: 256,
            value: 64 << 10,
        }
    }
}

/// What a page says.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The content of `title`, white space folded; empty where there is none.
    pub title: String,
    /// The readable text in order: single spaces, a line break between blocks, without scripts,
    /// styles, templates, `noscript` and drawings.
    pub text: String,
    /// Its sections, in order.
    pub sections: Vec<Section>,
    /// The parts of the text that are navigation: menus, breadcrumbs, footers.
    pub asides: Vec<Range<u32>>,
    /// Bytes of the text that are words of links, navigation left out.
    pub linked: u32,
    /// The documents it links to, each target once, in the order first seen.
    pub links: Vec<Link>,
    /// The distinct tag paths of the links, such as `html/body/nav/ul/li/a`. An empty one stands for
    /// those beyond the limit.
    pub paths: Vec<String>,
    /// The URL that the page names as its own, if of the same registrable domain. A hint.
    pub canonical: Option<PageUrl>,
    /// Where a refresh sends the visitor: to be treated as a redirect.
    pub refresh: Option<PageUrl>,
    /// What the page forbids robots.
    pub robots: RobotsMeta,
    /// The language the page claims (`lang` of `html`).
    pub language: Option<String>,
    /// What the page says of itself to machines.
    pub fields: Fields,
    /// Fingerprint and sketches of the text.
    pub digest: Digest,
    /// Targets that are no documents on the web: `mailto:`, `javascript:`, `data:` …
    pub not_links: u32,
    /// Targets that are not URLs.
    pub malformed: u32,
    /// What the limits cut.
    pub cut: Cuts,
}

/// What the limits cut off a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cuts {
    /// Links beyond the limit, repetitions included.
    pub links: u32,
    /// Attributes too many on a tag.
    pub attributes: u32,
    /// Attributes with a value too long.
    pub values: u32,
    /// Whether the text was longer.
    pub text: bool,
}

/// A link to a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Where it leads.
    pub url: PageUrl,
    /// The id of that URL.
    pub id: PageId,
    /// Its words, as a range of [`Reading::text`].
    pub anchor: Range<u32>,
    /// The element that makes it.
    pub kind: LinkKind,
    /// Whether the page does not vouch for it (`rel=nofollow` wherever it links there).
    pub nofollow: bool,
    /// Its tag path, as an index into [`Reading::paths`].
    pub path: u32,
    /// Whether its words are part of navigation.
    pub aside: bool,
}

/// What makes a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkKind {
    /// `a`.
    Anchor,
    /// `area` of an image map.
    Area,
    /// `frame` or `iframe`.
    Frame,
    /// `link` to a feed of the page's site.
    Feed,
    /// `link` to the page in another language or form.
    Alternate,
    /// `link` to the next page of a series.
    Next,
    /// `link` to the previous page of a series.
    Previous,
}

impl Reading {
    /// The words of a link of this page.
    pub fn anchor(&self, link: &Link) -> &str {
        self.slice(link.anchor.start as usize, link.anchor.end as usize)
    }

    /// The words of a link of this page with up to `words` words on either side.
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

    /// The tag path of a link of this page.
    pub fn path(&self, link: &Link) -> &str {
        self.paths
            .get(link.path as usize)
            .map_or("", String::as_str)
    }

    fn slice(&self, start: usize, end: usize) -> &str {
        self.text.get(start..end).unwrap_or_default()
    }
}

/// Where `part` starts in `whole`, which it is a part of.
fn offset(whole: &str, part: &str) -> usize {
    part.as_ptr() as usize - whole.as_ptr() as usize
}
