//! The text of a page, from the archive or else from the index. In a cluster, another node may have
//! it.

use anyhow::Result;
use frontier::Visited;
use jiff::Timestamp;
use page::PageUrl;
use repository::index::{Index, IndexedPage};
use serde::{Deserialize, Serialize};

use crate::page_freshness::PageFreshness;
use crate::readable::{self, Readable};
use crate::store;

/// A page with its text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PageText {
    /// The normalized URL.
    pub url: String,
    /// The title; may be empty.
    pub title: String,
    /// The code of the language, if known.
    pub language: Option<String>,
    /// When this copy was fetched.
    pub fetched_at: Option<String>,
    /// When a visit last found the copy current, if that is known.
    pub checked_at: Option<String>,
    /// Mean hours between changes, if a change was seen.
    pub changes_every_hours: Option<f64>,
    /// The main text as plain text; without Markdown, the text in the index.
    pub text: String,
    /// The main text as Markdown; `None` if the archive has no copy, or cannot be asked now.
    pub markdown: Option<String>,
    /// How the main text was found; `None` without Markdown.
    pub extraction: Option<String>,
    /// Why the extraction failed, if it did.
    pub extraction_reason: Option<String>,
    /// The page in the index, with its sections.
    pub indexed: Option<IndexedPage>,
}

impl PageText {
    /// Reads a page of the store at `root`. `visited` is the record of its last visit, if the
    /// ledger can be asked now. Returns `None` if neither archive nor index has the page.
    pub fn read(
        root: &std::path::Path,
        index: &Index,
        url: &PageUrl,
        visited: Option<&Visited>,
    ) -> Result<Option<Self>> {
        let freshness = visited.map(PageFreshness::of);
        let indexed = index.kept(url.id())?;
        let archive = store::archive(root);
        let archived = match visited {
            Some(visited) => readable::read(&archive, url.as_str(), visited)?,
            None => None,
        };
        let page = match (archived, &indexed) {
            (Some(page), _) => Self::of_archive(page),
            (None, Some(page)) => Self::of_index(page),
            (None, None) => return Ok(None),
        };
        Ok(Some(Self {
            checked_at: freshness.and_then(|known| known.checked.map(|at| at.to_string())),
            changes_every_hours: freshness.and_then(|known| known.pace.hours()),
            indexed,
            ..page
        }))
    }

    fn of_archive(page: Readable) -> Self {
        Self {
            url: page.url,
            title: page.title,
            language: page.language,
            fetched_at: page.fetched_at,
            text: page.text,
            markdown: Some(page.markdown),
            extraction: Some(page.extraction.to_owned()),
            extraction_reason: page.extraction_reason.map(str::to_owned),
            ..Self::default()
        }
    }

    fn of_index(page: &IndexedPage) -> Self {
        let fetched = Timestamp::from_second(page.fetched_at).ok();
        Self {
            url: page.url.clone(),
            title: page.title.clone(),
            language: page.language.clone(),
            fetched_at: fetched.map(|at| at.to_string()),
            text: page.text.clone(),
            ..Self::default()
        }
    }

    /// Cuts texts so that all of them together have at most `limit` bytes. The text in the index,
    /// with the sections, goes first.
    pub fn cut(&mut self, limit: usize) {
        let main = |page: &Self| page.text.len() + page.markdown.as_ref().map_or(0, String::len);
        let indexed = self.indexed.as_ref();
        let indexed = indexed.map_or(0, |page| page.text.len() + page.rest.len());
        if main(self) + indexed > limit {
            self.indexed = None;
        }
        if main(self) > limit {
            truncate(&mut self.text, limit / 2);
            if let Some(text) = &mut self.markdown {
                truncate(text, limit / 2);
            }
        }
    }
}

fn truncate(text: &mut String, limit: usize) {
    let mut bounds = (0..=limit.min(text.len())).rev();
    let bound = bounds.find(|at| text.is_char_boundary(*at));
    text.truncate(bound.unwrap_or(0));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        let page = PageText {
            text: "äöü".repeat(10),
            markdown: Some("# äöü".repeat(10)),
            indexed: Some(IndexedPage {
                text: "x".repeat(50),
                ..IndexedPage::default()
            }),
            ..PageText::default()
        };
        let size = page.text.len() + page.markdown.as_ref().unwrap().len();
        let cut = |limit| {
            let mut page = page.clone();
            page.cut(limit);
            page
        };
        assert_eq!(cut(size + 50), page);
        let without = cut(size + 49);
        assert_eq!((without.indexed, without.text), (None, page.text.clone()));
        let short = cut(21);
        assert_eq!(short.text, "äöüäö");
        assert!(short.markdown.unwrap().len() <= 10);
    }
}
