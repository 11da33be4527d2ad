//! Hints of sitemaps and feeds that a page has changed.
//!
//! A hint is a fact about the page, not an order to fetch it. The policy computes the worth of
//! the page from how often earlier hints were right. Whether a hint is new depends on the last
//! visit to its page, which may only be in the ledger. So hints wait here, and the visits are
//! loaded in batches.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use frontier::PageKey;
use page::PageId;
use policy::{History, Moment};

/// Maximum number of visits that are loaded in one batch.
const BATCH: usize = 256;

/// Hints that wait for the last visits to their pages.
#[derive(Default)]
pub(crate) struct ChangeHints {
    waiting: VecDeque<(PageKey, Moment)>,
    /// Hints of pages whose visits are being loaded.
    loading: HashMap<PageId, Loading>,
}

struct Loading {
    key: PageKey,
    modified: Moment,
    outdated: bool,
}

impl ChangeHints {
    /// Adds a hint.
    pub fn push(&mut self, key: PageKey, modified: Moment) {
        self.waiting.push_back((key, modified));
    }

    /// Returns the next pages whose last visits are to be loaded, at most 256. Returns none while
    /// visits are being loaded.
    pub fn take_wanted(&mut self) -> Vec<PageKey> {
        let mut wanted = Vec::new();
        if !self.loading.is_empty() {
            return wanted;
        }
        while wanted.len() < BATCH
            && let Some((key, modified)) = self.waiting.pop_front()
        {
            match self.loading.entry(key.page) {
                Entry::Occupied(mut loading) => {
                    let latest = &mut loading.get_mut().modified;
                    *latest = modified.max(*latest);
                }
                Entry::Vacant(vacant) => {
                    vacant.insert(Loading {
                        key,
                        modified,
                        outdated: false,
                    });
                    wanted.push(key);
                }
            }
        }
        wanted
    }

    /// Takes the hint of a page whose last visit was loaded. If something new became known about
    /// the page during the load, returns `None`: the hint then waits for another load.
    pub fn loaded(&mut self, page: PageId) -> Option<(PageKey, Moment)> {
        let loaded = self.loading.remove(&page)?;
        let hint = (loaded.key, loaded.modified);
        if loaded.outdated {
            self.waiting.push_back(hint);
            return None;
        }
        Some(hint)
    }

    /// Marks a visit that is being loaded as outdated. The hint stays until the load has
    /// finished, so that a page is not loaded twice at once.
    pub fn changed(&mut self, page: PageId) {
        if let Some(loading) = self.loading.get_mut(&page) {
            loading.outdated = true;
        }
    }

    /// Returns whether there are no hints, neither waiting nor with a load under way.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.loading.is_empty()
    }
}

/// Returns whether a hint is new: `modified` is later than the last visit and the last hint. A hint
/// is never new for an unvisited page, which is to be fetched anyway.
pub(crate) fn is_news(page: &History, modified: Moment) -> bool {
    let newest = page.signals.last.is_none_or(|last| last < modified);
    newest && page.asked.is_some_and(|asked| asked < modified)
}

#[cfg(test)]
mod tests {
    use page::PageUrl;
    use policy::{Outcome, Visit};

    use super::*;

    #[test]
    fn a_hint_is_new_only_after_the_last_visit_and_hint() {
        let at = Moment::from_micros;
        let unseen = History::discovered(at(1), 0);
        assert!(!is_news(&unseen, at(99)), "it is to be fetched anyway");
        let seen = unseen.after(Visit::new(at(10), Outcome::Changed));
        assert!(!is_news(&seen, at(10)) && is_news(&seen, at(11)));
        let told = seen.signalled(at(20));
        assert!(!is_news(&told, at(20)) && is_news(&told, at(21)));
    }

    #[test]
    fn visits_are_loaded_in_batches_and_again_if_they_changed_during_the_load() {
        let key = |number| {
            let url = format!("http://e.org/{number}");
            PageKey::of(&PageUrl::parse(&url).unwrap())
        };
        let mut hints = ChangeHints::default();
        for number in 0..BATCH as u64 + 1 {
            hints.push(key(number), Moment::from_micros(number));
        }
        // A second hint for a page that is loaded anyway: the later one counts.
        hints.waiting.push_front((key(0), Moment::from_micros(9)));
        let wanted = hints.take_wanted();
        assert_eq!(wanted.len(), BATCH);
        assert!(
            hints.take_wanted().is_empty(),
            "the visits are being loaded"
        );
        hints.changed(key(1).page);
        assert!(
            hints.take_wanted().is_empty(),
            "no visit is loaded twice at once"
        );
        assert_eq!(
            hints.loaded(key(1).page),
            None,
            "the page was visited during the load"
        );
        let latest = Some((key(0), Moment::from_micros(9)));
        assert_eq!(hints.loaded(key(0).page), latest);
        for key in wanted {
            hints.loaded(key.page);
        }
        assert!(!hints.is_empty());
        let rest = hints.take_wanted();
        assert!(rest.contains(&key(1)) && rest.len() <= 2, "{rest:?}");
    }
}
