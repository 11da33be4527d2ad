//! What is known of a page that the ledger does not have yet?
//!
//! **Invariant:** a record is here from the moment at which a visit is settled, or others say that its page has changed, until the ledger
//! has both. A visit that such a word brings about often begins before the ledger knows of it: it finds the word here, and so is counted as one that
//! followed it.

use std::collections::HashMap;

use frontier::{Entry, PageKey, Visited};
use page::PageId;
use policy::{History, Moment};

/// Records that are on their way to the ledger.
#[derive(Default)]
pub struct Unsettled(HashMap<PageId, Visited>);

impl Unsettled {
    /// The record of a page; `None`: the ledger has it, if anyone.
    pub fn get(&self, page: PageId) -> Option<&Visited> {
        self.0.get(&page)
    }

    /// The history of a page: what is on its way to the ledger is newer than what is there.
    pub fn past(&self, key: PageKey, past: impl Fn(PageKey) -> Option<History>) -> Option<History> {
        match self.get(key.page) {
            Some(visited) => Some(visited.history),
            None => past(key),
        }
    }

    /// Takes in a record that is newer than what the ledger has.
    pub fn put(&mut self, page: PageId, visited: Visited) {
        self.0.insert(page, visited);
    }

    /// Takes note that a fact is in the ledger.
    pub fn committed(&mut self, entry: &Entry) {
        match entry {
            Entry::Visited(key, visited) => self.visit(key.page, visited),
            Entry::Signalled(key, at) => self.signal(key.page, *at),
            _ => {}
        }
    }

    fn visit(&mut self, page: PageId, visited: &Visited) {
        let Some(ours) = self.0.get_mut(&page) else {
            return;
        };
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

    fn signal(&mut self, page: PageId, at: Moment) {
        let is_last =
            |ours: &Visited| ours.history.asked < Some(at) && ours.history.signals.last == Some(at);
        if self.get(page).is_some_and(is_last) {
            self.0.remove(&page);
        }
    }
}

#[cfg(test)]
mod tests {
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
        let mut unsettled = Unsettled::default();
        let since = |unsettled: &Unsettled| {
            let known = unsettled.get(key.page);
            known.map(|known| known.history.signals.since)
        };

        // A visit, and a word that comes before it is in the ledger.
        unsettled.put(key.page, first.clone());
        unsettled.put(key.page, signalled(&first, 20));
        let gained = Visited {
            history: first.history.gained(0.5),
            ..first.clone()
        };
        unsettled.committed(&entry(&gained));
        assert_eq!(since(&unsettled), Some(1), "the word is on its way");
        let kept = unsettled.past(key, |_| None).unwrap();
        assert_eq!(kept.first_gain, Some(0.5), "with what the ledger was told");
        unsettled.committed(&Entry::Signalled(key, at(20)));
        assert_eq!(since(&unsettled), None);

        // A second word before the first is in the ledger.
        let told = signalled(&first, 30);
        unsettled.put(key.page, told.clone());
        unsettled.put(key.page, signalled(&told, 40));
        unsettled.committed(&Entry::Signalled(key, at(30)));
        assert_eq!(since(&unsettled), Some(2));

        // A visit that follows them.
        let second = visited(unsettled.past(key, |_| None).unwrap(), 50);
        assert_eq!(second.history.signals.hits, 1, "counts as one that did");
        unsettled.put(key.page, second.clone());
        unsettled.committed(&Entry::Signalled(key, at(40)));
        assert_eq!(since(&unsettled), Some(0), "and is not in the ledger yet");
        unsettled.committed(&entry(&first));
        assert_eq!(since(&unsettled), Some(0), "nor when an older one is");
        unsettled.committed(&entry(&second));
        assert_eq!(since(&unsettled), None);
    }
}
