//! Histories of pages that a choice depends on and that only the ledger has.
//!
//! The frontier reads no disk. A choice that needs the history of a page that was visited names the page
//! ([`Frontier::wanted`](super::Frontier::wanted)) and is made again when its caller has
//! [brought](super::Frontier::bring) the history.
//!
//! **Invariant:** a page is not asked for again while its history is on its way. What becomes known of the page
//! in the meantime is newer than what the caller will bring. It takes that one's place, and stays until that has come:
//! else the next choice would ask a second time, and take the first answer, which is older, for the second.

use std::collections::{HashMap, HashSet};

use policy::{History, Number};

use crate::record::PageKey;

/// Histories at hand for the choice that is being made, and those that are on their way.
#[derive(Default)]
pub(super) struct Histories {
    at_hand: HashMap<Number, Option<History>>,
    on_their_way: HashSet<Number>,
    wanted: Vec<PageKey>,
}

/// What is known of the visits to a page.
#[expect(
    clippy::large_enum_variant,
    reason = "it lives on the stack, for a moment"
)]
pub(super) enum Past {
    /// All of them.
    Known(History),
    /// The ledger could not say.
    Unreadable,
    /// The history is not here.
    Absent,
}

impl Histories {
    /// The history of a page, as far as it was brought.
    pub fn get(&self, page: Number) -> Past {
        match self.at_hand.get(&page) {
            Some(Some(history)) => Past::Known(*history),
            Some(None) => Past::Unreadable,
            None => Past::Absent,
        }
    }

    /// Asks for the history of a page, unless it is at hand or on its way.
    pub fn want(&mut self, page: Number, key: PageKey) {
        if !self.at_hand.contains_key(&page) && self.on_their_way.insert(page) {
            self.wanted.push(key);
        }
    }

    /// Takes the pages whose histories are to be brought.
    pub fn take_wanted(&mut self) -> Vec<PageKey> {
        std::mem::take(&mut self.wanted)
    }

    /// Takes in a history that was asked for.
    pub fn bring(&mut self, page: Number, history: Option<History>) {
        if self.on_their_way.remove(&page) {
            self.at_hand.entry(page).or_insert(history);
        }
    }

    /// Takes in what has become known of a page since its history was asked for.
    pub fn learn(&mut self, page: Number, history: &History) {
        if self.on_their_way.contains(&page) || self.at_hand.contains_key(&page) {
            self.at_hand.insert(page, Some(*history));
        }
    }

    /// Whether histories are on their way that nothing newer has taken the place of.
    pub fn are_awaited(&self) -> bool {
        let mut pages = self.on_their_way.iter();
        pages.any(|page| !self.at_hand.contains_key(page))
    }

    /// Forgets the histories at hand, since the choice is made; not those that took the place of one on its way.
    pub fn forget(&mut self) {
        let Self {
            at_hand,
            on_their_way,
            ..
        } = self;
        at_hand.retain(|page, _| on_their_way.contains(page));
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

    fn depth(histories: &Histories, page: Number) -> Option<u16> {
        match histories.get(page) {
            Past::Known(history) => Some(history.depth),
            Past::Unreadable | Past::Absent => None,
        }
    }

    #[test]
    fn a_history_is_asked_for_once_and_what_is_newer_stays() {
        let mut histories = Histories::default();
        let key = PageKey::of(&PageUrl::parse("http://e.org/").unwrap());
        let page = Number(7);
        histories.want(page, key);
        histories.want(page, key);
        assert_eq!(histories.take_wanted(), [key]);
        histories.want(page, key);
        assert!(histories.take_wanted().is_empty(), "it is on its way");
        assert!(histories.are_awaited());
        histories.learn(page, &history(2));
        assert!(!histories.are_awaited(), "it is known by now");
        histories.forget();
        histories.want(page, key);
        assert!(histories.take_wanted().is_empty(), "not twice at once");
        assert_eq!(depth(&histories, page), Some(2), "for the next choice");
        histories.learn(page, &history(3));
        histories.bring(page, Some(history(1)));
        assert_eq!(depth(&histories, page), Some(3), "what was read is older");
        histories.want(page, key);
        assert!(histories.take_wanted().is_empty(), "it is at hand");
        histories.forget();
        assert!(matches!(histories.get(page), Past::Absent));
        histories.learn(page, &history(4));
        histories.bring(page, Some(history(4)));
        assert!(matches!(histories.get(page), Past::Absent), "not asked for");
        histories.want(page, key);
        histories.bring(page, None);
        assert!(matches!(histories.get(page), Past::Unreadable));
    }
}
