//! The pages of a host beyond its best, in a heap of eight children a node.
//!
//! Eight entries of eight bytes are one line of the cache, so that taking the best of twenty million
//! pages touches eight lines. **Invariant:** no entry is above its parent, and the places of all
//! entries are known to [`Places`].

use super::entry::Entry;
use super::places::{Place, Places};

const CHILDREN: usize = 8;

/// A heap of waiting pages.
#[derive(Default)]
pub(super) struct Heap(Vec<Entry>);

impl Heap {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn entries(&self) -> &[Entry] {
        &self.0
    }

    pub fn push(&mut self, entry: Entry, places: &mut Places) {
        if self.0.len() == self.0.capacity() {
            // By an eighth, not by doubling: at twenty million pages the slack is what counts.
            self.0.reserve_exact(self.0.len() / 8 + 4);
        }
        self.0.push(entry);
        self.rise(self.0.len() - 1, places);
    }

    pub fn pop(&mut self, places: &mut Places) -> Option<Entry> {
        let best = *self.0.first()?;
        self.remove(0, places);
        Some(best)
    }

    /// Takes out the entry at a place.
    pub fn remove(&mut self, at: usize, places: &mut Places) {
        places.set(self.0[at].number(), Place::Nowhere);
        let last = self.0.len() - 1;
        self.0.swap(at, last);
        self.0.pop();
        if at < last {
            self.settle(at, places);
        }
    }

    /// Puts another entry in the place of one.
    pub fn replace(&mut self, at: usize, entry: Entry, places: &mut Places) {
        self.0[at] = entry;
        self.settle(at, places);
    }

    fn settle(&mut self, at: usize, places: &mut Places) {
        let risen = self.rise(at, places);
        if risen == at {
            self.sink(at, places);
        }
    }

    fn rise(&mut self, mut at: usize, places: &mut Places) -> usize {
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

    fn sink(&mut self, mut at: usize, places: &mut Places) {
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

    fn put(&mut self, at: usize, entry: Entry, places: &mut Places) {
        self.0[at] = entry;
        places.set(entry.number(), Place::Heap(at as u32));
    }
}

#[cfg(test)]
mod tests {
    use policy::{Number, Worth};

    use super::*;

    #[test]
    fn slack_stays_below_an_eighth() {
        let (mut heap, mut places) = (Heap::default(), Places::default());
        for page in 0..2_000 {
            heap.push(Entry::new(Number(page), Worth::new(1.0)), &mut places);
            let most = heap.len() + heap.len() / 8 + 4;
            assert!(heap.0.capacity() <= most, "{page}: {}", heap.0.capacity());
        }
    }
}
