//! Reads stored pages from the index: the text of one page, its near-duplicates, and the
//! languages of all pages.

use std::collections::BTreeMap;

use page::PageId;
use tantivy::{DocAddress, TantivyError};

use super::duplicates::{group, is_near};
use super::stored::{StoredPage, place};
use super::{Index, IndexError, IndexedSection};

/// A page as it was last indexed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
        self.try_kept(id).map_err(|error| self.fail("read", error))
    }

    /// Returns the URLs of other pages with nearly the same text.
    pub fn duplicates(&self, id: PageId) -> Result<Vec<String>, IndexError> {
        self.try_duplicates(id)
            .map_err(|error| self.fail("read", error))
    }

    /// Returns how many pages are in each language. Removed pages count until their segment is
    /// merged.
    pub fn languages(&self) -> Result<BTreeMap<String, u64>, IndexError> {
        self.try_languages()
            .map_err(|error| self.fail("read", error))
    }

    fn try_kept(&self, id: PageId) -> Result<Option<IndexedPage>, TantivyError> {
        let searcher = self.reader.searcher();
        let Some(address) = place(&searcher, &self.fields, id)? else {
            return Ok(None);
        };
        let stored = StoredPage::read(&searcher, &self.fields, address)?;
        Ok(Some(IndexedPage {
            url: stored.url,
            title: stored.title,
            text: stored.body,
            rest: stored.rest,
            sections: stored.sections,
            in_links: stored.link_stats.in_links,
            language: stored.language,
            fetched_at: stored.fetched_at,
        }))
    }

    fn try_duplicates(&self, id: PageId) -> Result<Vec<String>, TantivyError> {
        let searcher = self.reader.searcher();
        let Some(address) = place(&searcher, &self.fields, id)? else {
            return Ok(Vec::new());
        };
        let page = StoredPage::read(&searcher, &self.fields, address)?;
        let mut hashes = vec![page.simhash];
        let mut addresses = vec![address];
        for (number, segment) in (0..).zip(searcher.segment_readers()) {
            let column = segment
                .fast_fields()
                .u64("simhash")?
                .first_or_default_col(0);
            for doc in segment.doc_ids_alive() {
                let (hash, other) = (column.get_val(doc), DocAddress::new(number, doc));
                if is_near(page.simhash, hash) && other != address {
                    hashes.push(hash);
                    addresses.push(other);
                }
            }
        }
        let groups = group(&hashes, |place| {
            StoredPage::read(&searcher, &self.fields, addresses[place]).map(|page| page.body)
        })?;
        let mut urls = Vec::new();
        for &place in &groups[0][1..] {
            urls.push(StoredPage::read(&searcher, &self.fields, addresses[place])?.url);
        }
        Ok(urls)
    }

    fn try_languages(&self) -> Result<BTreeMap<String, u64>, TantivyError> {
        let mut languages = BTreeMap::new();
        for segment in self.reader.searcher().segment_readers() {
            let inverted = segment.inverted_index(self.fields.language)?;
            let mut terms = inverted.terms().stream()?;
            while let Some((code, info)) = terms.next() {
                let code = String::from_utf8_lossy(code).into_owned();
                *languages.entry(code).or_default() += u64::from(info.doc_freq);
            }
        }
        Ok(languages)
    }
}
