//! A heap with eight children per node, for the pages of a host beyond the best ones.
//!
//! The best pages are in a short sorted list, the hand ([`HostQueue`](super::queue::HostQueue)).
//!
//! The children of a node take 64 bytes and so lie in at most two cache lines. A heap of twenty
//! million pages has 10 levels; a binary heap would have 25.
//!
//! **Invariant:** no entry is greater than its parent, and [`PagePlaces`], if it records places,
//! holds the index of every entry.

use super::entry::QueueEntry;
use super::places::{PagePlace, PagePlaces};

const CHILDREN: usize = 8;

#[derive(Default)]
pub(super) struct Heap(Vec<QueueEntry>);

impl Heap {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn entries(&self) -> &[QueueEntry] {
        &self.0
    }

    pub fn push(&mut self, entry: QueueEntry, places: &mut PagePlaces) {
        if self.0.len() == self.0.capacity() {
            // Grows by an eighth instead of doubling: at twenty million pages the unused space
            // matters.
            self.0.reserve_exact(self.0.len() / 8 + 4);
        }
        self.0.push(entry);
        self.rise(self.0.len() - 1, places);
    }

    pub fn pop(&mut self, places: &mut PagePlaces) -> Option<QueueEntry> {
        let best = *self.0.first()?;
        self.remove(0, places);
        Some(best)
    }

    /// Removes the entry at an index.
    pub fn remove(&mut self, at: usize, places: &mut PagePlaces) {
        places.set(self.0[at].number(), PagePlace::Nowhere);
        let last = self.0.len() - 1;
        self.0.swap(at, last);
        self.0.pop();
        if at < last {
            self.settle(at, places);
        }
    }

    /// Replaces the entry at an index.
    pub fn replace(&mut self, at: usize, entry: QueueEntry, places: &mut PagePlaces) {
        self.0[at] = entry;
        self.settle(at, places);
    }

    /// Restores the order after the entry at an index has changed.
    fn settle(&mut self, at: usize, places: &mut PagePlaces) {
        let risen = self.rise(at, places);
        if risen == at {
            self.sink(at, places);
        }
    }

    fn rise(&mut self, mut at: usize, places: &mut PagePlaces) -> usize {
        let entry = self.0[at];
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            if self.0[parent] >= entry {
                break;
            }
            self.put(at, self.0[parent], places);
            at = parent;
        }
        self.put(at, entry, places);
        at
    }

    fn sink(&mut self, mut at: usize, places: &mut PagePlaces) {
        let entry = self.0[at];
        loop {
            let first = at * CHILDREN + 1;
            let children = self.0.get(first..).unwrap_or_default();
            let best = children
                .iter()
                .take(CHILDREN)
                .enumerate()
                .max_by_key(|(_, child)| **child);
            match best {
                Some((child, &better)) if better > entry => {
                    self.put(at, better, places);
                    at = first + child;
                }
                _ => break,
            }
        }
        self.put(at, entry, places);
    }

    fn put(&mut self, at: usize, entry: QueueEntry, places: &mut PagePlaces) {
        self.0[at] = entry;
        places.set(entry.number(), PagePlace::Heap(at as u32));
    }
}

#[cfg(test)]
mod tests {
    use policy::{Number, Worth};

    use super::*;

    #[test]
    fn unused_capacity_is_at_most_an_eighth_and_four_entries() {
        let (mut heap, mut places) = (Heap::default(), PagePlaces::default());
        for page in 0..2_000 {
            heap.push(QueueEntry::new(Number(page), Worth::new(1.0)), &mut places);
            let most = heap.len() + heap.len() / 8 + 4;
            assert!(heap.0.capacity() <= most, "{page}: {}", heap.0.capacity());
        }
    }
}
