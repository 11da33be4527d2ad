//! Which entries does this XML have, one after the other?
//!
//! The reader is quick-xml's, told to forgive: ends that match no start and ampersands that begin no
//! reference are in real files.
//!
//! **Invariant:** only the entry at hand is in memory. An entry counts once its URL is complete, so that
//! of a file cut in half no half URL is taken.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::escape::{resolve_predefined_entity, unescape};
use quick_xml::events::{BytesStart, Event};

use super::fields::{Field, Format};
use super::{Listing, Refused, date};
use crate::url::PageUrl;

/// Elements within each other, at most. Listings need five; the pages that some feeds quote, more.
const NESTING: usize = 256;
/// Bytes of a URL or a date. Longer ones are neither.
const LONGEST: usize = 8 << 10;

pub(super) fn read(text: &str, page: &PageUrl, now: i64) -> Result<Listing, Refused> {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    let mut walk: Option<Walk<'_>> = None;
    loop {
        let event = match reader.read_event() {
            Ok(Event::DocType(_)) => return Err(Refused::Doctype),
            Ok(event) => event,
            Err(_) => break,
        };
        let Some(walk) = &mut walk else {
            match event {
                Event::Start(root) => walk = Some(Walk::into_root(&root, page, now)?),
                Event::Empty(root) => return Ok(Walk::into_root(&root, page, now)?.listing),
                Event::Eof => break,
                _ => {}
            }
            continue;
        };
        match event {
            Event::Start(tag) => {
                walk.open(&tag);
                if walk.depth > NESTING {
                    break;
                }
            }
            Event::Empty(tag) => {
                walk.open(&tag);
                walk.close(tag.local_name().as_ref());
            }
            Event::End(tag) => walk.close(tag.local_name().as_ref()),
            Event::Text(words) => walk.words(&words),
            Event::CData(words) => walk.words(&words),
            Event::GeneralRef(name) => match name.resolve_char_ref() {
                Ok(Some(character)) => walk.words(character.encode_utf8(&mut [0; 4])),
                _ => match resolve_predefined_entity(&name) {
                    Some(character) => walk.words(character),
                    None => walk.words(&format!("&{};", &*name)),
                },
            },
            Event::Eof => {
                // What follows the root is nobody's; what ends within it was cut.
                walk.listing.broken = walk.depth > 0;
                return Ok(walk.finish());
            }
            _ => {}
        }
        if walk.listing.cut {
            return Ok(walk.finish());
        }
    }
    let mut walk = walk.ok_or(Refused::Other)?;
    walk.listing.broken = true;
    Ok(walk.finish())
}

/// A document, half read.
struct Walk<'p> {
    format: Format,
    page: &'p PageUrl,
    now: i64,
    listing: Listing,
    /// Elements that are open.
    depth: usize,
    /// What relative URLs are relative to, each from the depth on at which an element says so.
    bases: Vec<(usize, PageUrl)>,
    entry: Option<Open>,
    /// The child of the entry whose words come now, and its depth.
    field: Option<(Field, usize)>,
    words: String,
}

/// An entry, half read.
struct Open {
    depth: usize,
    prefix: Option<String>,
    /// The child that is open, and how many elements of its name are open within it.
    child: Option<(String, usize)>,
    /// The URLs that it gives, by how sure they are.
    original: Option<PageUrl>,
    link: Option<PageUrl>,
    guid: Option<PageUrl>,
    about: Option<PageUrl>,
    modified: Option<i64>,
    /// Words of its own: some indexes leave out the `loc`.
    own: String,
}

impl<'p> Walk<'p> {
    fn into_root(root: &BytesStart<'_>, page: &'p PageUrl, now: i64) -> Result<Self, Refused> {
        let format = Format::of(root.local_name().as_ref()).ok_or(Refused::Other)?;
        let mut walk = Self {
            format,
            page,
            now,
            listing: Listing::new(format.kind()),
            depth: 1,
            bases: Vec::new(),
            entry: None,
            field: None,
            words: String::new(),
        };
        walk.rebase(root);
        Ok(walk)
    }

