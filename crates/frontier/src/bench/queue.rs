//! The pages of one host that are ready to be fetched, the best first.
//!
//! **Invariant:** the hand holds the best pages, sorted: as many as one connection carries, or
//! all of them. No page of the heap is better than one in the hand. So the rank of the next visit
//! is computed without a look at the heap.

use policy::Number;

use super::entry::QueueEntry;
use super::places::{PagePlace, PagePlaces};
use crate::heap::Heap;

/// The waiting pages of one host.
#[derive(Default)]
pub(super) struct HostQueue {
    /// The best pages in ascending order.
    hand: Vec<QueueEntry>,
    rest: Heap<QueueEntry>,
}

impl HostQueue {
    pub fn is_empty(&self) -> bool {
        self.hand.is_empty()
    }

    pub fn len(&self) -> usize {
        self.hand.len() + self.rest.len()
    }

    /// Writes the worths of the best `most` pages of the hand into `worths`, in descending
    /// order.
    pub fn best(&self, most: usize, worths: &mut Vec<f32>) {
        worths.clear();
        let best = self.hand.iter().rev().take(most);
        worths.extend(best.map(|entry| entry.worth()));
    }

    /// Returns the best page.
    pub fn first(&self) -> Option<QueueEntry> {
        self.hand.last().copied()
    }

    /// Returns the number of pages that are better than this one.
    pub fn before(&self, entry: QueueEntry) -> usize {
        let all = self.hand.iter().chain(self.rest.entries());
        all.filter(|other| **other > entry).count()
    }

    /// Returns the entry of a page.
    pub fn find(&self, page: Number) -> Option<QueueEntry> {
        let mut all = self.hand.iter().chain(self.rest.entries());
        all.find(|entry| entry.number() == page).copied()
    }

    /// Adds a page to a queue whose hand holds at most `most` pages. Returns whether the hand
    /// has changed.
    pub fn push(&mut self, entry: QueueEntry, most: usize, places: &mut PagePlaces) -> bool {
        let room = self.hand.len() < most && self.rest.is_empty();
        let beats = |least: &QueueEntry| entry > *least;
        if !room && !self.hand.first().is_some_and(beats) {
            self.rest.push(entry, places);
            return false;
        }
        let at = self.hand.partition_point(|other| *other < entry);
        self.hand.insert(at, entry);
        places.set(entry.number(), PagePlace::Hand);
        if self.hand.len() > most {
            let least = self.hand.remove(0);
            self.rest.push(least, places);
        }
        true
    }

    /// Removes the best page. The hand lacks a page until [`fill`](HostQueue::fill) is called.
    pub fn pop(&mut self, places: &mut PagePlaces) -> Option<QueueEntry> {
        let best = self.hand.pop()?;
        places.set(best.number(), PagePlace::Nowhere);
        Some(best)
    }

    /// Fills the hand up to `most` pages from the heap, or moves the surplus to the heap.
    pub fn fill(&mut self, most: usize, places: &mut PagePlaces) {
        if self.hand.len() > most {
            let surplus = self.hand.len() - most;
            for entry in self.hand.drain(..surplus) {
                self.rest.push(entry, places);
            }
        }
        let mut more = Vec::new();
        while self.hand.len() + more.len() < most
            && let Some(entry) = self.rest.pop(places)
        {
            places.set(entry.number(), PagePlace::Hand);
            more.push(entry);
        }
        if !more.is_empty() {
            more.reverse();
            self.hand.splice(0..0, more);
        }
    }

    /// Removes a page whose place is known.
    pub fn remove(&mut self, page: Number, place: PagePlace, places: &mut PagePlaces) {
        match place {
            PagePlace::Heap(at) => self.rest.remove(at as usize, places),
            PagePlace::Hand => {
                self.hand.retain(|entry| entry.number() != page);
                places.set(page, PagePlace::Nowhere);
            }
            PagePlace::Nowhere | PagePlace::Held => {}
        }
    }

