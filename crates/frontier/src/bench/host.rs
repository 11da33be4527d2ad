//! The pages of one host that are ready to be fetched, the best first.
//!
//! Pages of equal worth leave in the order they came. A page is eight bytes here: the half of its
//! id that its host does not already say.

use std::collections::VecDeque;

use page::HostId;
use policy::Worth;

use super::ServerIndex;

/// One host's queue.
pub(super) struct Host {
    pub id: HostId,
    /// The server whose politeness it shares.
    pub server: ServerIndex,
    /// Whether it is in its server's rotation.
    pub listed: bool,
    /// Pages claimed since the bench was made.
    pub claimed: u32,
    /// A parked host keeps nothing and takes nothing.
    pub parked: bool,
    /// One shelf a worth, best first. A policy with few distinct worths keeps this short.
    shelves: Vec<(Worth, VecDeque<u64>)>,
}

impl Host {
    pub fn new(id: HostId, server: ServerIndex) -> Self {
        Self {
            id,
            server,
            listed: false,
            claimed: 0,
            parked: false,
            shelves: Vec::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.shelves.is_empty()
    }

    pub fn waiting(&self) -> usize {
        self.shelves.iter().map(|(_, shelf)| shelf.len()).sum()
    }

    /// Adds a page behind those of the same worth.
    pub fn push(&mut self, page: u64, worth: Worth) {
        let shelf = self.shelf(worth);
        if shelf.len() == shelf.capacity() {
            // By a quarter, not by doubling: at twenty million pages the slack is what counts.
            shelf.reserve_exact(shelf.len() / 4 + 2);
        }
        shelf.push_back(page);
    }

    /// Puts a page back before those of the same worth.
    pub fn push_front(&mut self, page: u64, worth: Worth) {
        self.shelf(worth).push_front(page);
    }

    pub fn pop(&mut self) -> Option<(u64, Worth)> {
        let (worth, shelf) = self.shelves.first_mut()?;
        let worth = *worth;
        let page = shelf.pop_front();
        if shelf.is_empty() {
            self.shelves.remove(0);
        }
        page.map(|page| (page, worth))
    }

    /// Forgets all waiting pages and says how many there were.
    pub fn clear(&mut self) -> usize {
        let waiting = self.waiting();
        self.shelves = Vec::new();
        waiting
    }

    fn shelf(&mut self, worth: Worth) -> &mut VecDeque<u64> {
        let place = self.shelves.binary_search_by(|(other, _)| worth.cmp(other));
        let place = place.unwrap_or_else(|gap| {
            self.shelves.insert(gap, (worth, VecDeque::new()));
            gap
        });
        &mut self.shelves[place].1
    }
}