    fn open(&mut self, tag: &BytesStart<'_>) {
        self.depth += 1;
        self.rebase(tag);
        let (name, prefix) = tag.name().decompose();
        let (name, prefix) = (name.as_ref(), prefix.as_ref().map(AsRef::as_ref));
        let begins = name.eq_ignore_ascii_case(self.format.entry());
        match &mut self.entry {
            // An entry within one at its first level is the next, whose forerunner was not closed.
            Some(entry) if begins && self.depth == entry.depth + 1 => self.begin(tag, prefix),
            None if begins => self.begin(tag, prefix),
            Some(entry) if self.depth == entry.depth + 1 => {
                entry.child = Some((name.to_owned(), 0));
                let akin = entry.prefix.as_deref() == prefix;
                let field = self.format.field(name, akin);
                self.words.clear();
                self.field = field.map(|field| (field, self.depth));
                if field == Some(Field::Link) {
                    self.link_attribute(tag);
                }
            }
            // The date of a news sitemap is within its `news:news`.
            Some(Open {
                depth,
                child: Some((child, _)),
                ..
            }) if self.depth == *depth + 2 && self.format.dates(child, name) => {
                self.words.clear();
                self.field = Some((Field::Date, self.depth));
            }
            Some(Open {
                child: Some((child, within)),
                ..
            }) => *within += usize::from(child == name),
            None if name.eq_ignore_ascii_case("link") => self.hub_attribute(tag),
            _ => {}
        }
    }

    fn begin(&mut self, tag: &BytesStart<'_>, prefix: Option<&str>) {
        self.end_entry();
        let about = attribute(tag, "about").and_then(|about| self.resolve(&about));
        self.entry = Some(Open {
            depth: self.depth,
            prefix: prefix.map(str::to_owned),
            child: None,
            original: None,
            link: None,
            guid: None,
            about,
            modified: None,
            own: String::new(),
        });
    }

    fn words(&mut self, words: &str) {
        let place = match (&mut self.field, &mut self.entry) {
            (Some((_, depth)), _) if *depth == self.depth => &mut self.words,
            (None, Some(entry)) if entry.depth == self.depth => &mut entry.own,
            _ => return,
        };
        if place.len() <= LONGEST {
            let room = crate::scan::char_floor(words, LONGEST + 1);
            place.push_str(&words[..room]);
        }
    }

    fn close(&mut self, name: &str) {
        if let Some(entry) = &mut self.entry {
            match &mut entry.child {
                Some((child, 0)) if child == name => {
                    // Whatever was left open within it ends with it.
                    self.depth = entry.depth + 1;
                    entry.child = None;
                }
                Some((child, within)) if child == name => *within -= 1,
                _ => {}
            }
        }
        if self.field.is_some_and(|(_, depth)| depth == self.depth) {
            self.end_field();
        }
        let entry = self.entry.as_ref().map(|entry| entry.depth);
        if let Some(depth) = entry
            && name.eq_ignore_ascii_case(self.format.entry())
        {
            self.depth = depth;
            self.take_own_words();
            self.end_entry();
        }
        // An end without a start ends no entry.
        let least = self.entry.as_ref().map_or(0, |entry| entry.depth);
        self.depth = self.depth.saturating_sub(1).max(least);
        while self
            .bases
            .last()
            .is_some_and(|(depth, _)| *depth > self.depth)
        {
            self.bases.pop();
        }
    }

