//! What links say of the pages they lead to, on its way to the index.
//!
//! **Invariant:** memory is bounded by [`BYTES`]. What is here can be lost: it makes the index better, and nothing
//! relies on it.
//!
//! A page is put into the index with the words of the links that were found before it was fetched. Links that are
//! found later wait here. The committer adds them to the index every five minutes and at the end of a crawl, because
//! the index can add links to a page only by indexing the whole page again.

use std::collections::HashMap;

use anyhow::{Context, Result};
use crawl::InLink;
use ledger::Ledger;
use page::PageId;
use repository::index;

/// Memory for what is not in the index yet, in bytes.
const BYTES: usize = 32 << 20;

/// What a page costs beside the words, about, in bytes.
const OVERHEAD: usize = 96;

/// New links without new words after which the page is indexed again: 30 links raise its score by 7 %.
const MANY: u32 = 30;

/// Links to pages that the index has not been told of.
#[derive(Debug, Default)]
pub struct InLinks {
    pages: HashMap<PageId, Waiting>,
    bytes: usize,
}

/// What the index has not been told of a page.
#[derive(Debug, Default)]
pub struct Waiting {
    /// How many pages link to it.
    pub links: u32,
    /// The words of some of the links.
    pub words: Vec<String>,
    /// Whether the index was asked for the page and did not have it.
    absent: bool,
}

impl InLinks {
    /// All links that a ledger knows.
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

    /// Takes in a link.
    pub fn add(&mut self, link: InLink) {
        if self.bytes >= BYTES && !self.pages.contains_key(&link.to) {
            return;
        }
        let page = self.pages.entry(link.to).or_insert_with(|| {
            self.bytes += OVERHEAD;
            Waiting::default()
        });
        page.links += 1;
        if !link.words.is_empty() && self.bytes < BYTES && !page.words.contains(&link.words) {
            self.bytes += link.words.len() + size_of::<String>();
            page.words.push(link.words);
        }
    }

    /// Takes out what is known of a page that is put into the index now.
    pub fn take(&mut self, page: PageId) -> Waiting {
        let waiting = self.pages.remove(&page).unwrap_or_default();
        self.bytes -= waiting.bytes();
        waiting
    }

    /// Adds the waiting links to the pages that the index has. Returns the number of those pages.
    pub fn flush(&mut self, index: &mut index::Writer) -> Result<usize> {
        let mut told = Vec::new();
        for (&page, waiting) in &mut self.pages {
            if waiting.absent || waiting.words.is_empty() && waiting.links < MANY {
                continue;
            }
            let words: Vec<&str> = waiting.words.iter().map(String::as_str).collect();
            let added = index.add_links(page, &words, waiting.links);
            match added.context("cannot write the index")? {
                true => told.push(page),
                // `take` hands the links over when the page is put.
                false => waiting.absent = true,
            }
        }
        for page in &told {
            self.take(*page);
        }
        Ok(told.len())
    }
}

impl Waiting {
    fn bytes(&self) -> usize {
        if self.links == 0 {
            return 0;
        }
        let words = self.words.iter();
        OVERHEAD
            + words
                .map(|words| words.len() + size_of::<String>())
                .sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use repository::index::{Document, Index, Query};

    use super::*;

    fn link(to: u128, words: &str) -> InLink {
        InLink {
            to: PageId(to),
            words: words.into(),
        }
    }

    #[test]
    fn words_wait_until_their_page_is_put() {
        let mut links = InLinks::default();
        for words in ["wader", "", "wader", "bird"] {
            links.add(link(1, words));
        }
        let waiting = links.take(PageId(1));
        assert_eq!(
            (waiting.links, waiting.words),
            (4, vec!["wader".into(), "bird".into()])
        );
        assert_eq!((links.take(PageId(1)).links, links.bytes), (0, 0));
    }

    #[test]
    fn memory_is_bounded() {
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
    fn the_index_is_told_of_pages_that_it_has() {
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
        assert_eq!(links.flush(&mut writer).unwrap(), 0, "it was told");
        writer.commit(2).unwrap();
        let found = |text| {
            let query = Query {
                text,
                limit: 10,
                ..Query::default()
            };
            index.search(&query).unwrap().total
        };
        assert_eq!((found("wader"), found("avocet"), found("stilt")), (1, 1, 0));
        assert_eq!(links.take(PageId(2)).words, ["stilt"]);
    }
}
