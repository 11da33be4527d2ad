//! What was the last copy of a page?
//!
//! **Invariant:** a page put or removed since the last commit is answered from memory, every other from the text
//! that the index keeps. So memory has the texts of one commit, as the index's writer has them until then.

use std::collections::{BTreeMap, HashMap};

use page::PageId;
use tantivy::schema::{Field, IndexRecordOption, OwnedValue, Term};
use tantivy::{DocAddress, DocSet, Searcher, TERMINATED, TantivyError};

use super::super::schema::Fields;
use super::Texts;

/// A copy of a page.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct Copy {
    title: String,
    body: String,
    url: String,
    /// Where the index has it, if it is committed.
    pub(super) place: Option<DocAddress>,
}

impl Copy {
    pub(in super::super) fn texts(&self) -> Texts<'_> {
        Texts {
            title: &self.title,
            body: &self.body,
            url: &self.url,
        }
    }
}

/// The last copies of all pages.
pub(super) struct Copies {
    fields: Fields,
    /// Those that are not committed. `None`: the page was removed.
    recent: HashMap<PageId, Option<Copy>>,
}

impl Copies {
    pub(super) fn new(fields: &Fields) -> Self {
        Self {
            fields: *fields,
            recent: HashMap::new(),
        }
    }

    /// Takes the last copy of a page, to be followed by another or by none. Returns `None` if there is no such page.
    pub(super) fn take(
        &mut self,
        page: PageId,
        committed: &Searcher,
    ) -> Result<Option<Copy>, TantivyError> {
        if let Some(copy) = self.recent.remove(&page) {
            return Ok(copy);
        }
        let Some(place) = self.place(page, committed)? else {
            return Ok(None);
        };
        let mut stored: BTreeMap<Field, OwnedValue> = committed.doc(place)?;
        let mut text = |field| match stored.remove(&field) {
            Some(OwnedValue::Str(text)) => text,
            _ => String::new(),
        };
        Ok(Some(Copy {
            title: text(self.fields.title),
            body: text(self.fields.body),
            url: text(self.fields.url),
            place: Some(place),
        }))
    }

    /// Keeps what was put in place of the last copy, or that the page was removed.
    pub(super) fn keep(&mut self, page: PageId, texts: Option<Texts<'_>>) {
        let copy = texts.map(|texts| Copy {
            title: texts.title.into(),
            body: texts.body.into(),
            url: texts.url.into(),
            place: None,
        });
        self.recent.insert(page, copy);
    }

    /// The index has everything so far.
    pub(super) fn committed(&mut self) {
        self.recent.clear();
    }

    /// Where the index has a page.
    fn place(
        &self,
        page: PageId,
        committed: &Searcher,
    ) -> Result<Option<DocAddress>, TantivyError> {
        let id = Term::from_field_bytes(self.fields.id, &page.0.to_be_bytes());
        for (number, segment) in (0..).zip(committed.segment_readers()) {
            let inverted = segment.inverted_index(self.fields.id)?;
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
}
