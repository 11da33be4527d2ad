//! Which known pages wait on the bench for another visit?
//!
//! What a page is worth grows while it waits, and the bench keeps what it was worth when it was offered. So under a
//! budget only a few wait there at a time, the others in the calendar, and those few are quoted anew in turn, from
//! their histories, which are kept here.

use std::collections::{HashMap, VecDeque};

use policy::{History, Number};

use crate::bench::HostIndex;

/// Known pages of one host that wait on the bench, at most.
const OF_HOST: u32 = 16;
/// Of all hosts.
const OF_ALL: usize = 4096;

/// The known pages on the bench.
#[derive(Default)]
pub(super) struct Returning {
    /// Their histories; `None`: it was not known when the page was offered.
    pages: HashMap<Number, Option<History>>,
    /// In the order in which they are quoted anew; those that have left the bench are passed over.
    turns: VecDeque<(Number, HostIndex)>,
    hosts: HashMap<HostIndex, u32>,
}

impl Returning {
    pub fn insert(&mut self, page: Number, host: HostIndex, history: Option<&History>) {
        if self.pages.insert(page, history.copied()).is_none() {
            self.turns.push_back((page, host));
            *self.hosts.entry(host).or_default() += 1;
        }
    }

    pub fn remove(&mut self, page: Number, host: HostIndex) {
        if self.pages.remove(&page).is_some()
            && let Some(count) = self.hosts.get_mut(&host)
        {
            *count -= 1;
            if *count == 0 {
                self.hosts.remove(&host);
            }
        }
    }

    /// The history of a page that waits.
    pub fn history(&self, page: Number) -> Option<History> {
        self.pages.get(&page).copied().flatten()
    }

    /// Takes in what has become known of a page, if it waits.
    pub fn learn(&mut self, page: Number, history: &History) {
        if let Some(known) = self.pages.get_mut(&page) {
            *known = Some(*history);
        }
    }

    /// The page whose turn it is to be quoted anew; then it is the last.
    pub fn turn(&mut self) -> Option<(Number, HostIndex)> {
        while let Some((page, host)) = self.turns.pop_front() {
            if self.pages.contains_key(&page) {
                self.turns.push_back((page, host));
                return Some((page, host));
            }
        }
        None
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Whether no more can be taken.
    pub fn is_full(&self) -> bool {
        self.pages.len() >= OF_ALL
    }

    /// Whether no more of this host can be taken.
    pub fn has_enough_of(&self, host: HostIndex) -> bool {
        self.hosts.get(&host).is_some_and(|count| *count >= OF_HOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_its_share_and_all_have_theirs() {
        let mut returning = Returning::default();
        for page in 0..OF_HOST {
            assert!(!returning.has_enough_of(7));
            returning.insert(Number(page), 7, None);
            returning.insert(Number(page), 7, None);
        }
        assert!(returning.has_enough_of(7) && !returning.has_enough_of(8));
        returning.remove(Number(3), 7);
        returning.remove(Number(3), 7);
        assert!(!returning.has_enough_of(7) && !returning.is_full());
        let turns: Vec<u32> = (0..returning.len())
            .filter_map(|_| returning.turn())
            .map(|(page, _)| page.0)
            .collect();
        let left: Vec<u32> = (0..OF_HOST).filter(|page| *page != 3).collect();
        assert_eq!(turns, left, "each once");
        (100..)
            .take(OF_ALL)
            .for_each(|page| returning.insert(Number(page), page, None));
        assert!(returning.is_full());
    }
}
