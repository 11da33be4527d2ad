//! The pages of one host that are ready to be fetched, the best first.
//!
//! **Invariant:** the hand holds the best pages, sorted, as many as one connection carries or all; no
//! page of the heap is better than one of the hand. So what the next connection is worth is known
//! without a look at the heap, however large that is.

use policy::Number;

use super::entry::Entry;
use super::heap::Heap;
use super::places::{Place, Places};

/// One host's pages.
#[derive(Default)]
pub(super) struct Queue {
    /// The best, the very best last.
    hand: Vec<Entry>,
    rest: Heap,
}

impl Queue {
    pub fn is_empty(&self) -> bool {
        self.hand.is_empty()
    }

    pub fn len(&self) -> usize {
        self.hand.len() + self.rest.len()
    }

    /// What the best pages are worth, the best first.
    pub fn best(&self, most: usize, worths: &mut Vec<f32>) {
        worths.clear();
        let best = self.hand.iter().rev().take(most);
        worths.extend(best.map(|entry| entry.worth()));
    }

    /// The best page.
    pub fn first(&self) -> Option<Entry> {
        self.hand.last().copied()
    }

    /// Pages that leave before this one.
    pub fn before(&self, entry: Entry) -> usize {
        let all = self.hand.iter().chain(self.rest.entries());
        all.filter(|other| **other > entry).count()
    }

    /// The entry of a page.
    pub fn find(&self, page: Number) -> Option<Entry> {
        let mut all = self.hand.iter().chain(self.rest.entries());
        all.find(|entry| entry.number() == page).copied()
    }

    /// Adds a page; returns whether the hand of so many has changed.
    pub fn push(&mut self, entry: Entry, most: usize, places: &mut Places) -> bool {
        let room = self.hand.len() < most && self.rest.is_empty();
        let beats = |least: &Entry| entry > *least;
        if !room && !self.hand.first().is_some_and(beats) {
            self.rest.push(entry, places);
            return false;
        }
        let at = self.hand.partition_point(|other| *other < entry);
        self.hand.insert(at, entry);
        places.set(entry.number(), Place::Hand);
        if self.hand.len() > most {
            let least = self.hand.remove(0);
            self.rest.push(least, places);
        }
        true
    }

    /// Takes out the best page. The hand is one short until it is [filled](Queue::fill).
    pub fn pop(&mut self, places: &mut Places) -> Option<Entry> {
        let best = self.hand.pop()?;
        places.set(best.number(), Place::Nowhere);
        Some(best)
    }

    /// Fills the hand up to so many pages, or puts back what is more than that.
    pub fn fill(&mut self, most: usize, places: &mut Places) {
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
            places.set(entry.number(), Place::Hand);
            more.push(entry);
        }
        if !more.is_empty() {
            more.reverse();
            self.hand.splice(0..0, more);
        }
    }

    /// Takes out a page whose place is known.
    pub fn remove(&mut self, page: Number, place: Place, places: &mut Places) {
        match place {
            Place::Heap(at) => self.rest.remove(at as usize, places),
            Place::Hand => {
                self.hand.retain(|entry| entry.number() != page);
                places.set(page, Place::Nowhere);
            }
            Place::Nowhere | Place::Held => {}
        }
    }

    /// Gives a page of the heap another worth, unless it now belongs into the hand.
    pub fn change(&mut self, at: usize, entry: Entry, places: &mut Places) -> bool {
        if self.hand.first().is_none_or(|least| entry > *least) {
            return false;
        }
        self.rest.replace(at, entry, places);
        true
    }

    /// Forgets all pages and says how many there were.
    pub fn clear(&mut self, places: &mut Places) -> usize {
        let gone = std::mem::take(self);
        for entry in gone.hand.iter().chain(gone.rest.entries()) {
            places.set(entry.number(), Place::Nowhere);
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
    enum Step {
        Push(u16, u8),
        Pop,
        Change(u16, u8),
        Remove(u16),
        Fill(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => (0u16..300, any::<u8>()).prop_map(|(page, worth)| Step::Push(page, worth)),
            1 => Just(Step::Pop),
            2 => (0u16..300, any::<u8>()).prop_map(|(page, worth)| Step::Change(page, worth)),
            1 => (0u16..300).prop_map(Step::Remove),
            1 => (1usize..9).prop_map(Step::Fill),
        ]
    }

    proptest! {
        #[test]
        fn agrees_with_a_sorted_map(steps in prop::collection::vec(step(), 0..400)) {
            let mut queue = Queue::default();
            let mut places = Places::tracked();
            let mut model: BTreeMap<u32, Entry> = BTreeMap::new();
            let mut most = 4;
            let entry = |page: u16, worth: u8| Entry::new(Number(page.into()), Worth::new(worth.into()));
            for step in steps {
                match step {
                    Step::Push(page, worth) if !model.contains_key(&page.into()) => {
                        queue.push(entry(page, worth), most, &mut places);
                        model.insert(page.into(), entry(page, worth));
                    }
                    Step::Pop => {
                        let best = model.values().max().copied();
                        prop_assert_eq!(queue.pop(&mut places), best);
                        model.retain(|_, entry| Some(*entry) != best);
                        queue.fill(most, &mut places);
                    }
                    Step::Change(page, worth) if model.contains_key(&page.into()) => {
                        let new = entry(page, worth);
                        let place = places.get(new.number());
                        let changed = matches!(place, Place::Heap(at) if queue.change(at as usize, new, &mut places));
                        if !changed {
                            queue.remove(new.number(), place, &mut places);
                            queue.fill(most, &mut places);
                            queue.push(new, most, &mut places);
                        }
                        model.insert(page.into(), new);
                    }
                    Step::Remove(page) if model.contains_key(&page.into()) => {
                        let page = Number(page.into());
                        queue.remove(page, places.get(page), &mut places);
                        queue.fill(most, &mut places);
                        model.remove(&page.0);
                    }
                    Step::Fill(size) => {
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
                for (at, entry) in queue.rest.entries().iter().enumerate() {
                    prop_assert_eq!(places.get(entry.number()), Place::Heap(at as u32));
                }
            }
        }
    }
}
