//! How few pages name most of what is new, by what the ledger says?
//!
//! New is what appeared on a page that had been read before. The ledger knows who named such a page first, and which pages linked to it when they were last read; a link that
//! came and went on another page is forgotten, so with more polls fewer pages might do.

use std::collections::HashMap;

use anyhow::Result;
use ledger::Ledger;
use page::PageId;
use policy::source;
use serde::{Deserialize, Serialize};

/// The share of new pages that the report asks for, as the paper's §3.1 does.
const SHARE: f64 = 0.8;

/// How many pages reach most new ones.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cover {
    /// Pages that were new on a page that had been read before.
    pub new_pages: usize,
    /// Pages that name at least one of them.
    pub sources: usize,
    /// How many of these, taken greedily, name 80%.
    pub for_80_percent: usize,
}

impl Cover {
    /// By all facts of a ledger.
    pub fn of(ledger: &Ledger) -> Result<Self> {
        let mut naming: HashMap<PageId, Vec<u32>> = HashMap::new();
        // What is new, by order of discovery, and its place among what is new.
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
        // Of equals the first is taken, which should not be an accident of hashing.
        naming.sort_unstable_by_key(|(page, _)| *page);
        let named: Vec<Vec<u32>> = naming.into_iter().map(|(_, named)| named).collect();
        Ok(Self {
            new_pages: new.len(),
            sources: named.len(),
            for_80_percent: source::Cover::of(&named).sources_for(SHARE),
        })
    }
}
