//! Histories that a choice depends on and that only the ledger has.
//!
//! The frontier does not read from disk. A choice that needs the history of a visited page
//! names the page ([`Frontier::wanted`](super::Frontier::wanted)). The choice is made again
//! when the caller has [provided](super::Frontier::bring) the history.
//!
//! **Invariant:** a history is not requested again while it is being loaded. A visit or hint in
//! the meantime gives a newer history than the one being loaded. The newer one is used and
//! stays until the load has finished. If it were dropped before, the next choice would request
//! the page a second time and take the first, older answer.
//!
//! Histories are loaded in groups, of which a choice may use only the first. Up to [`KEPT`] stay
//! for the next choices, so that each is read from the ledger once. Every later visit or hint
//! replaces them.

use std::collections::{HashMap, HashSet};

use policy::{History, Number};

use crate::record::PageKey;

/// Maximum number of loaded histories that stay after a choice: those of 16 groups of 4 early
/// pages, 12 KB.
const KEPT: usize = 64;

/// Histories loaded for the current choice or an earlier one, and those being loaded.
#[derive(Default)]
pub(super) struct LoadedHistories {
    /// The loaded histories; `None`: the ledger has no record of the page.
    loaded: HashMap<Number, Option<History>>,
    loading: HashSet<Number>,
    wanted: Vec<PageKey>,
}

/// The history of a page, as far as it is in memory.
#[expect(
    clippy::large_enum_variant,
    reason = "it lives on the stack, for a moment"
)]
pub(super) enum PageHistory {
    /// Its history.
    Known(History),
    /// The ledger has no record of the page.
    NoRecord,
    /// The history is not loaded.
    Absent,
}

impl LoadedHistories {
    /// Returns the history of a page, if it is loaded.
    pub fn get(&self, page: Number) -> PageHistory {
        match self.loaded.get(&page) {
            Some(Some(history)) => PageHistory::Known(*history),
            Some(None) => PageHistory::NoRecord,
            None => PageHistory::Absent,
        }
    }

    /// Requests the history of a page, unless it is loaded or being loaded.
    pub fn want(&mut self, page: Number, key: PageKey) {
        if !self.loaded.contains_key(&page) && self.loading.insert(page) {
            self.wanted.push(key);
        }
    }

    /// Takes the list of pages whose histories are to be loaded.
    pub fn take_wanted(&mut self) -> Vec<PageKey> {
        std::mem::take(&mut self.wanted)
    }

    /// Takes in a history that was requested; `None`: the ledger has no record of the page.
    pub fn bring(&mut self, page: Number, history: Option<History>) {
        if self.loading.remove(&page) {
            self.loaded.entry(page).or_insert(history);
        }
    }

    /// Takes in a newer history of a page that was requested.
    pub fn learn(&mut self, page: Number, history: &History) {
        if self.loading.contains(&page) || self.loaded.contains_key(&page) {
            self.loaded.insert(page, Some(*history));
        }
    }

    /// Returns whether a history is being loaded for which no newer one is known.
    pub fn are_awaited(&self) -> bool {
        let mut pages = self.loading.iter();
        pages.any(|page| !self.loaded.contains_key(page))
    }

    /// Drops loaded histories after a choice: all if there are more than [`KEPT`], otherwise those
    /// of pages without a record in the ledger. Keeps those of pages that are still being loaded.
    pub fn forget(&mut self) {
        let Self {
            loaded, loading, ..
        } = self;
        let few = loaded.len() <= KEPT;
        loaded.retain(|page, history| loading.contains(page) || few && history.is_some());
    }
}

#[cfg(test)]
mod tests {
    use page::PageUrl;
    use policy::Moment;

    use super::*;

    fn history(depth: u16) -> History {
        History::discovered(Moment::START, depth)
    }

    fn depth(histories: &LoadedHistories, page: Number) -> Option<u16> {
        match histories.get(page) {
            PageHistory::Known(history) => Some(history.depth),
            PageHistory::NoRecord | PageHistory::Absent => None,
        }
    }

    #[test]
    fn a_history_is_requested_once_and_a_newer_one_is_kept() {
        let mut histories = LoadedHistories::default();
        let key = PageKey::of(&PageUrl::parse("http://e.org/").unwrap());
        let page = Number(7);
        histories.want(page, key);
        histories.want(page, key);
        assert_eq!(histories.take_wanted(), [key]);
        histories.want(page, key);
        assert!(histories.take_wanted().is_empty(), "it is being loaded");
        assert!(histories.are_awaited());
        histories.learn(page, &history(2));
        assert!(!histories.are_awaited(), "a newer one is known");
        histories.forget();
        histories.want(page, key);
        assert!(histories.take_wanted().is_empty(), "it is being loaded");
        assert_eq!(depth(&histories, page), Some(2), "for the next choice");
        histories.learn(page, &history(3));
        histories.bring(page, Some(history(1)));
        assert_eq!(depth(&histories, page), Some(3), "what was read is older");
        histories.want(page, key);
        assert!(histories.take_wanted().is_empty(), "it is loaded");
        histories.forget();
        assert_eq!(depth(&histories, page), Some(3), "for later choices");
        for other in 8..8 + KEPT as u32 {
            histories.want(Number(other), key);
            histories.bring(Number(other), Some(history(1)));
        }
        histories.take_wanted();
        histories.forget();
        assert!(matches!(histories.get(page), PageHistory::Absent));
        histories.learn(page, &history(4));
        histories.bring(page, Some(history(4)));
        assert!(
            matches!(histories.get(page), PageHistory::Absent),
            "it was not requested"
        );
        histories.want(page, key);
        histories.bring(page, None);
        assert!(matches!(histories.get(page), PageHistory::NoRecord));
        histories.forget();
        assert!(
            matches!(histories.get(page), PageHistory::Absent),
            "the ledger may have a record later"
        );
    }
}
