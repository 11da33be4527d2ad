//! Pages that are deferred: kept in order beside the bench, and never claimed until they are released.
//!
//! The shelf of a host is an entry of the bench that is never listed under its server. So policies
//! move deferred pages like all others, and the best leave first.

use std::cmp::Reverse;

use page::HostId;
use policy::{Number, Worth};

use super::entry::Entry;
use super::host::Host;
use super::{Bench, HostIndex};

impl Bench {
    /// Puts a page on the shelf of its host.
    pub(crate) fn defer(&mut self, page: Number, host: HostId, worth: Worth) {
        let index = self.host(host);
        if self.hosts[index as usize].parked {
            return self.offer(page, host, worth);
        }
        let shelf = self.shelf_of(index);
        let most = self.hand(shelf);
        self.places.set_host(page, shelf);
        let queue = &mut self.hosts[shelf as usize].queue;
        queue.push(Entry::new(page, worth), most, &mut self.places);
        self.deferred += 1;
    }

    /// Takes the best page off the shelf of a host.
    pub(crate) fn release(&mut self, host: HostId) -> Option<(Number, Worth)> {
        let shelf = self.shelf(host)?;
        let most = self.hand(shelf);
        let queue = &mut self.hosts[shelf as usize].queue;
        let best = queue.pop(&mut self.places)?;
        queue.fill(most, &mut self.places);
        self.deferred -= 1;
        Some((best.number(), Worth::new(f64::from(best.worth()))))
    }

    /// The best page on the shelf of a host: the greatest of these leaves first.
    pub(crate) fn best_deferred(&self, host: HostId) -> Option<(Worth, Reverse<Number>)> {
        let best = self.hosts[self.shelf(host)? as usize].queue.first()?;
        let worth = Worth::new(f64::from(best.worth()));
        Some((worth, Reverse(best.number())))
    }

    /// Pages on the shelf of a host.
    pub(crate) fn deferred_of(&self, host: HostId) -> usize {
        let shelf = self.shelf(host);
        shelf.map_or(0, |shelf| self.hosts[shelf as usize].queue.len())
    }

    /// Whether a page is on the shelf of its host.
    pub fn is_deferred(&self, page: Number, host: HostId) -> bool {
        let shelf = self.shelf(host);
        shelf.is_some_and(|shelf| self.hosts[shelf as usize].queue.find(page).is_some())
    }

    /// Pages on all shelves.
    pub fn deferred(&self) -> usize {
        self.deferred
    }

    /// Empties the shelf of a host. Returns how many pages were on it.
    pub(super) fn clear_shelf(&mut self, host: HostId) -> usize {
        let Some(shelf) = self.shelf(host) else {
            return 0;
        };
        let queue = &mut self.hosts[shelf as usize].queue;
        let dropped = queue.clear(&mut self.places);
        self.deferred -= dropped;
        dropped
    }

    fn shelf(&self, host: HostId) -> Option<HostIndex> {
        let index = *self.names.get(&host)?;
        self.hosts[index as usize].shelf
    }

    /// The shelf of a host, which is made if there is none.
    fn shelf_of(&mut self, index: HostIndex) -> HostIndex {
        let host = &self.hosts[index as usize];
        if let Some(shelf) = host.shelf {
            return shelf;
        }
        let shelf = self.hosts.len() as HostIndex;
        let made = Host {
            is_shelf: true,
            ..Host::new(host.id, host.server)
        };
        self.hosts[index as usize].shelf = Some(shelf);
        self.hosts.push(made);
        shelf
    }
}
