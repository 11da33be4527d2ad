//! The links from a page and to it.

use std::path::Path;

use anyhow::Result;
use frontier::{PageKey, Visited};
use ledger::LedgerReader;
use page::PageUrl;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::readable;

/// The links of one page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PageLinks {
    /// The links of its copy, in the order of the page.
    pub from_it: Vec<PageLink>,
    /// The number of these links, with those that are not listed.
    pub from_it_total: usize,
    /// Pages that link to it.
    pub to_it: Vec<PageLink>,
    /// The number of these pages, with those that are not listed.
    pub to_it_total: usize,
}

/// A link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PageLink {
    /// The page at the other end.
    pub url: String,
    /// The text of the link; may be empty.
    pub anchor: String,
}

impl PageLinks {
    /// Reads the links of a page, at most `most` in each direction. Reads the links of all pages.
    /// Returns `None` if the ledger does not know the page.
    pub fn read(
        ledger: &LedgerReader,
        archive: &Path,
        url: &PageUrl,
        most: usize,
    ) -> Result<Option<Self>> {
        let Some(known) = ledger.discovery(PageKey::of(url))? else {
            return Ok(None);
        };
        let mut links = Self::default();
        if let Some(visited) = ledger.visited(PageKey::of(url))? {
            links.add_of_copy(archive, url, &visited, most)?;
        }
        for source in ledger.all_links() {
            let (source, out) = source?;
            let mut targets = out.links();
            let Some((_, anchor)) = targets.find(|(to, _)| u64::from(*to) == known.order) else {
                continue;
            };
            links.to_it_total += 1;
            if links.to_it.len() < most
                && let Some(source) = ledger.discovery(source)?
            {
                links.to_it.push(PageLink {
                    url: source.url,
                    anchor: anchor.to_owned(),
                });
            }
        }
        Ok(Some(links))
    }

    fn add_of_copy(
        &mut self,
        archive: &Path,
        url: &PageUrl,
        visited: &Visited,
        most: usize,
    ) -> Result<()> {
        let Some((url, html)) = readable::html(archive, url.as_str(), visited)? else {
            return Ok(());
        };
        let reading = page::read(&html, &url, &page::ReadLimits::default());
        self.from_it_total = reading.links.len();
        let listed = reading.links.iter().take(most).map(|link| PageLink {
            url: link.url.as_str().to_owned(),
            anchor: reading.anchor(link).to_owned(),
        });
        self.from_it = listed.collect();
        Ok(())
    }
}
