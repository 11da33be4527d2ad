//! Deferred pages: kept in order beside the bench, and not claimed until they are released.
//!
//! The deferred queue of a host is a host entry of the bench that is never listed under its
//! server. So policies can move deferred pages like all others, and the best one is released
//! first.

use std::cmp::Reverse;

use page::HostId;
use policy::{Number, Worth};

use super::entry::QueueEntry;
use super::host::BenchHost;
use super::{Bench, HostIndex};

impl Bench {
    /// Adds a page to the deferred queue of its host. A page of a parked host is dropped and
    /// counted, as in [`Bench::offer`].
    pub(crate) fn defer(&mut self, page: Number, host: HostId, worth: Worth) {
        let index = self.host(host);
        if self.hosts[index as usize].parked {
            return self.offer(page, host, worth);
        }
        let deferred_queue = self.deferred_queue_or_new(index);
        let most = self.hand(deferred_queue);
        self.places.set_host(page, deferred_queue);
        let queue = &mut self.hosts[deferred_queue as usize].queue;
        queue.push(QueueEntry::new(page, worth), most, &mut self.places);
        self.deferred += 1;
    }

    /// Removes the best page from the deferred queue of a host and returns it.
    pub(crate) fn release(&mut self, host: HostId) -> Option<(Number, Worth)> {
        let deferred_queue = self.deferred_queue(host)?;
        let most = self.hand(deferred_queue);
        let queue = &mut self.hosts[deferred_queue as usize].queue;
        let best = queue.pop(&mut self.places)?;
        queue.fill(most, &mut self.places);
        self.deferred -= 1;
        Some((best.number(), Worth::new(f64::from(best.worth()))))
    }

    /// Returns the best deferred page of a host, as a value that sorts by the order of release:
    /// the greatest is released first.
    pub(crate) fn best_deferred(&self, host: HostId) -> Option<(Worth, Reverse<Number>)> {
        let best = self.hosts[self.deferred_queue(host)? as usize]
            .queue
            .first()?;
        let worth = Worth::new(f64::from(best.worth()));
        Some((worth, Reverse(best.number())))
    }

    /// Number of deferred pages of a host.
    pub(crate) fn deferred_of(&self, host: HostId) -> usize {
        let deferred_queue = self.deferred_queue(host);
        deferred_queue.map_or(0, |deferred_queue| {
            self.hosts[deferred_queue as usize].queue.len()
        })
    }

    /// Returns whether a page is deferred.
    pub fn is_deferred(&self, page: Number, host: HostId) -> bool {
        let deferred_queue = self.deferred_queue(host);
        deferred_queue.is_some_and(|deferred_queue| {
            self.hosts[deferred_queue as usize]
                .queue
                .find(page)
                .is_some()
        })
    }

    /// Number of deferred pages of all hosts.
    pub fn deferred(&self) -> usize {
        self.deferred
    }

    /// Empties the deferred queue of a host. Returns how many pages it had.
    pub(super) fn clear_deferred(&mut self, host: HostId) -> usize {
        let Some(deferred_queue) = self.deferred_queue(host) else {
            return 0;
        };
        let queue = &mut self.hosts[deferred_queue as usize].queue;
        let dropped = queue.clear(&mut self.places);
        self.deferred -= dropped;
        dropped
    }

    fn deferred_queue(&self, host: HostId) -> Option<HostIndex> {
        let index = *self.names.get(&host)?;
        self.hosts[index as usize].deferred_queue
    }

    /// Returns the deferred queue of a host and creates it if there is none.
    fn deferred_queue_or_new(&mut self, index: HostIndex) -> HostIndex {
        let host = &self.hosts[index as usize];
        if let Some(deferred_queue) = host.deferred_queue {
            return deferred_queue;
        }
        let deferred_queue = self.hosts.len() as HostIndex;
        let made = BenchHost {
            is_deferred_queue: true,
            ..BenchHost::new(host.id, host.server)
        };
        self.hosts[index as usize].deferred_queue = Some(deferred_queue);
        self.hosts.push(made);
        deferred_queue
    }
}
