//! What others say of changes, and what is made of it: sitemaps and feeds.
//!
//! A word that a page has changed is a fact about the page, not a reason to fetch it: what it is worth the
//! policy says, from how often the words of this site were true.

use frontier::{Entry, PageKey};
use policy::{History, Moment};

use super::Engine;
use crate::verdict::{Lead, Signal};

impl Engine {
    /// Takes in what a listing says of pages that were visited before they are said to have changed.
    pub(super) fn heed(&self, signals: &[Signal], now: Moment) {
        let known: Vec<(PageKey, Moment)> = {
            let shared = self.shared();
            let key = |signal: &Signal| {
                shared.frontier.number(signal.page)?;
                Some((shared.frontier.key(signal.page)?, signal.modified))
            };
            signals.iter().filter_map(key).collect()
        };
        let mut facts = Vec::new();
        for (key, modified) in known {
            // Read and told under one lock: no visit comes in between.
            let mut shared = self.shared();
            let unsettled = shared.unsettled(key.page).cloned();
            let stored = || self.trust(self.ledger.visited(key)).flatten();
            let Some(visited) = unsettled.or_else(stored) else {
                continue;
            };
            if is_news(&visited.history, modified) {
                facts.push(Entry::Signalled(key, modified));
                shared.signalled(key.page, visited, modified, now);
            }
        }
        if !facts.is_empty() {
            self.shared().push_facts(facts);
        }
    }

    /// The leads that are followed: those to sitemaps and feeds only by a crawl that does not end.
    pub(super) fn followed(&self, mut leads: Vec<Lead>) -> Vec<Lead> {
        if !self.plan.is_continuous() {
            leads.retain(|lead| !lead.listing);
        }
        leads
    }
}

/// Whether a page is said to have changed since it was seen, and nobody has said so before.
fn is_news(page: &History, modified: Moment) -> bool {
    let unheard = page.signals.last.is_none_or(|last| last < modified);
    unheard && page.asked.is_some_and(|asked| asked < modified)
}

#[cfg(test)]
mod tests {
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
}
