//! Links, with their anchor texts, that are not in the index yet.
//!
//! A page is indexed with the anchor texts of the links that were found before it was fetched.
//! Links that are found later are collected here. The committer adds them to the index every five
//! minutes and at the end of a crawl, because the index can add links only by indexing the whole
//! page again.
//!
//! **Invariant:** memory is bounded by [`BYTES`]. These links may be lost: they improve the
//! ranking, and nothing relies on them.

use std::collections::HashMap;

use anyhow::{Context, Result};
use crawl::InLink;
use ledger::Ledger;
use page::PageId;
use repository::index::{self, AddedLinks};

/// Memory for links that are not in the index yet, in bytes.
const BYTES: usize = 32 << 20;

/// The approximate memory per page besides the anchor texts, in bytes.
const OVERHEAD: usize = 96;

/// New links without new anchor text are offered to the index only from this number on: the first
/// 30 links to a page raise its score by about 7 %.
const MANY: u32 = 30;

/// Links that are not in the index yet, by target page.
#[derive(Debug, Default)]
pub struct InLinks {
    pages: HashMap<PageId, PendingLinks>,
    bytes: usize,
}

/// The links to one page that are not in the index yet.
#[derive(Debug, Default)]
pub struct PendingLinks {
    /// The number of links.
    pub links: u32,
    /// The anchor texts of some of the links, without repetition.
    pub words: Vec<String>,
    /// Whether the page was looked up in the index and was not there.
    absent: bool,
    /// If the index refused the links: the number of links from which on they are offered again.
    enough: Option<u32>,
}

impl InLinks {
    /// Reads the links of a ledger, as far as they fit into the memory.
    pub fn all(ledger: &Ledger) -> Result<Self> {
        let mut pages: Vec<PageId> = Vec::new();
        for known in ledger.scan() {
            let known = known?;
            let place = known.discovery.order as usize;
            pages.resize(pages.len().max(place + 1), PageId(0));
            pages[place] = known.key.page;
        }
        let mut links = Self::default();
        for of_page in ledger.all_links() {
            let (_, kept) = of_page?;
            for (to, words) in kept.links() {
                if let Some(&to) = pages.get(to as usize) {
                    let words = words.to_owned();
                    links.add(InLink { to, words });
                }
            }
        }
        Ok(links)
    }

    /// Adds a link. When the memory is full, drops its anchor text, and drops the whole link if its
    /// page has no other links here.
    pub fn add(&mut self, link: InLink) {
        if self.bytes >= BYTES && !self.pages.contains_key(&link.to) {
            return;
        }
        let page = self.pages.entry(link.to).or_insert_with(|| {
            self.bytes += OVERHEAD;
            PendingLinks::default()
        });
        page.links += 1;
        if !link.words.is_empty() && self.bytes < BYTES && !page.words.contains(&link.words) {
            self.bytes += link.words.len() + size_of::<String>();
            page.words.push(link.words);
        }
    }

    /// Removes and returns the links to a page that is being indexed.
    pub fn take(&mut self, page: PageId) -> PendingLinks {
        let pending = self.pages.remove(&page).unwrap_or_default();
        self.bytes -= pending.bytes();
        pending
    }

    /// Offers pending links to the index, which indexes their pages again. Returns the number of
    /// these pages. The links to a page are offered if they have new anchor text, or are at least
    /// 30. Links that the index refuses, because they would hardly change the score, stay pending.
    /// They are offered again when more links are found.
    pub fn flush(&mut self, index: &mut index::PageIndexWriter) -> Result<usize> {
        let mut updated = Vec::new();
        for (&page, pending) in &mut self.pages {
            let enough = pending.enough.unwrap_or(MANY);
            if pending.absent || pending.words.is_empty() && pending.links < enough {
                continue;
            }
            let words: Vec<&str> = pending.words.iter().map(String::as_str).collect();
            let added = index.add_links(page, &words, pending.links);
            match added.context("cannot write the index")? {
                AddedLinks::Added => updated.push(page),
                // The index has all words of the anchor texts.
                AddedLinks::TooFew { enough } => {
                    pending.enough = Some(enough);
                    self.bytes -= pending.forget_words();
                }
                // `take` returns the links when the page is indexed.
                AddedLinks::NoPage => pending.absent = true,
            }
        }
        for page in &updated {
            self.take(*page);
        }
        Ok(updated.len())
    }
}

