//! The discoveries of unvisited pages that are in memory.
//!
//! A claim that finds its URL here needs no read of the disk and no parsing. Discoveries stay until
//! they are in the ledger, and then while all of them take at most 8 MiB.
//!
//! The pages are spread over several hash tables of pointers, because a table moves all its entries
//! when it grows. Before a commit there can be a million pages here, those of 20 sitemaps.

use std::collections::HashMap;

use page::{PageId, PageUrl};

use crate::record::{Discovery, Entry};

/// Limit in bytes on the discoveries that stay in memory although the ledger has them.
const REMEMBERED: usize = 8 << 20;
/// Memory cost of a discovery in addition to its URL as text, in bytes.
const OVERHEAD: usize = size_of::<RecentPage>() + 48;
/// Number of hash tables.
const SHARDS: usize = 256;

/// Discoveries in memory.
pub(super) struct RecentPages {
    shards: Vec<HashMap<PageId, Box<RecentPage>>>,
    bytes: usize,
}

/// A page that was discovered and not visited yet.
pub(super) struct RecentPage {
    pub url: PageUrl,
    pub discovery: Discovery,
}

impl RecentPage {
    /// Returns the memory that it takes, in bytes. The URL is stored twice, once as text.
    fn bytes(&self) -> usize {
        2 * self.discovery.url.len() + OVERHEAD
    }
}

impl Default for RecentPages {
    fn default() -> Self {
        Self {
            shards: (0..SHARDS).map(|_| HashMap::new()).collect(),
            bytes: 0,
        }
    }
}

impl RecentPages {
    pub fn insert(&mut self, page: PageId, recent: RecentPage) {
        self.bytes += recent.bytes();
        self.shards[shard(page)].insert(page, Box::new(recent));
    }

    pub fn get(&self, page: PageId) -> Option<&RecentPage> {
        self.shards[shard(page)].get(&page).map(Box::as_ref)
    }

    pub fn remove(&mut self, page: PageId) {
        if let Some(recent) = self.shards[shard(page)].remove(&page) {
            self.bytes -= recent.bytes();
        }
    }

    /// Removes discoveries that are now in the ledger, while all take more than 8 MiB.
    pub fn committed(&mut self, entries: &[Entry]) {
        for entry in entries {
            if self.bytes <= REMEMBERED {
                return;
            }
            if let Entry::Admitted(key, _) = entry {
                self.remove(key.page);
            }
        }
    }
}

fn shard(page: PageId) -> usize {
    page.within_host() as usize % SHARDS
}
