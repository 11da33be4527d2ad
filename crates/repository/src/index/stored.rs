//! What the index stores of a page, read back.

use std::borrow::Cow;
use std::collections::BTreeSet;

use page::PageId;
use tantivy::schema::{Field, IndexRecordOption, Term, Value};
use tantivy::{DocAddress, DocSet, Searcher, TERMINATED, TantivyDocument, TantivyError};

use super::content::{self, Texts, push_line};
use super::schema::Fields;
use super::score::Standing;
use super::sections::{self, Section};
use super::shown::shown;
use super::words;

/// The words of links to a page that are kept, and the most of one, in bytes.
const ANCHORS: usize = 16;
const ANCHOR_LIMIT: usize = 200;

/// A page, as it was last put in.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stored {
    pub(super) id: PageId,
    pub(super) url: String,
    pub(super) host: String,
    pub(super) title: String,
    /// One a line.
    pub(super) anchors: String,
    pub(super) body: String,
    pub(super) rest: String,
    pub(super) sections: Vec<Section>,
    pub(super) language: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) fetched_at: i64,
    pub(super) standing: Standing,
    pub(super) simhash: u64,
    pub(super) stated: page::Fields,
}

/// A page of the last commit, and where it is.
#[derive(Debug)]
pub(super) struct Committed {
    pub(super) page: Stored,
    pub(super) place: DocAddress,
}

impl Committed {
    /// Reads a page; `None` if it is not there.
    pub(super) fn read(
        searcher: &Searcher,
        fields: &Fields,
        page: PageId,
    ) -> Result<Option<Self>, TantivyError> {
        let Some(place) = place(searcher, fields, page)? else {
            return Ok(None);
        };
        let page = Stored::read(searcher, fields, place)?;
        Ok(Some(Self { page, place }))
    }
}

impl Stored {
    /// Reads the page at an address.
    pub(super) fn read(
        searcher: &Searcher,
        fields: &Fields,
        address: DocAddress,
    ) -> Result<Self, TantivyError> {
        let document = searcher.doc::<TantivyDocument>(address)?;
        let first = |field: Field| document.get_first(field);
        let text = |field| {
            first(field)
                .and_then(|value| value.as_str())
                .map(str::to_owned)
        };
        let number = |field| {
            first(field)
                .and_then(|value| value.as_u64())
                .unwrap_or_default()
        };
        let id = first(fields.id).and_then(|value| value.as_bytes()?.try_into().ok());
        let mut anchors = String::new();
        for anchor in document.get_all(fields.anchors) {
            push_line(&mut anchors, anchor.as_str().unwrap_or_default());
        }
        Ok(Self {
            id: PageId(id.map_or(0, u128::from_be_bytes)),
            url: text(fields.url).unwrap_or_default(),
            host: text(fields.host).unwrap_or_default(),
            title: text(fields.title).unwrap_or_default(),
            anchors,
            body: text(fields.body).unwrap_or_default(),
            rest: text(fields.rest).unwrap_or_default(),
            sections: first(fields.sections)
                .and_then(|value| value.as_bytes())
                .map(sections::decode)
                .unwrap_or_default(),
            language: text(fields.language),
            kind: text(fields.kind),
            fetched_at: first(fields.fetched_at)
                .and_then(|value| value.as_i64())
                .unwrap_or_default(),
            standing: Standing {
                in_links: number(fields.in_links) as u32,
                link_share: number(fields.link_share) as u32,
            },
            simhash: number(fields.simhash),
            stated: first(fields.stated)
                .and_then(|value| serde_json::from_str(value.as_str()?).ok())
                .unwrap_or_default(),
        })
    }

    /// Adds links that lead to it.
    pub(super) fn link(&mut self, anchors: &[&str], in_links: u32) {
        self.standing.in_links = self.standing.in_links.saturating_add(in_links);
        for anchor in anchors {
            let anchor = shown(anchor, ANCHOR_LIMIT).replace('\n', " ");
            let mut known = self.anchors.lines();
            if self.anchors.lines().count() < ANCHORS && !known.any(|other| other == anchor) {
                push_line(&mut self.anchors, &anchor);
            }
        }
    }

    /// The words of its title and of links to it.
    pub(super) fn summary_words(&self) -> BTreeSet<String> {
        let mut analyzer = words::analyzer();
        let mut found = BTreeSet::new();
        for text in [&self.title, &self.anchors] {
            analyzer.token_stream(text).process(&mut |token| {
                found.insert(token.text.clone());
            });
        }
        found
    }

    /// Its texts, by the parts that are searched.
    pub(super) fn texts(&self) -> Texts<'_> {
        let (headings, ids) = content::headings(&self.body, &self.sections);
        Texts([
            Cow::Borrowed(&self.title),
            Cow::Owned(headings),
            Cow::Owned(ids),
            Cow::Borrowed(&self.anchors),
            Cow::Borrowed(&self.url),
            Cow::Borrowed(&self.body),
            Cow::Borrowed(&self.rest),
        ])
    }
}

/// Where the index has a page; `None` if it is not there.
pub(super) fn place(
    searcher: &Searcher,
    fields: &Fields,
    page: PageId,
) -> Result<Option<DocAddress>, TantivyError> {
    let id = Term::from_field_bytes(fields.id, &page.0.to_be_bytes());
    for (number, segment) in (0..).zip(searcher.segment_readers()) {
        let inverted = segment.inverted_index(fields.id)?;
        let Some(mut found) = inverted.read_postings(&id, IndexRecordOption::Basic)? else {
            continue;
        };
        while found.doc() != TERMINATED {
            if !segment.is_deleted(found.doc()) {
                return Ok(Some(DocAddress::new(number, found.doc())));
            }
            found.advance();
        }
    }
    Ok(None)
}
