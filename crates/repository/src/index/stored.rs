//! Reads the stored fields of a page from the index.

use std::borrow::Cow;
use std::collections::BTreeSet;

use page::PageId;
use tantivy::schema::{Field, IndexRecordOption, Term, Value};
use tantivy::{DocAddress, DocSet, Searcher, TERMINATED, TantivyDocument, TantivyError};

use super::content::{self, PageTexts, push_line};
use super::safe_text::safe_text;
use super::schema::SchemaFields;
use super::score::LinkStats;
use super::sections::{self, IndexedSection};
use super::words;

/// Limits on the anchor texts of a page: how many, and bytes of one.
const ANCHORS: usize = 16;
const ANCHOR_LIMIT: usize = 200;

/// A page as it was last indexed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StoredPage {
    pub(super) id: PageId,
    pub(super) url: String,
    pub(super) host: String,
    pub(super) title: String,
    /// The anchor texts, one per line.
    pub(super) anchors: String,
    pub(super) body: String,
    pub(super) rest: String,
    pub(super) sections: Vec<IndexedSection>,
    pub(super) language: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) fetched_at: i64,
    pub(super) link_stats: LinkStats,
    pub(super) simhash: u64,
    pub(super) stated: page::Fields,
}

/// A page of the last commit, and its address.
#[derive(Debug)]
pub(super) struct CommittedPage {
    pub(super) page: StoredPage,
    pub(super) place: DocAddress,
}

impl CommittedPage {
    /// Reads a page. Returns `None` if it is not in the index.
    pub(super) fn read(
        searcher: &Searcher,
        fields: &SchemaFields,
        page: PageId,
    ) -> Result<Option<Self>, TantivyError> {
        let Some(place) = place(searcher, fields, page)? else {
            return Ok(None);
        };
        let page = StoredPage::read(searcher, fields, place)?;
        Ok(Some(Self { page, place }))
    }
}

impl StoredPage {
    /// Reads the page at an address.
    pub(super) fn read(
        searcher: &Searcher,
        fields: &SchemaFields,
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
            link_stats: LinkStats {
                in_links: number(fields.in_links) as u32,
                link_share: number(fields.link_share) as u32,
            },
            simhash: number(fields.simhash),
            stated: first(fields.stated)
                .and_then(|value| serde_json::from_str(value.as_str()?).ok())
                .unwrap_or_default(),
        })
    }

    /// Adds links to this page, with their anchor texts.
    pub(super) fn link(&mut self, anchors: &[&str], in_links: u32) {
        self.link_stats.in_links = self.link_stats.in_links.saturating_add(in_links);
        for anchor in anchors {
            let anchor = safe_text(anchor, ANCHOR_LIMIT).replace('\n', " ");
            let mut known = self.anchors.lines();
            if self.anchors.lines().count() < ANCHORS && !known.any(|other| other == anchor) {
                push_line(&mut self.anchors, &anchor);
            }
        }
    }

    /// Returns the words of its title and of its anchor texts.
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

    /// Returns its texts, by the parts that are searched.
    pub(super) fn texts(&self) -> PageTexts<'_> {
        let (headings, ids) = content::headings(&self.body, &self.sections);
        PageTexts([
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

/// Returns the address of a page in the index. Returns `None` if it is not there.
pub(super) fn place(
    searcher: &Searcher,
    fields: &SchemaFields,
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
