//! Reads stored pages from the index: the text of one page, its near-duplicates, and the
//! languages of all pages.

use std::collections::BTreeMap;

use page::PageId;
use serde::{Deserialize, Serialize};
use tantivy::DocAddress;

use super::duplicates::{group, is_near, sketch};
use super::stored::{CommittedPage, StoredPage};
use super::{Index, IndexError, IndexedSection};

/// A page as it was last indexed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexedPage {
    /// Its URL.
    pub url: String,
    /// Its title; may be empty.
    pub title: String,
    /// The text that is particular to the page.
    pub text: String,
    /// Navigation and lines of its host's template.
    pub rest: String,
    /// The sections of `text`, in order.
    pub sections: Vec<IndexedSection>,
    /// How many pages link to it.
    pub in_links: u32,
    /// The code of its language, if known.
    pub language: Option<String>,
    /// When it was fetched, in Unix seconds.
    pub fetched_at: i64,
}

impl Index {
    /// Looks up a page. Returns `None` if it is not in the index.
    pub fn kept(&self, id: PageId) -> Result<Option<IndexedPage>, IndexError> {
        let found = self.read(|searcher| CommittedPage::read(searcher, &self.fields, id))?;
        Ok(found.map(|CommittedPage { page, .. }| IndexedPage {
            url: page.url,
            title: page.title,
            text: page.body,
            rest: page.rest,
            sections: page.sections,
            in_links: page.link_stats.in_links,
            language: page.language,
            fetched_at: page.fetched_at,
        }))
    }

    /// Returns the URLs of other pages with nearly the same text.
    pub fn duplicates(&self, id: PageId) -> Result<Vec<String>, IndexError> {
        self.read(|searcher| {
            let Some(CommittedPage { page, place }) =
                CommittedPage::read(searcher, &self.fields, id)?
            else {
                return Ok(Vec::new());
            };
            let read = |address| StoredPage::read(searcher, &self.fields, address);
            let mut hashes = vec![page.simhash];
            let mut addresses = vec![place];
            for (number, segment) in (0..).zip(searcher.segment_readers()) {
                let column = segment.fast_fields().u64("simhash")?;
                let column = column.first_or_default_col(0);
                for doc in segment.doc_ids_alive() {
                    let (hash, other) = (column.get_val(doc), DocAddress::new(number, doc));
                    if is_near(page.simhash, hash) && other != place {
                        hashes.push(hash);
                        addresses.push(other);
                    }
                }
            }
            let groups = group(&hashes, |number| {
                read(addresses[number]).map(|page| sketch(&page.body))
            })?;
            let others = groups[0][1..].iter();
            others
                .map(|&number| read(addresses[number]).map(|page| page.url))
                .collect()
        })
    }

    /// Returns how many pages are in each language. Removed pages count until their segment is
    /// merged.
    pub fn languages(&self) -> Result<BTreeMap<String, u64>, IndexError> {
        self.read(|searcher| {
            let mut languages = BTreeMap::new();
            for segment in searcher.segment_readers() {
                let inverted = segment.inverted_index(self.fields.language)?;
                let mut terms = inverted.terms().stream()?;
                while let Some((code, info)) = terms.next() {
                    let code = String::from_utf8_lossy(code).into_owned();
                    *languages.entry(code).or_default() += u64::from(info.doc_freq);
                }
            }
            Ok(languages)
        })
    }
}
