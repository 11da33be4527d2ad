//! Reads sitemaps and feeds: the pages they name, and when those changed.
//!
//! Accepts sitemaps and sitemap indexes (sitemaps.org 0.9, any namespace), RSS, RDF, Atom and
//! JSON feeds, and plain-text sitemaps with one URL per line, uncompressed or in gzip. One
//! streaming reader handles all XML. A truncated feed therefore still yields the pages before
//! the break, which a parser that builds a tree would lose.
//!
//! **Invariant:** no declared entity is expanded and nothing is fetched: a document type
//! declaration is refused (hostile-web.md, row 50). Time and memory are linear in the body. At most
//! 50 MiB are read and 50,000 entries kept (rows 51 and 52). A listing has no authority over pages
//! of another registrable domain (row 53): a sitemap's entries for them are dropped, and a feed's
//! are plain links without a date.

pub(crate) mod date;
mod fields;
mod json;
mod lines;
#[cfg(test)]
mod tests;
mod xml;

use std::borrow::Cow;
use std::fmt::Write;

use crate::fingerprint::TextDigest;
use crate::media::{self, Media};
use crate::url::PageUrl;
use crate::{charset, coding};

/// Maximum number of entries of one listing, as the sitemap protocol allows per file.
pub const ENTRIES: usize = 50_000;
/// Maximum bytes read, as the sitemap protocol allows per file.
const BYTES: usize = 50 << 20;
/// Bytes of a compressed body that are decoded to check whether it is a listing.
const PROBE_BYTES: usize = 1_024;

/// A parsed sitemap or feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The type of the listing.
    pub kind: ListingKind,
    /// The entries in document order. A URL may occur twice.
    pub entries: Vec<ListingEntry>,
    /// The WebSub hub that announces changes of this listing, if it names one (W3C
    /// Recommendation of 2018, §4).
    pub hub: Option<PageUrl>,
    /// Number of dropped entries for other registrable domains, which a sitemap may not name.
    pub strangers: u32,
    /// Number of entries without a URL that can be fetched.
    pub unusable: u32,
    /// Whether entries or bytes were dropped: those beyond the limits, or the rest of a damaged
    /// gzip body.
    pub cut: bool,
    /// Whether the document is truncated or malformed. `entries` are those before the fault.
    pub broken: bool,
}

/// The type of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ListingKind {
    /// Lists the pages of a site.
    Sitemap,
    /// Lists the sitemaps of a site.
    Index,
    /// Lists new pages, mostly of one site.
    Feed,
}

/// One page in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListingEntry {
    /// The URL of the page.
    pub url: PageUrl,
    /// When the page changed last, as the listing says, in Unix seconds. A date without a time
    /// stands for the first second of its day. `None` if there is no date, if it is implausible,
    /// or if the page belongs to another registrable domain.
    pub modified: Option<i64>,
}

/// Why a body is not a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refused {
    /// It has another format.
    #[error("the body is neither a sitemap nor a feed")]
    Other,
    /// It has a document type declaration, which could define entities.
    #[error("the body has a document type declaration, which is refused")]
    Doctype,
}

/// Reads the body found at `base`, which its server declares as `content_type`. `now` is in Unix
/// seconds.
pub fn read(
    body: &[u8],
    content_type: Option<&str>,
    base: &PageUrl,
    now: i64,
) -> Result<Listing, Refused> {
    let (body, content_type, mut cut) = match unpacked(body)? {
        Some(content) => (content.bytes, None, content.cut.is_some()),
        None => (Cow::Borrowed(body), content_type, false),
    };
    let media = media::kind(content_type, &body);
    if !matches!(
        media,
        Media::Feed | Media::Sitemap | Media::Xml | Media::Text
    ) {
        return Err(Refused::Other);
    }
    cut |= body.len() > BYTES;
    let (text, _) = charset::decode(&body[..body.len().min(BYTES)], content_type);
    let text = text.trim_start();
    let mut listing = match media {
        Media::Text => lines::read(text, base)?,
        _ if text.starts_with('{') => json::read(text, base, now)?,
        _ => xml::read(text, base, now)?,
    };
    listing.cut |= cut;
    Ok(listing)
}

/// Decompresses a gzip body; `None` if the body is not gzip. Content that does not begin like a
/// listing is refused. Many sites store sitemaps compressed and serve the files as they are.
fn unpacked(body: &[u8]) -> Result<Option<coding::Content<'_>>, Refused> {
    if !body.starts_with(b"\x1f\x8b\x08") {
        return Ok(None);
    }
    let unpack = |bytes| {
        let limits = coding::CodingLimits {
            bytes,
            ..coding::CodingLimits::default()
        };
        coding::decode(Cow::Borrowed(body), [b"gzip".as_slice()], limits)
    };
    // Most gzip bodies are not listings and not worth decompressing completely.
    let start = unpack(PROBE_BYTES).bytes;
    let listed = match media::kind(None, &start) {
        Media::Feed | Media::Sitemap | Media::Xml => true,
        Media::Text => start.trim_ascii_start().starts_with(b"http"),
        _ => false,
    };
    if !listed {
        return Err(Refused::Other);
    }
    Ok(Some(unpack(BYTES)))
}

impl Listing {
    /// Returns fingerprints of the set of entries, like those of a page's text.
    ///
    /// Each entry is two words: its URL and its date. The entries are sorted, so that their order
    /// does not count. The fingerprints change when an entry is added, removed or gets another
    /// date.
    pub fn digest(&self) -> TextDigest {
        let mut sorted: Vec<(&str, Option<i64>)> = self
            .entries
            .iter()
            .map(|entry| (entry.url.as_str(), entry.modified))
            .collect();
        sorted.sort_unstable();
        sorted.dedup();
        let mut text = String::new();
        for (url, modified) in sorted {
            // Writing to memory cannot fail.
            let _ = writeln!(text, "{url} {}", modified.unwrap_or_default());
        }
        TextDigest::of(&text)
    }

    fn new(kind: ListingKind) -> Self {
        Self {
            kind,
            entries: Vec::new(),
            hub: None,
            strangers: 0,
            unusable: 0,
            cut: false,
            broken: false,
        }
    }

    fn is_full(&self) -> bool {
        self.entries.len() >= ENTRIES
    }

    /// Adds an entry of the listing at `base`, or counts why it is dropped.
    fn add(&mut self, base: &PageUrl, url: Option<PageUrl>, modified: Option<i64>) {
        let Some(url) = url else {
            self.unusable = self.unusable.saturating_add(1);
            return;
        };
        let ours = url.registrable_domain() == base.registrable_domain();
        if !ours && self.kind != ListingKind::Feed {
            self.strangers = self.strangers.saturating_add(1);
        } else if self.is_full() {
            self.cut = true;
        } else {
            self.entries.push(ListingEntry {
                modified: modified.filter(|_| ours),
                url,
            });
        }
    }
}
