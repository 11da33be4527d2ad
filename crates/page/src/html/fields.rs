//! What does a page say of itself to machines: who wrote it, when, and what it is?
//!
//! Five ways to say so are read: `meta` elements of Dublin Core, of OpenGraph and of scholars (`citation_*`), JSON-LD of
//! schema.org, and microdata. **Invariant:** what is kept is bounded whatever a page says, the first who says something
//! counts, and nothing of it is believed further than that the page says so.

mod linked;
mod microdata;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::attribute::{CONTENT, ITEMPROP, NAME, PROPERTY, TYPE, attribute};
use super::tag::{self, Name};
use super::text::Text;
use super::tokenizer::Attribute;
use crate::listing::date;
use crate::scan::char_floor;
use microdata::Microdata;

/// Authors and keywords that are kept, each.
const MOST: usize = 32;
/// Bytes of a name, a date, a word.
const NAME_LIMIT: usize = 200;
/// Bytes of a description.
const DESCRIPTION_LIMIT: usize = 1_000;

/// What a page says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fields {
    /// What it is: `article`, `Course`, `ScholarlyArticle`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Who wrote it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    /// When it was published, or begins if it is an event, in Unix seconds; a date alone is its first second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<i64>,
    /// When it was changed, in Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<i64>,
    /// Who published it, or where it appeared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publisher: Option<String>,
    /// What it is about, in a few sentences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it is about, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// A DOI, an ISBN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identifier: Option<String>,
}

impl Fields {
    /// Whether the page says nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The day it was published on, or else changed on, in Unix seconds.
    pub fn date(&self) -> Option<i64> {
        self.published.or(self.modified)
    }

    fn say(&mut self, what: What, said: &str) {
        match what {
            What::Kind => first(&mut self.kind, said, NAME_LIMIT),
            What::Publisher => first(&mut self.publisher, said, NAME_LIMIT),
            What::Description => first(&mut self.description, said, DESCRIPTION_LIMIT),
            What::Identifier => first(&mut self.identifier, said, NAME_LIMIT),
            What::Published => self.published = self.published.or_else(|| when(said)),
            What::Modified => self.modified = self.modified.or_else(|| when(said)),
            What::Author => another(&mut self.authors, said),
            What::Keywords => said
                .split([',', ';'])
                .for_each(|word| another(&mut self.keywords, word)),
        }
    }
}

/// What can be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Kind,
    Author,
    Published,
    Modified,
    Publisher,
    Description,
    Keywords,
    Identifier,
}

/// The names of `meta` elements, in lower case.
const METAS: &[(&str, What)] = &[
    ("author", What::Author),
    ("dc.creator", What::Author),
    ("dcterms.creator", What::Author),
    ("citation_author", What::Author),
    ("citation_authors", What::Author),
    ("article:author", What::Author),
    ("book:author", What::Author),
    ("citation_publication_date", What::Published),
    ("citation_date", What::Published),
    ("citation_online_date", What::Published),
    ("article:published_time", What::Published),
    ("dcterms.issued", What::Published),
    ("dcterms.created", What::Published),
    ("dc.date.issued", What::Published),
    ("dc.date", What::Published),
    ("dcterms.date", What::Published),
    ("date", What::Published),
    ("article:modified_time", What::Modified),
    ("og:updated_time", What::Modified),
    ("dcterms.modified", What::Modified),
    ("dc.date.modified", What::Modified),
    ("last-modified", What::Modified),
    ("citation_journal_title", What::Publisher),
    ("citation_conference_title", What::Publisher),
    ("dc.publisher", What::Publisher),
    ("dcterms.publisher", What::Publisher),
    ("citation_publisher", What::Publisher),
    ("og:site_name", What::Publisher),
    ("og:description", What::Description),
    ("dc.description", What::Description),
    ("dcterms.abstract", What::Description),
    ("citation_abstract", What::Description),
    ("description", What::Description),
    ("keywords", What::Keywords),
    ("citation_keywords", What::Keywords),
    ("dc.subject", What::Keywords),
    ("article:tag", What::Keywords),
    ("citation_doi", What::Identifier),
    ("citation_isbn", What::Identifier),
    ("dc.identifier", What::Identifier),
    ("og:type", What::Kind),
    ("dc.type", What::Kind),
];

