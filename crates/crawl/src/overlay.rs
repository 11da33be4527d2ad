//! Write-behind cache of page records that are not in the ledger yet.
//!
//! **Invariant:** a record is here from the settlement of a visit, or the arrival of a hint,
//! until the visit and all hints are in the ledger. A hint often causes a visit before the hint
//! is committed. That visit finds the hint here, so its result counts the hint as right or wrong.

use std::collections::HashMap;

use frontier::{Discovery, Entry, Visited};
use page::PageId;
use policy::{History, Moment};

/// Records that are not in the ledger yet.
#[derive(Default)]
pub struct Overlay(HashMap<PageId, Uncommitted>);

/// A record and the discovery of its page, which may be uncommitted too.
struct Uncommitted {
    visited: Visited,
    discovery: Option<Discovery>,
}

impl Overlay {
    /// Returns the record of a page; `None`: only the ledger may have one.
    pub fn get(&self, page: PageId) -> Option<&Visited> {
        self.0.get(&page).map(|known| &known.visited)
    }

    /// Returns the discovery of a page, if a visit stored it here. A record that a hint created has
    /// none.
    pub fn discovery(&self, page: PageId) -> Option<&Discovery> {
        self.0.get(&page)?.discovery.as_ref()
    }

    /// Returns the history of a page; `None`: only the ledger may have one.
    pub fn history(&self, page: PageId) -> Option<History> {
        self.get(page).map(|visited| visited.history)
    }

    /// Stores the result of a visit.
    pub fn visit(&mut self, page: PageId, visited: Visited, discovery: Discovery) {
        let discovery = Some(discovery);
        self.0.insert(page, Uncommitted { visited, discovery });
    }

    /// Stores a record with a new hint, for a page that was visited before.
    pub fn signal(&mut self, page: PageId, visited: Visited) {
        let before = self.0.remove(&page);
        let discovery = before.and_then(|before| before.discovery);
        self.0.insert(page, Uncommitted { visited, discovery });
    }

    /// Takes in a committed fact. Removes the record of its page if the ledger now has the visit
    /// and all hints of the record.
    pub fn committed(&mut self, entry: &Entry) {
        match entry {
            Entry::Visited(key, visited) => self.visit_committed(key.page, visited),
            Entry::Signalled(key, at) => self.signal_committed(key.page, *at),
            _ => {}
        }
    }

    fn visit_committed(&mut self, page: PageId, visited: &Visited) {
        let Some(ours) = self.0.get_mut(&page) else {
            return;
        };
        let ours = &mut ours.visited;
        if ours.history.asked != visited.history.asked {
            return;
        }
        let signals = ours.history.signals;
        if signals.last == visited.history.signals.last {
            self.0.remove(&page);
            return;
        }
        // Hints that arrived after the visit are still uncommitted.
        *ours = visited.clone();
        ours.history.signals = signals;
    }

    fn signal_committed(&mut self, page: PageId, at: Moment) {
        let is_last =
            |ours: &Visited| ours.history.asked < Some(at) && ours.history.signals.last == Some(at);
        if self.get(page).is_some_and(is_last) {
            self.0.remove(&page);
        }
    }
}

#[cfg(test)]
mod tests {
    use frontier::PageKey;
    use page::PageUrl;
    use policy::{Outcome, Visit};

    use super::*;

    fn at(second: u64) -> Moment {
        Moment::from_micros(second * 1_000_000)
    }

    fn visited(history: History, second: u64) -> Visited {
        Visited {
            history: history.after(Visit::new(at(second), Outcome::Changed)),
            ..Visited::default()
        }
    }

    fn found() -> Discovery {
        Discovery {
            url: "http://example.org/".into(),
            order: 0,
            at: at(0),
            depth: 0,
            hops: 0,
            source: None,
            absent: None,
        }
    }

    fn signalled(visited: &Visited, second: u64) -> Visited {
        Visited {
            history: visited.history.signalled(at(second)),
            ..visited.clone()
        }
    }

    #[test]
    fn a_record_stays_until_the_ledger_has_all_of_it() {
        let key = PageKey::of(&PageUrl::parse("http://example.org/").unwrap());
        let first = visited(History::discovered(at(0), 0), 10);
        let entry = |visited: &Visited| Entry::Visited(key, Box::new(visited.clone()));
        let mut overlay = Overlay::default();
        let since = |overlay: &Overlay| {
            let known = overlay.get(key.page);
            known.map(|known| known.history.signals.since)
        };

        // A visit, and a hint that arrives before the visit is committed.
        overlay.visit(key.page, first.clone(), found());
        overlay.signal(key.page, signalled(&first, 20));
        let gained = Visited {
            history: first.history.gained(0.5),
            ..first.clone()
        };
        overlay.committed(&entry(&gained));
        assert_eq!(since(&overlay), Some(1), "the hint is not committed");
        assert_eq!(overlay.discovery(key.page), Some(&found()));
        let kept = overlay.history(key.page).unwrap();
        assert_eq!(
            kept.first_gain,
            Some(0.5),
            "with the gain that the ledger has"
        );
        overlay.committed(&Entry::Signalled(key, at(20)));
        assert_eq!(since(&overlay), None);

        // A second hint before the first is committed.
        let told = signalled(&first, 30);
        overlay.signal(key.page, told.clone());
        overlay.signal(key.page, signalled(&told, 40));
        overlay.committed(&Entry::Signalled(key, at(30)));
        assert_eq!(since(&overlay), Some(2));

        // A visit that follows them.
        let second = visited(overlay.history(key.page).unwrap(), 50);
        assert_eq!(second.history.signals.hits, 1, "the hints were right");
        overlay.visit(key.page, second.clone(), found());
        overlay.committed(&Entry::Signalled(key, at(40)));
        assert_eq!(since(&overlay), Some(0), "the visit is not committed");
        overlay.committed(&entry(&first));
        assert_eq!(since(&overlay), Some(0), "only an older visit is committed");
        overlay.committed(&entry(&second));
        assert_eq!(since(&overlay), None);
    }
}
