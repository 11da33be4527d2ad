//! Counts of the contents of a store, from its ledger.

use std::collections::{BTreeMap, HashSet};

use ledger::{Ledger, LedgerError};
use serde::Serialize;

/// Counts of the contents of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Holdings {
    /// URLs that the store knows, visited or not.
    pub urls_seen: u64,
    /// Pages with a copy.
    pub pages: u64,
    /// URLs that were never visited.
    pub queued: u64,
    /// Hosts of the known URLs.
    pub hosts: u64,
    /// Pages whose last visit had an error, by error code.
    pub errors: BTreeMap<String, u64>,
}

impl Holdings {
    /// Counts with one scan of the ledger.
    pub fn of(ledger: &Ledger) -> Result<Self, LedgerError> {
        let mut holdings = Self::default();
        let mut hosts = HashSet::new();
        for known in ledger.scan() {
            let known = known?;
            holdings.urls_seen += 1;
            hosts.insert(known.key.page.host());
            match known.visited {
                None => holdings.queued += 1,
                Some(visited) => {
                    holdings.pages += u64::from(visited.copy.is_some());
                    if let Some(error) = visited.error {
                        *holdings.errors.entry(error).or_default() += 1;
                    }
                }
            }
        }
        holdings.hosts = hosts.len() as u64;
        Ok(holdings)
    }
}
