//! What does the index keep of one page, and of all: its text as it was read, and the languages there are.

use std::collections::BTreeMap;

use page::PageId;
use tantivy::collector::TopDocs;
use tantivy::query::TermQuery;
use tantivy::schema::{IndexRecordOption, Term, Value};
use tantivy::{TantivyDocument, TantivyError};

use super::{Index, IndexError};

/// A page, as it was last put in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// Its URL.
    pub url: String,
    /// Its title; may be empty.
    pub title: String,
    /// Its readable text.
    pub text: String,
    /// The code of its language, if known.
    pub language: Option<String>,
    /// When it was fetched, in Unix seconds.
    pub fetched_at: i64,
}

impl Index {
    /// Looks a page up. Returns `None` if it is not in the index.
    pub fn kept(&self, id: PageId) -> Result<Option<Kept>, IndexError> {
        self.try_kept(id).map_err(|error| self.fail("read", error))
    }

    /// The languages of pages, and how many pages are in each; those of removed pages that were not merged away
    /// are counted too.
    pub fn languages(&self) -> Result<BTreeMap<String, u64>, IndexError> {
        self.try_languages()
            .map_err(|error| self.fail("read", error))
    }

    fn try_kept(&self, id: PageId) -> Result<Option<Kept>, TantivyError> {
        let searcher = self.reader.searcher();
        let term = Term::from_field_bytes(self.fields.id, &id.0.to_be_bytes());
        let named = TermQuery::new(term, IndexRecordOption::Basic);
        let found = searcher.search(&named, &TopDocs::with_limit(1).order_by_score())?;
        let Some((_, address)) = found.first() else {
            return Ok(None);
        };
        let document = searcher.doc::<TantivyDocument>(*address)?;
        let text = |field| document.get_first(field).and_then(|value| value.as_str());
        let owned = |field| text(field).unwrap_or_default().to_owned();
        let fields = &self.fields;
        let fetched_at = document.get_first(fields.fetched_at);
        Ok(Some(Kept {
            url: owned(fields.url),
            title: owned(fields.title),
            text: owned(fields.body),
            language: text(fields.language).map(str::to_owned),
            fetched_at: fetched_at
                .and_then(|value| value.as_i64())
                .unwrap_or_default(),
        }))
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
