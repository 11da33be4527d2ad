//! Collects the metadata that a page states about itself: authors, dates, type and others.
//!
//! Six notations are read: `meta` elements of HTML itself (`author`, `keywords`), of Dublin Core,
//! of OpenGraph and of scholarly publishers (`citation_*`), JSON-LD of schema.org, and microdata.
//!
//! **Invariant:** the amount kept is bounded. The first valid statement of a field counts; authors
//! and keywords accumulate. The values are claims of the page; none is verified.

mod linked;
mod microdata;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::attribute::{CONTENT, ITEMPROP, NAME, PROPERTY, TYPE, attribute};
use super::tag::{self, NameKey};
use super::text::VisibleText;
use super::tokenizer::Attribute;
use crate::listing::date;
use crate::scan::char_floor;
use microdata::Microdata;

/// Maximum number of authors, and of keywords, that are kept.
const MOST: usize = 32;
/// Maximum bytes of a name, a date or a keyword.
const NAME_LIMIT: usize = 200;
/// Maximum bytes of a description.
const DESCRIPTION_LIMIT: usize = 1_000;

/// The metadata that a page states about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fields {
    /// Its type: `article`, `Course`, `ScholarlyArticle`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Its authors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    /// When it was published, or when the event begins, in Unix seconds. A date without a time
    /// stands for the first second of its day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<i64>,
    /// When it was changed, in Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<i64>,
    /// The publisher, or the journal or site in which it appeared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publisher: Option<String>,
    /// A summary in a few sentences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its keywords.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// A DOI, an ISBN or another identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identifier: Option<String>,
}

impl Fields {
    /// Returns whether the page states nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns when it was published, or else changed, in Unix seconds.
    pub fn date(&self) -> Option<i64> {
        self.published.or(self.modified)
    }

    fn add(&mut self, kind: FieldKind, value: &str) {
        match kind {
            FieldKind::Kind => first(&mut self.kind, value, NAME_LIMIT),
            FieldKind::Publisher => first(&mut self.publisher, value, NAME_LIMIT),
            FieldKind::Description => first(&mut self.description, value, DESCRIPTION_LIMIT),
            FieldKind::Identifier => first(&mut self.identifier, value, NAME_LIMIT),
            FieldKind::Published => self.published = self.published.or_else(|| when(value)),
            FieldKind::Modified => self.modified = self.modified.or_else(|| when(value)),
            FieldKind::Author => another(&mut self.authors, value),
            FieldKind::Keywords => value
                .split([',', ';'])
                .for_each(|word| another(&mut self.keywords, word)),
        }
    }
}

/// A field of [`Fields`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldKind {
    Kind,
    Author,
    Published,
    Modified,
    Publisher,
    Description,
    Keywords,
    Identifier,
}

/// The known names of `meta` elements, in lower case.
const METAS: &[(&str, FieldKind)] = &[
    ("author", FieldKind::Author),
    ("dc.creator", FieldKind::Author),
    ("dcterms.creator", FieldKind::Author),
    ("citation_author", FieldKind::Author),
    ("citation_authors", FieldKind::Author),
    ("article:author", FieldKind::Author),
    ("book:author", FieldKind::Author),
    ("citation_publication_date", FieldKind::Published),
    ("citation_date", FieldKind::Published),
    ("citation_online_date", FieldKind::Published),
    ("article:published_time", FieldKind::Published),
    ("dcterms.issued", FieldKind::Published),
    ("dcterms.created", FieldKind::Published),
    ("dc.date.issued", FieldKind::Published),
    ("dc.date", FieldKind::Published),
    ("dcterms.date", FieldKind::Published),
    ("date", FieldKind::Published),
    ("article:modified_time", FieldKind::Modified),
    ("og:updated_time", FieldKind::Modified),
    ("dcterms.modified", FieldKind::Modified),
    ("dc.date.modified", FieldKind::Modified),
    ("last-modified", FieldKind::Modified),
    ("citation_journal_title", FieldKind::Publisher),
    ("citation_conference_title", FieldKind::Publisher),
    ("dc.publisher", FieldKind::Publisher),
    ("dcterms.publisher", FieldKind::Publisher),
    ("citation_publisher", FieldKind::Publisher),
    ("og:site_name", FieldKind::Publisher),
    ("og:description", FieldKind::Description),
    ("dc.description", FieldKind::Description),
    ("dcterms.abstract", FieldKind::Description),
    ("citation_abstract", FieldKind::Description),
    ("description", FieldKind::Description),
    ("keywords", FieldKind::Keywords),
    ("citation_keywords", FieldKind::Keywords),
    ("dc.subject", FieldKind::Keywords),
    ("article:tag", FieldKind::Keywords),
    ("citation_doi", FieldKind::Identifier),
    ("citation_isbn", FieldKind::Identifier),
    ("dc.identifier", FieldKind::Identifier),
    ("og:type", FieldKind::Kind),
    ("dc.type", FieldKind::Kind),
];

