//! The number of sources that suffice to find most new pages, computed from the ledger.
//!
//! A page is new if its link appeared on a page that had been read before. The ledger stores
//! which page named it first, and which pages linked to it when they were last read. A link that
//! appeared and disappeared on another page is not stored. The true number of sources may
//! therefore be lower.

use std::collections::HashMap;

use anyhow::Result;
use ledger::Ledger;
use page::PageId;
use policy::source;
use serde::{Deserialize, Serialize};

/// The share of new pages to cover, as in Lefortier et al. (2013), section 3.1.
const SHARE: f64 = 0.8;

/// How few sources name 80 % of the new pages.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceCover {
    /// Number of new pages: their links appeared on a page that had been read before.
    pub new_pages: usize,
    /// Number of pages that name at least one new page.
    pub sources: usize,
    /// Number of these sources, chosen greedily, that together name 80 % of the new pages.
    pub for_80_percent: usize,
}

impl SourceCover {
    /// Computes the cover from all facts of a ledger.
    pub fn of(ledger: &Ledger) -> Result<Self> {
        let mut naming: HashMap<PageId, Vec<u32>> = HashMap::new();
        // Maps the discovery number of each new page to its position among the new pages.
        let mut new: HashMap<u32, u32> = HashMap::new();
        for known in ledger.scan() {
            let discovery = known?.discovery;
            let on = discovery.source.filter(|_| discovery.absent.is_some());
            if let (Some(on), Ok(order)) = (on, u32::try_from(discovery.order)) {
                let place = new.len() as u32;
                new.insert(order, place);
                naming.entry(on).or_default().push(place);
            }
        }
        for links in ledger.all_links() {
            let (key, links) = links?;
            let places = links.links().filter_map(|(order, _)| new.get(&order));
            let places: Vec<u32> = places.copied().collect();
            if !places.is_empty() {
                naming.entry(key.page).or_default().extend(places);
            }
        }
        let mut naming: Vec<(PageId, Vec<u32>)> = naming.into_iter().collect();
        // Ties are broken by position, which must not depend on the hash order.
        naming.sort_unstable_by_key(|(page, _)| *page);
        let named: Vec<Vec<u32>> = naming.into_iter().map(|(_, named)| named).collect();
        Ok(Self {
            new_pages: new.len(),
            sources: named.len(),
            for_80_percent: source::Cover::of(&named).sources_for(SHARE),
        })
    }
}