    /// Changes the worth of the page at an index of the heap. Returns `false` and does nothing
    /// if the page now belongs in the hand.
    pub fn change(&mut self, at: usize, entry: QueueEntry, places: &mut PagePlaces) -> bool {
        if self.hand.first().is_none_or(|least| entry > *least) {
            return false;
        }
        self.rest.replace(at, entry, places);
        true
    }

    /// Removes all pages and returns their number.
    pub fn clear(&mut self, places: &mut PagePlaces) -> usize {
        let gone = std::mem::take(self);
        for entry in gone.hand.iter().chain(gone.rest.entries()) {
            places.set(entry.number(), PagePlace::Nowhere);
        }
        gone.len()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use policy::Worth;
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone)]
    enum QueueStep {
        Push(u16, u8),
        Pop,
        Change(u16, u8),
        Remove(u16),
        Fill(usize),
    }

    fn step() -> impl Strategy<Value = QueueStep> {
        prop_oneof![
            3 => (0u16..300, any::<u8>()).prop_map(|(page, worth)| QueueStep::Push(page, worth)),
            1 => Just(QueueStep::Pop),
            2 => (0u16..300, any::<u8>()).prop_map(|(page, worth)| QueueStep::Change(page, worth)),
            1 => (0u16..300).prop_map(QueueStep::Remove),
            1 => (1usize..9).prop_map(QueueStep::Fill),
        ]
    }

    proptest! {
        #[test]
        fn the_queue_agrees_with_a_sorted_map(steps in prop::collection::vec(step(), 0..400)) {
            let mut queue = HostQueue::default();
            let mut places = PagePlaces::tracked();
            let mut model: BTreeMap<u32, QueueEntry> = BTreeMap::new();
            let mut most = 4;
            let entry = |page: u16, worth: u8| QueueEntry::new(Number(page.into()), Worth::new(worth.into()));
            for step in steps {
                match step {
                    QueueStep::Push(page, worth) if !model.contains_key(&page.into()) => {
                        queue.push(entry(page, worth), most, &mut places);
                        model.insert(page.into(), entry(page, worth));
                    }
                    QueueStep::Pop => {
                        let best = model.values().max().copied();
                        prop_assert_eq!(queue.pop(&mut places), best);
                        model.retain(|_, entry| Some(*entry) != best);
                        queue.fill(most, &mut places);
                    }
                    QueueStep::Change(page, worth) if model.contains_key(&page.into()) => {
                        let new = entry(page, worth);
                        let place = places.get(new.number());
                        let changed = matches!(place, PagePlace::Heap(at) if queue.change(at as usize, new, &mut places));
                        if !changed {
                            queue.remove(new.number(), place, &mut places);
                            queue.fill(most, &mut places);
                            queue.push(new, most, &mut places);
                        }
                        model.insert(page.into(), new);
                    }
                    QueueStep::Remove(page) if model.contains_key(&page.into()) => {
                        let page = Number(page.into());
                        queue.remove(page, places.get(page), &mut places);
                        queue.fill(most, &mut places);
                        model.remove(&page.0);
                    }
                    QueueStep::Fill(size) => {
                        most = size;
                        queue.fill(most, &mut places);
                    }
                    _ => {}
                }
                prop_assert_eq!(queue.len(), model.len());
                prop_assert_eq!(queue.hand.len(), most.min(model.len()));
                let mut best = Vec::new();
                queue.best(most, &mut best);
                let mut sorted: Vec<_> = model.values().copied().collect();
                sorted.sort_unstable_by(|a, b| b.cmp(a));
                prop_assert!(best.iter().copied().eq(sorted.iter().take(most).map(|entry| entry.worth())));
                for (at, entry) in queue.rest.entries().enumerate() {
                    prop_assert_eq!(places.get(entry.number()), PagePlace::Heap(at as u32));
                }
            }
        }
    }
}