/// Collects the metadata of one page.
#[derive(Default)]
pub(super) struct Collector {
    fields: Fields,
    /// Whether the current script is JSON-LD.
    linked: bool,
    /// Number of JSON-LD scripts read so far.
    scripts: usize,
    /// The microdata reader; `None` if the page does not contain `itemprop`.
    microdata: Option<Microdata>,
}

impl Collector {
    pub(super) fn new(html: &str) -> Self {
        let has_microdata = memchr::memmem::find(html.as_bytes(), b"itemprop").is_some();
        Self {
            microdata: has_microdata.then(Microdata::default),
            ..Self::default()
        }
    }

    /// Reads a `meta` element.
    pub(super) fn meta(&mut self, attributes: &[Attribute<'_>]) {
        let named = attribute(attributes, NAME).or_else(|| attribute(attributes, PROPERTY));
        let (Some(named), Some(content)) = (named, attribute(attributes, CONTENT)) else {
            return;
        };
        let named = named.raw.trim();
        let known = METAS
            .iter()
            .find(|(name, _)| named.eq_ignore_ascii_case(name));
        let content = content.value();
        match known {
            // The author of OpenGraph is often the URL of a profile, which is not a name.
            Some((_, FieldKind::Author)) if content.contains("://") => {}
            // Semicolons separate the names, because each has a comma inside.
            Some((name, FieldKind::Author)) if *name == "citation_authors" => content
                .split(';')
                .for_each(|name| self.fields.add(FieldKind::Author, name)),
            Some((_, kind)) => self.fields.add(*kind, &content),
            None => {}
        }
    }

    /// Handles the start of a script and decides whether its text is read.
    pub(super) fn script(&mut self, attributes: &[Attribute<'_>]) {
        let kind = attribute(attributes, TYPE).map(|kind| kind.raw.trim());
        let linked = kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/ld+json"));
        self.linked = linked && self.scripts < linked::SCRIPTS;
    }

    /// Reads the text of a script.
    pub(super) fn script_text(&mut self, text: &str) {
        if std::mem::take(&mut self.linked) {
            self.scripts += 1;
            linked::read(text, &mut self.fields);
        }
    }

    /// Handles the start of an element. `at` is the length of the text so far.
    #[inline]
    pub(super) fn start(&mut self, tag: NameKey, attributes: &[Attribute<'_>], at: u32) {
        if let Some(microdata) = &mut self.microdata {
            microdata.start(tag, attributes, at, &mut self.fields);
        }
    }

    /// Handles the end of an element. `text` is the text of the page so far.
    #[inline]
    pub(super) fn end(&mut self, tag: NameKey, text: &str) {
        if let Some(microdata) = &mut self.microdata {
            microdata.end(tag, text, &mut self.fields);
        }
    }

    pub(super) fn finish(self) -> Fields {
        self.fields
    }
}

/// Returns the field for a property name of schema.org, in JSON-LD and microdata.
fn schema(name: &str) -> Option<FieldKind> {
    Some(match name {
        "author" | "creator" => FieldKind::Author,
        "datePublished" | "startDate" | "uploadDate" | "dateCreated" => FieldKind::Published,
        "dateModified" => FieldKind::Modified,
        "publisher" | "isPartOf" => FieldKind::Publisher,
        "description" | "abstract" => FieldKind::Description,
        "keywords" => FieldKind::Keywords,
        "isbn" | "doi" => FieldKind::Identifier,
        _ => return None,
    })
}

/// Returns the first word of an element's `itemprop`.
fn property<'t>(attributes: &'t [Attribute<'_>]) -> Option<&'t str> {
    let named = attribute(attributes, ITEMPROP)?.raw;
    named.split_ascii_whitespace().next()
}

fn first(field: &mut Option<String>, value: &str, limit: usize) {
    let value = tidy(value, limit);
    if field.is_none() && !value.is_empty() {
        *field = Some(value);
    }
}

fn another(list: &mut Vec<String>, value: &str) {
    let value = tidy(value, NAME_LIMIT);
    if list.len() < MOST && !value.is_empty() && !list.contains(&value) {
        list.push(value);
    }
}

/// Normalizes a value like the text of a page: single spaces, no invisible characters, bounded
/// length.
fn tidy(value: &str, limit: usize) -> String {
    let mut text = VisibleText::new(limit, value.len());
    text.push(value);
    text.finish()
}

/// Parses a date. Scholarly metadata also uses the form 2004/05/01.
fn when(value: &str) -> Option<i64> {
    let value = value.trim();
    let value = &value[..char_floor(value, NAME_LIMIT)];
    date::seconds(value).or_else(|| date::seconds(&value.replace('/', "-")))
}

/// Returns whether an element has no content.
fn is_void(tag: NameKey) -> bool {
    matches!(
        tag::element(tag).flow,
        tag::TextFlow::Void | tag::TextFlow::Break
    )
}
