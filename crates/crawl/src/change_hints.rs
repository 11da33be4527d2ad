//! Hints of sitemaps and feeds that a page of theirs has changed.
//!
//! A hint is a fact about the page, not a reason to fetch it: what the page is worth the policy says, from how often
//! the hints of this site were true. Whether a hint is news depends on the last visit to its page, which only the
//! ledger may have. So hints wait here, and a few hundred visits are loaded at a time.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use frontier::PageKey;
use page::PageId;
use policy::{History, Moment};

/// Visits that are loaded at a time.
const BATCH: usize = 256;

/// Hints whose pages were not looked up yet.
#[derive(Default)]
pub(crate) struct ChangeHints {
    waiting: VecDeque<(PageKey, Moment)>,
    /// Hints of pages whose visits are on their way; `outdated` if more has become known of a page since.
    loading: HashMap<PageId, Loading>,
}

struct Loading {
    key: PageKey,
    modified: Moment,
    outdated: bool,
}

impl ChangeHints {
    /// Takes in a hint.
    pub fn push(&mut self, key: PageKey, modified: Moment) {
        self.waiting.push_back((key, modified));
    }

    /// Takes the pages whose visits are to be loaded now; none while others are on their way.
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

    /// Takes the hint of a page whose visit was loaded; `None`: more has become known meanwhile, and the hint waits
    /// again.
    pub fn loaded(&mut self, page: PageId) -> Option<(PageKey, Moment)> {
        let loaded = self.loading.remove(&page)?;
        let hint = (loaded.key, loaded.modified);
        if loaded.outdated {
            self.waiting.push_back(hint);
            return None;
        }
        Some(hint)
    }

    /// Takes note that what is being loaded of a page may no longer be the last that is known. The hint stays until
    /// that has come: a page is not loaded twice at once.
    pub fn changed(&mut self, page: PageId) {
        if let Some(loading) = self.loading.get_mut(&page) {
            loading.outdated = true;
        }
    }

    /// Whether no hint waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.loading.is_empty()
    }
}

/// Returns whether a page is said to have changed since it was last asked for, and no hint has said so before.
pub(crate) fn is_news(page: &History, modified: Moment) -> bool {
    let unheard = page.signals.last.is_none_or(|last| last < modified);
    unheard && page.asked.is_some_and(|asked| asked < modified)
}

#[cfg(test)]
mod tests {
    use page::PageUrl;
    use policy::{Outcome, Visit};

    use super::*;

    #[test]
    fn only_what_is_new_is_news() {
        let at = Moment::from_micros;
        let unseen = History::discovered(at(1), 0);
        assert!(!is_news(&unseen, at(99)), "it is to be fetched anyway");
        let seen = unseen.after(Visit::new(at(10), Outcome::Changed));
        assert!(!is_news(&seen, at(10)) && is_news(&seen, at(11)));
        let told = seen.signalled(at(20));
        assert!(!is_news(&told, at(20)) && is_news(&told, at(21)));
    }

    #[test]
    fn visits_are_loaded_in_batches_and_again_if_they_changed_meanwhile() {
        let key = |number| {
            let url = format!("http://e.org/{number}");
            PageKey::of(&PageUrl::parse(&url).unwrap())
        };
        let mut hints = ChangeHints::default();
        for number in 0..BATCH as u64 + 1 {
            hints.push(key(number), Moment::from_micros(number));
        }
        // A second hint of a page that is loaded anyway: the later one counts.
        hints.waiting.push_front((key(0), Moment::from_micros(9)));
        let wanted = hints.take_wanted();
        assert_eq!(wanted.len(), BATCH);
        assert!(hints.take_wanted().is_empty(), "they are on their way");
        hints.changed(key(1).page);
        assert!(hints.take_wanted().is_empty(), "not twice at once");
        assert_eq!(hints.loaded(key(1).page), None, "it was visited meanwhile");
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
