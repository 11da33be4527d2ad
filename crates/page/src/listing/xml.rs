//! Reads the entries of an XML sitemap or feed.
//!
//! Uses the parser of quick-xml in its tolerant mode. Real files have end tags without a start
//! and ampersands that begin no reference.
//!
//! **Invariant:** no tree is built: memory holds the finished entries and the current one. An
//! entry counts once its URL is complete, so that a truncated file never yields half a URL.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::escape::{resolve_predefined_entity, unescape};
use quick_xml::events::{BytesStart, Event};

use super::fields::{Format, ListingField};
use super::{Listing, Refused, date};
use crate::url::PageUrl;

/// Maximum number of nested elements. Listings need five; pages quoted in feeds need more.
const NESTING: usize = 256;
/// Maximum bytes of a URL or a date.
const LONGEST: usize = 8 << 10;

pub(super) fn read(text: &str, page: &PageUrl, now: i64) -> Result<Listing, Refused> {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    let mut state: Option<XmlState<'_>> = None;
    loop {
        let event = match reader.read_event() {
            Ok(Event::DocType(_)) => return Err(Refused::Doctype),
            Ok(event) => event,
            Err(_) => break,
        };
        let Some(state) = &mut state else {
            match event {
                Event::Start(root) => state = Some(XmlState::at_root(&root, page, now)?),
                Event::Empty(root) => return Ok(XmlState::at_root(&root, page, now)?.listing),
                Event::Eof => break,
                _ => {}
            }
            continue;
        };
        match event {
            Event::Start(tag) => {
                state.open(&tag);
                if state.depth > NESTING {
                    break;
                }
            }
            Event::Empty(tag) => {
                state.open(&tag);
                state.close(tag.local_name().as_ref());
            }
            Event::End(tag) => state.close(tag.local_name().as_ref()),
            Event::Text(words) => state.words(&words),
            Event::CData(words) => state.words(&words),
            Event::GeneralRef(name) => match name.resolve_char_ref() {
                Ok(Some(character)) => state.words(character.encode_utf8(&mut [0; 4])),
                _ => match resolve_predefined_entity(&name) {
                    Some(character) => state.words(character),
                    None => state.words(&format!("&{};", &*name)),
                },
            },
            Event::Eof => {
                // Content after the root element is ignored. An end of file within it means
                // truncation.
                state.listing.broken = state.depth > 0;
                return Ok(state.finish());
            }
            _ => {}
        }
        if state.listing.cut {
            return Ok(state.finish());
        }
    }
    let mut state = state.ok_or(Refused::Other)?;
    state.listing.broken = true;
    Ok(state.finish())
}

/// A document that is being read.
struct XmlState<'p> {
    format: Format,
    page: &'p PageUrl,
    now: i64,
    listing: Listing,
    /// Number of open elements.
    depth: usize,
    /// The `xml:base` values in effect, each with the depth of its element.
    bases: Vec<(usize, PageUrl)>,
    entry: Option<OpenEntry>,
    /// The child of the entry whose text is being collected, and its depth.
    field: Option<(ListingField, usize)>,
    words: String,
}

/// An entry that is being read.
#[derive(Default)]
struct OpenEntry {
    depth: usize,
    prefix: Option<String>,
    /// The open child, and how many elements of the same name are open within it.
    child: Option<(String, usize)>,
    /// The candidates for the URL, most reliable first.
    original: Option<PageUrl>,
    link: Option<PageUrl>,
    guid: Option<PageUrl>,
    about: Option<PageUrl>,
    modified: Option<i64>,
    /// Text directly within the entry: some sitemap indexes omit the `loc` element.
    own: String,
}

impl<'p> XmlState<'p> {
    fn at_root(root: &BytesStart<'_>, page: &'p PageUrl, now: i64) -> Result<Self, Refused> {
        let format = Format::of(root.local_name().as_ref()).ok_or(Refused::Other)?;
        let mut state = Self {
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
        state.rebase(root);
        Ok(state)
    }

    fn open(&mut self, tag: &BytesStart<'_>) {
        self.depth += 1;
        self.rebase(tag);
        let (name, prefix) = tag.name().decompose();
        let (name, prefix) = (name.as_ref(), prefix.as_ref().map(AsRef::as_ref));
        let begins = name.eq_ignore_ascii_case(self.format.entry());
        match &mut self.entry {
            // An entry that starts directly inside an entry means that the end tag of the
            // previous one is missing.
            Some(entry) if begins && self.depth == entry.depth + 1 => self.begin(tag, prefix),
            None if begins => self.begin(tag, prefix),
            Some(entry) if self.depth == entry.depth + 1 => {
                entry.child = Some((name.to_owned(), 0));
                let akin = entry.prefix.as_deref() == prefix;
                let field = self.format.field(name, akin);
                self.words.clear();
                self.field = field.map(|field| (field, self.depth));
                if field == Some(ListingField::Link) {
                    self.link_attribute(tag);
                }
            }
            // The date of a news sitemap is within its `news:news` element.
            Some(OpenEntry {
                depth,
                child: Some((child, _)),
                ..
            }) if self.depth == *depth + 2 && self.format.dates(child, name) => {
                self.words.clear();
                self.field = Some((ListingField::Date, self.depth));
            }
            Some(OpenEntry {
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
        self.entry = Some(OpenEntry {
            depth: self.depth,
            prefix: prefix.map(str::to_owned),
            about,
            ..OpenEntry::default()
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
                    // Elements left open within the child end with the child.
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
        // An end tag without a start ends no entry.
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
            ListingField::Date => None,
            // An id counts as a URL only if it is absolute.
            ListingField::Guid => PageUrl::parse(words).ok(),
            ListingField::Link | ListingField::Original => self.resolve(words),
        };
        let modified = date::plausible(words, self.now);
        let Some(entry) = &mut self.entry else { return };
        match field {
            ListingField::Date => entry.modified = entry.modified.max(modified),
            ListingField::Guid => entry.guid = entry.guid.take().or(url),
            ListingField::Original => entry.original = entry.original.take().or(url),
            ListingField::Link => entry.link = entry.link.take().or(url),
        }
    }

    /// Takes the URL of the page from the `href` of an Atom link: the first link whose `rel` is
    /// absent or `alternate`.
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

    /// Takes the hub from the `href` of a link outside of entries.
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
        // A URL is set only when it is complete, so an unfinished entry has a complete URL or
        // none.
        let whole = self
            .entry
            .as_ref()
            .is_some_and(|entry| entry.link.is_some());
        self.entry = self.entry.take().filter(|_| whole);
        self.end_entry();
        std::mem::replace(&mut self.listing, Listing::new(self.format.kind()))
    }

    /// Applies an `xml:base` attribute.
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

/// Returns the value of an attribute with this name and any prefix.
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

/// Resolves the references in a value. Returns it unchanged if they are invalid.
fn plain(value: &str) -> Cow<'_, str> {
    unescape(value).unwrap_or(Cow::Borrowed(value))
}