    fn end_field(&mut self) {
        let Some((field, _)) = self.field.take() else {
            return;
        };
        let words = std::mem::take(&mut self.words);
        let words = Some(words.trim()).filter(|words| !words.is_empty() && words.len() <= LONGEST);
        let (Some(words), true) = (words, self.entry.is_some()) else {
            return;
        };
        let url = match field {
            Field::Date => None,
            // An id is a URL only if it is a whole one.
            Field::Guid => PageUrl::parse(words).ok(),
            Field::Link | Field::Original => self.resolve(words),
        };
        let modified = date::plausible(words, self.now);
        let Some(entry) = &mut self.entry else { return };
        match field {
            Field::Date => entry.modified = entry.modified.max(modified),
            Field::Guid => entry.guid = entry.guid.take().or(url),
            Field::Original => entry.original = entry.original.take().or(url),
            Field::Link => entry.link = entry.link.take().or(url),
        }
    }

    /// The `href` of a link to the page itself, as Atom writes it: the first without a relation or with
    /// that of an alternate.
    fn link_attribute(&mut self, tag: &BytesStart<'_>) {
        let relation = attribute(tag, "rel");
        if relation.is_some_and(|relation| !relation.eq_ignore_ascii_case("alternate")) {
            self.field = None;
            return;
        }
        let Some(target) = attribute(tag, "href") else {
            return;
        };
        let url = self.resolve(&target);
        if let Some(entry) = &mut self.entry {
            entry.link = entry.link.take().or(url);
        }
    }

    /// The `href` of a link to a hub, which is no entry's.
    fn hub_attribute(&mut self, tag: &BytesStart<'_>) {
        let is_hub = attribute(tag, "rel").is_some_and(|rel| rel.eq_ignore_ascii_case("hub"));
        if is_hub && self.listing.hub.is_none() {
            let target = attribute(tag, "href");
            self.listing.hub = target.and_then(|target| self.resolve(&target));
        }
    }

    fn take_own_words(&mut self) {
        if self.format != Format::Sitemapindex {
            return;
        }
        let own = self
            .entry
            .as_mut()
            .map(|entry| std::mem::take(&mut entry.own));
        let own = own.and_then(|words| PageUrl::parse(words.trim()).ok());
        if let Some(entry) = &mut self.entry {
            entry.guid = entry.guid.take().or(own);
        }
    }

    fn end_entry(&mut self) {
        self.field = None;
        if let Some(entry) = self.entry.take() {
            let url = entry.original.or(entry.link).or(entry.guid).or(entry.about);
            self.listing.add(self.page, url, entry.modified);
        }
    }

    fn finish(&mut self) -> Listing {
        // A URL is set when its element ends, so an entry that never did has a whole one or none.
        let whole = self
            .entry
            .as_ref()
            .is_some_and(|entry| entry.link.is_some());
        self.entry = self.entry.take().filter(|_| whole);
        self.end_entry();
        std::mem::replace(&mut self.listing, Listing::new(self.format.kind()))
    }

    /// Takes note of an `xml:base`.
    fn rebase(&mut self, tag: &BytesStart<'_>) {
        if !tag.attributes_raw().contains("xml:base") {
            return;
        }
        let named = tag
            .attributes()
            .with_checks(false)
            .flatten()
            .find(|attribute| attribute.key.as_ref() == "xml:base");
        let base = named.and_then(|attribute| self.resolve(&plain(&attribute.value)));
        self.bases.extend(base.map(|base| (self.depth, base)));
    }

    fn resolve(&self, target: &str) -> Option<PageUrl> {
        let base = self.bases.last().map_or(self.page, |(_, base)| base);
        base.join(target.trim())
            .ok()
            .filter(|_| !target.trim().is_empty())
    }
}

/// The value of an attribute, whatever its prefix.
fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = tag.attributes();
    let found = attributes.with_checks(false).flatten().find(|attribute| {
        attribute
            .key
            .local_name()
            .as_ref()
            .eq_ignore_ascii_case(name)
    });
    found.map(|attribute| plain(&attribute.value).into_owned())
}

/// A value with its references resolved, or as it is where they are wrong.
fn plain(value: &str) -> Cow<'_, str> {
    unescape(value).unwrap_or(Cow::Borrowed(value))
}