impl PendingLinks {
    fn bytes(&self) -> usize {
        if self.links == 0 {
            return 0;
        }
        OVERHEAD + self.word_bytes()
    }

    fn word_bytes(&self) -> usize {
        let words = self.words.iter();
        words.map(|words| words.len() + size_of::<String>()).sum()
    }

    /// Removes the anchor texts. Returns their memory in bytes.
    fn forget_words(&mut self) -> usize {
        let bytes = self.word_bytes();
        self.words = Vec::new();
        bytes
    }
}

#[cfg(test)]
mod tests {
    use repository::index::{Document, Index, SearchQuery};

    use super::*;

    fn link(to: u128, words: &str) -> InLink {
        InLink {
            to: PageId(to),
            words: words.into(),
        }
    }

    #[test]
    fn anchor_texts_are_kept_until_their_page_is_indexed() {
        let mut links = InLinks::default();
        for words in ["wader", "", "wader", "bird"] {
            links.add(link(1, words));
        }
        let pending = links.take(PageId(1));
        assert_eq!(
            (pending.links, pending.words),
            (4, vec!["wader".into(), "bird".into()])
        );
        assert_eq!((links.take(PageId(1)).links, links.bytes), (0, 0));
    }

    #[test]
    fn memory_of_pending_links_is_bounded() {
        let mut links = InLinks::default();
        for page in 0..BYTES as u128 / 100 {
            links.add(link(page, &format!("the words of a link to page {page}")));
        }
        assert!(links.bytes < BYTES + 1000 && links.pages.len() > 100_000);
        links.add(link(0, ""));
        assert_eq!(
            links.take(PageId(0)).links,
            2,
            "links to known pages still count"
        );
    }

    #[test]
    fn links_are_added_to_pages_that_the_index_has() {
        let dir = tempfile::tempdir().unwrap();
        let index = Index::open(dir.path()).unwrap();
        let mut writer = index.writer(15_000_000).unwrap();
        let page = Document {
            title: "Avocet",
            ..Document::new(PageId(1), "http://a.example/1", "a.example")
        };
        writer.put(&page).unwrap();
        writer.commit(1).unwrap();
        let mut links = InLinks::default();
        links.add(link(1, "wader"));
        links.add(link(2, "stilt"));
        assert_eq!(links.flush(&mut writer).unwrap(), 1);
        assert_eq!(links.flush(&mut writer).unwrap(), 0, "already added");
        writer.commit(2).unwrap();
        let found = |text| {
            let query = SearchQuery {
                text,
                limit: 10,
                ..SearchQuery::default()
            };
            index.search(&query).unwrap().total
        };
        assert_eq!((found("wader"), found("avocet"), found("stilt")), (1, 1, 0));
        assert_eq!(links.take(PageId(2)).words, ["stilt"]);
    }

    #[test]
    fn links_that_the_index_refuses_count_when_more_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let index = Index::open(dir.path()).unwrap();
        let mut writer = index.writer(15_000_000).unwrap();
        let page = Document {
            title: "Avocet",
            in_links: 100,
            ..Document::new(PageId(1), "http://a.example/1", "a.example")
        };
        writer.put(&page).unwrap();
        writer.commit(1).unwrap();
        let mut links = InLinks::default();
        let mut updates = Vec::new();
        for _ in 0..4 {
            (0..40).for_each(|_| links.add(link(1, "avocet")));
            updates.push(links.flush(&mut writer).unwrap());
        }
        assert_eq!(updates, [0, 0, 1, 0], "120 links more than double 100");
        let rest = links.take(PageId(1));
        assert_eq!((rest.links, links.bytes), (40, 0));
    }
}
