//! Records of pages that are on their way to the ledger.
//!
//! **Invariant:** a record is here from the moment at which a visit is settled, or others say that its page has changed, until the ledger
//! has both. A visit that such a word brings about often begins before the ledger knows of it: it finds the word here, and so is counted as one that
//! followed it.

use std::collections::HashMap;

use frontier::{Discovery, Entry, Visited};
use page::PageId;
use policy::{History, Moment};

/// Records that are on their way to the ledger.
#[derive(Default)]
pub struct Overlay(HashMap<PageId, Uncommitted>);

/// A record, and how its page was discovered, which may be on its way as well.
struct Uncommitted {
    visited: Visited,
    discovery: Option<Discovery>,
}

impl Overlay {
    /// The record of a page; `None`: the ledger has it, if anyone.
    pub fn get(&self, page: PageId) -> Option<&Visited> {
        self.0.get(&page).map(|known| &known.visited)
    }

    /// How a page was discovered whose visit is on its way to the ledger.
    pub fn discovery(&self, page: PageId) -> Option<&Discovery> {
        self.0.get(&page)?.discovery.as_ref()
    }

    /// The history of a page; `None`: the ledger has it, if anyone.
    pub fn history(&self, page: PageId) -> Option<History> {
        self.get(page).map(|visited| visited.history)
    }

    /// Takes in what a visit found.
    pub fn visit(&mut self, page: PageId, visited: Visited, discovery: Discovery) {
        let discovery = Some(discovery);
        self.0.insert(page, Uncommitted { visited, discovery });
    }

    /// Takes in a record that is newer than what the ledger has, of a page that was visited before.
    pub fn signal(&mut self, page: PageId, visited: Visited) {
        let before = self.0.remove(&page);
        let discovery = before.and_then(|before| before.discovery);
        self.0.insert(page, Uncommitted { visited, discovery });
    }

    /// Takes note that a fact is in the ledger.
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
        // What was said since is still on its way.
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

        // A visit, and a word that comes before it is in the ledger.
        overlay.visit(key.page, first.clone(), found());
        overlay.signal(key.page, signalled(&first, 20));
        let gained = Visited {
            history: first.history.gained(0.5),
            ..first.clone()
        };
        overlay.committed(&entry(&gained));
        assert_eq!(since(&overlay), Some(1), "the word is on its way");
        assert_eq!(overlay.discovery(key.page), Some(&found()));
        let kept = overlay.history(key.page).unwrap();
        assert_eq!(kept.first_gain, Some(0.5), "with what the ledger was told");
        overlay.committed(&Entry::Signalled(key, at(20)));
        assert_eq!(since(&overlay), None);

        // A second word before the first is in the ledger.
        let told = signalled(&first, 30);
        overlay.signal(key.page, told.clone());
        overlay.signal(key.page, signalled(&told, 40));
        overlay.committed(&Entry::Signalled(key, at(30)));
        assert_eq!(since(&overlay), Some(2));

        // A visit that follows them.
        let second = visited(overlay.history(key.page).unwrap(), 50);
        assert_eq!(second.history.signals.hits, 1, "counts as one that did");
        overlay.visit(key.page, second.clone(), found());
        overlay.committed(&Entry::Signalled(key, at(40)));
        assert_eq!(since(&overlay), Some(0), "and is not in the ledger yet");
        overlay.committed(&entry(&first));
        assert_eq!(since(&overlay), Some(0), "nor when an older one is");
        overlay.committed(&entry(&second));
        assert_eq!(since(&overlay), None);
    }
}