/// Collects what a page says of itself.
#[derive(Default)]
pub(super) struct Collector {
    fields: Fields,
    /// Whether the script that is being read is JSON-LD.
    linked: bool,
    /// How many such scripts were read.
    scripts: usize,
    /// What elements say, if the page has microdata at all.
    microdata: Option<Microdata>,
}

impl Collector {
    /// For a page of this markup.
    pub(super) fn new(html: &str) -> Self {
        let has_microdata = memchr::memmem::find(html.as_bytes(), b"itemprop").is_some();
        Self {
            microdata: has_microdata.then(Microdata::default),
            ..Self::default()
        }
    }

    /// Takes a `meta` element.
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
            // OpenGraph wants the URL of a profile there; a URL is no name.
            Some((_, What::Author)) if content.contains("://") => {}
            // The names of several, which are written with commas inside.
            Some((name, What::Author)) if *name == "citation_authors" => content
                .split(';')
                .for_each(|name| self.fields.say(What::Author, name)),
            Some((_, what)) => self.fields.say(*what, &content),
            None => {}
        }
    }

    /// Takes the start of a script: whether its text is wanted.
    pub(super) fn script(&mut self, attributes: &[Attribute<'_>]) {
        let kind = attribute(attributes, TYPE).map(|kind| kind.raw.trim());
        let linked = kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/ld+json"));
        self.linked = linked && self.scripts < linked::SCRIPTS;
    }

    /// Takes the text of a script.
    pub(super) fn script_text(&mut self, text: &str) {
        if std::mem::take(&mut self.linked) {
            self.scripts += 1;
            linked::read(text, &mut self.fields);
        }
    }

    /// Takes the start of any element, after so many bytes of text.
    #[inline]
    pub(super) fn start(&mut self, tag: Name, attributes: &[Attribute<'_>], at: u32) {
        if let Some(microdata) = &mut self.microdata {
            microdata.start(tag, attributes, at, &mut self.fields);
        }
    }

    /// Takes the end of any element, where this was read so far.
    #[inline]
    pub(super) fn end(&mut self, tag: Name, text: &str) {
        if let Some(microdata) = &mut self.microdata {
            microdata.end(tag, text, &mut self.fields);
        }
    }

    /// What was said.
    pub(super) fn finish(self) -> Fields {
        self.fields
    }
}

/// Names of schema.org, for JSON-LD and microdata.
fn schema(name: &str) -> Option<What> {
    Some(match name {
        "author" | "creator" => What::Author,
        "datePublished" | "startDate" | "uploadDate" | "dateCreated" => What::Published,
        "dateModified" => What::Modified,
        "publisher" | "isPartOf" => What::Publisher,
        "description" | "abstract" => What::Description,
        "keywords" => What::Keywords,
        "isbn" | "doi" => What::Identifier,
        _ => return None,
    })
}

/// Whether an element holds an item of its own, by its name: it has an `itemprop`.
fn property<'t>(attributes: &'t [Attribute<'_>]) -> Option<&'t str> {
    let named = attribute(attributes, ITEMPROP)?.raw;
    named.split_ascii_whitespace().next()
}

fn first(field: &mut Option<String>, said: &str, limit: usize) {
    let said = tidy(said, limit);
    if field.is_none() && !said.is_empty() {
        *field = Some(said);
    }
}

fn another(list: &mut Vec<String>, said: &str) {
    let said = tidy(said, NAME_LIMIT);
    if list.len() < MOST && !said.is_empty() && !list.contains(&said) {
        list.push(said);
    }
}

/// As the text of a page is kept: single spaces, nothing invisible, and not too long.
fn tidy(said: &str, limit: usize) -> String {
    let mut text = Text::new(limit, said.len());
    text.push(said);
    text.finish()
}

/// A date as people write it for machines; scholars write 2004/05/01.
fn when(said: &str) -> Option<i64> {
    let said = said.trim();
    let said = &said[..char_floor(said, NAME_LIMIT)];
    date::seconds(said).or_else(|| date::seconds(&said.replace('/', "-")))
}

/// Whether what an element contains is in one of its attributes.
fn is_void(tag: Name) -> bool {
    matches!(tag::element(tag).flow, tag::Flow::Void | tag::Flow::Break)
}
