//! Which pages does this sitemap or feed name, and when does it say that they changed?
//!
//! Sitemaps and their indexes (sitemaps.org 0.9, any namespace), RSS, RDF, Atom and JSON feeds, and
//! sitemaps of one URL a line; as they are or in gzip. One reader streams through all XML of them: a
//! feed that breaks off still names the pages before the break, which no reader that builds a tree gives.
//!
//! **Invariant:** nothing is expanded and nothing is fetched: a document type declaration ends the reading
//! (hostile-web.md, row 50). Time and memory are linear in the body, of which 50 MB are read, and at most
//! 50,000 entries are kept (rows 51 and 52). What a listing says of another site's pages is no word of
//! that site's (row 53): a sitemap's are dropped, a feed's are mere links.

pub(crate) mod date;
mod fields;
mod json;
mod lines;
#[cfg(test)]
mod tests;
mod walk;

use std::borrow::Cow;
use std::fmt::Write;

use crate::fingerprint::Digest;
use crate::media::{self, Media};
use crate::url::PageUrl;
use crate::{charset, coding};

/// Entries of one listing, at most: what the protocol allows in a file.
pub const ENTRIES: usize = 50_000;
/// Bytes that are read, at most: what the protocol allows in a file.
const BYTES: usize = 50 << 20;
/// What a compressed body has to begin with is told from so many bytes.
const GLIMPSE: usize = 1_024;

/// What a listing says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// What it is.
    pub kind: Kind,
    /// What it names, in its order; a URL may come twice.
    pub entries: Vec<Entry>,
    /// The WebSub hub that says when it changes, if it names one (W3C Recommendation of 2018, §4).
    pub hub: Option<PageUrl>,
    /// Entries of other sites that a sitemap had no right to name.
    pub strangers: u32,
    /// Entries that have no URL, or none that can be fetched.
    pub unusable: u32,
    /// Whether there are more entries, or more bytes, than are read.
    pub cut: bool,
    /// Whether it breaks off, or breaks the rules of its format; `entries` are those before.
    pub broken: bool,
}

/// What lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The pages of a site.
    Sitemap,
    /// The sitemaps of a site.
    Index,
    /// What is new on a site.
    Feed,
}

/// A page that is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Where it is.
    pub url: PageUrl,
    /// When it changed last, as the listing says, in seconds since 1970 began. A date alone is its first
    /// second. `None`: it does not say, or what cannot be.
    pub modified: Option<i64>,
}

/// Why a body is not read as a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refused {
    /// It is something else.
    #[error("neither a sitemap nor a feed")]
    Other,
    /// It has a document type declaration, which could define entities.
    #[error("has a document type declaration")]
    Doctype,
}

/// Reads a body, which the server at `base` declares as `content_type`, at the time `now`, in seconds since
/// 1970 began.
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
        _ => walk::read(text, base, now)?,
    };
    listing.cut |= cut;
    Ok(listing)
}

/// The content of a compressed body that begins like a listing: sitemaps are often kept so, and served
/// as the files they are.
fn unpacked(body: &[u8]) -> Result<Option<coding::Content<'_>>, Refused> {
    if !body.starts_with(b"\x1f\x8b\x08") {
        return Ok(None);
    }
    let unpack = |bytes| {
        let limits = coding::Limits {
            bytes,
            ..coding::Limits::default()
        };
        coding::decode(Cow::Borrowed(body), [b"gzip".as_slice()], limits)
    };
    // Most archives are no listings, and are not worth unpacking to the end.
    let start = unpack(GLIMPSE).bytes;
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
    /// A measure of what it lists, as of a page's text: each entry is two words, and their order does not
    /// count, so that a listing has changed when an entry came, went or was dated anew.
    pub fn digest(&self) -> Digest {
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
        Digest::of(&text)
    }

    fn new(kind: Kind) -> Self {
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

    /// Takes in an entry of the listing at `base`, unless it has no URL.
    fn add(&mut self, base: &PageUrl, url: Option<PageUrl>, modified: Option<i64>) {
        let Some(url) = url else {
            self.unusable = self.unusable.saturating_add(1);
            return;
        };
        let ours = url.registrable_domain() == base.registrable_domain();
        if !ours && self.kind != Kind::Feed {
            self.strangers = self.strangers.saturating_add(1);
        } else if self.is_full() {
            self.cut = true;
        } else {
            self.entries.push(Entry {
                modified: modified.filter(|_| ours),
                url,
            });
        }
    }
}
