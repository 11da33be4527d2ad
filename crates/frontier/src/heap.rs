//! A heap with eight children per node, in blocks.
//!
//! The heap of a host's pages has entries of 8 bytes. The children of a node then take 64 bytes
//! and so lie in at most two cache lines. A heap of twenty million pages has 10 levels; a binary
//! heap would have 25.
//!
//! A heap in one vector copies all entries when it grows: a million pages take longer than a step
//! of the core may take. So only the first block grows.
//!
//! **Invariant:** no entry is greater than its parent, all children of a node are in one block, and
//! the [`HeapPlaces`] know the index of every entry.

/// Entries in a block, except the first, which has one more. So the children of each node are in
/// one block.
const BLOCK: usize = if cfg!(test) { 16 } else { 1 << 12 };
const FIRST: usize = BLOCK + 1;
const CHILDREN: usize = 8;

/// The greatest entry leaves first.
pub(crate) struct Heap<E> {
    /// The first entries. Most heaps have no others.
    first: Vec<E>,
    /// The other entries; `None`: there are none.
    more: Option<Box<FurtherBlocks<E>>>,
}

/// Blocks of [`BLOCK`] entries. The last may have fewer, but at least one.
struct FurtherBlocks<E>(Vec<Vec<E>>);

/// Records the index of each entry of a heap.
pub(crate) trait HeapPlaces<E> {
    /// Records that an entry is at this index.
    fn put(&mut self, entry: E, at: usize);

    /// Records that an entry has left the heap.
    fn left(&mut self, entry: E);
}

/// No index is recorded.
impl<E> HeapPlaces<E> for () {
    fn put(&mut self, _entry: E, _at: usize) {}

    fn left(&mut self, _entry: E) {}
}

impl<E> Default for Heap<E> {
    fn default() -> Self {
        Self {
            first: Vec::new(),
            more: None,
        }
    }
}

impl<E: Copy + Ord> Heap<E> {
    pub fn len(&self) -> usize {
        let further = self.more.as_ref().map_or(0, |more| {
            let last = more.0.last().map_or(0, Vec::len);
            (more.0.len() - 1) * BLOCK + last
        });
        self.first.len() + further
    }

    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// Returns the greatest entry.
    pub fn peek(&self) -> Option<&E> {
        self.first.first()
    }

    /// Returns all entries, in the order of their indices.
    pub fn entries(&self) -> impl Iterator<Item = &E> {
        let more = self.more.iter().flat_map(|more| more.0.iter().flatten());
        self.first.iter().chain(more)
    }

    pub fn push(&mut self, entry: E, places: &mut impl HeapPlaces<E>) {
        if self.first.len() < FIRST {
            if self.first.len() == self.first.capacity() {
                // Grows by an eighth instead of doubling: at twenty million pages the unused
                // space matters.
                self.first.reserve_exact(self.first.len() / 8 + 4);
            }
            self.first.push(entry);
        } else {
            let new = || Box::new(FurtherBlocks(Vec::new()));
            let blocks = &mut self.more.get_or_insert_with(new).0;
            match blocks.last_mut() {
                Some(last) if last.len() < BLOCK => last.push(entry),
                _ => {
                    let mut block = Vec::with_capacity(BLOCK);
                    block.push(entry);
                    blocks.push(block);
                }
            }
        }
        self.rise(self.len() - 1, places);
    }

    pub fn pop(&mut self, places: &mut impl HeapPlaces<E>) -> Option<E> {
        let best = *self.first.first()?;
        self.remove(0, places);
        Some(best)
    }

    /// Removes the entry at an index.
    pub fn remove(&mut self, at: usize, places: &mut impl HeapPlaces<E>) {
        places.left(self.get(at));
        let Some(last) = self.pop_last() else { return };
        if at < self.len() {
            *self.get_mut(at) = last;
            self.settle(at, places);
        }
    }

    /// Replaces the entry at an index.
    pub fn replace(&mut self, at: usize, entry: E, places: &mut impl HeapPlaces<E>) {
        *self.get_mut(at) = entry;
        self.settle(at, places);
    }

    fn get(&self, at: usize) -> E {
        match at.checked_sub(FIRST) {
            None => self.first[at],
            Some(at) => self.further()[at / BLOCK][at % BLOCK],
        }
    }

    fn get_mut(&mut self, at: usize) -> &mut E {
        match (at.checked_sub(FIRST), &mut self.more) {
            (Some(at), Some(more)) => &mut more.0[at / BLOCK][at % BLOCK],
            _ => &mut self.first[at],
        }
    }

    /// Returns the children of a node whose first child would be at this index.
    fn children(&self, first: usize) -> &[E] {
        let (block, start) = match first.checked_sub(FIRST) {
            None => (Some(&self.first), first),
            Some(at) => (self.further().get(at / BLOCK), at % BLOCK),
        };
        let children = block.and_then(|block| block.get(start..)).unwrap_or(&[]);
        &children[..children.len().min(CHILDREN)]
    }

    fn further(&self) -> &[Vec<E>] {
        self.more.as_ref().map_or(&[], |more| &more.0)
    }

    /// Removes the entry with the highest index, without restoring the order.
    fn pop_last(&mut self) -> Option<E> {
        let Some(FurtherBlocks(blocks)) = self.more.as_deref_mut() else {
            return self.first.pop();
        };
        let last = blocks.last_mut().and_then(Vec::pop);
        if blocks.last().is_some_and(Vec::is_empty) {
            blocks.pop();
        }
        if blocks.is_empty() {
            self.more = None;
        }
        last
    }

    /// Restores the order after the entry at an index has changed.
    fn settle(&mut self, at: usize, places: &mut impl HeapPlaces<E>) {
        let risen = self.rise(at, places);
        if risen == at {
            self.sink(at, places);
        }
    }

    fn rise(&mut self, mut at: usize, places: &mut impl HeapPlaces<E>) -> usize {
        let entry = self.get(at);
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            let above = self.get(parent);
            if above >= entry {
                break;
            }
            self.put(at, above, places);
            at = parent;
        }
        self.put(at, entry, places);
        at
    }

    fn sink(&mut self, mut at: usize, places: &mut impl HeapPlaces<E>) {
        let entry = self.get(at);
        loop {
            let first = at * CHILDREN + 1;
            let children = self.children(first).iter().enumerate();
            match children.max_by_key(|(_, child)| **child) {
                Some((child, &better)) if better > entry => {
                    self.put(at, better, places);
                    at = first + child;
                }
                _ => break,
            }
        }
        self.put(at, entry, places);
    }

    fn put(&mut self, at: usize, entry: E, places: &mut impl HeapPlaces<E>) {
        *self.get_mut(at) = entry;
        places.put(entry, at);
    }
}

impl<E: Copy + Ord> FromIterator<E> for Heap<E> {
    /// Returns a heap whose indices are not recorded.
    fn from_iter<I: IntoIterator<Item = E>>(entries: I) -> Self {
        let mut heap = Self::default();
        for entry in entries {
            heap.push(entry, &mut ());
        }
        heap
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn unused_capacity_is_at_most_an_eighth_and_four_entries_or_a_block() {
        let mut heap = Heap::default();
        for page in 0..2_000 {
            heap.push(page, &mut ());
            let capacity: usize = heap.further().iter().map(Vec::capacity).sum();
            let most = heap.len() + (heap.len() / 8 + 4).min(BLOCK);
            let capacity = heap.first.capacity() + capacity;
            assert!(capacity <= most + BLOCK, "{page}: {capacity}");
            assert!(page >= FIRST || capacity <= most, "{page}: {capacity}");
        }
    }

    proptest! {
        #[test]
        fn entries_leave_in_descending_order(mut entries in prop::collection::vec(any::<u16>(), 0..500)) {
            let mut heap: Heap<u16> = entries.iter().copied().collect();
            prop_assert_eq!(heap.entries().count(), entries.len());
            entries.sort_unstable();
            while let Some(best) = heap.pop(&mut ()) {
                prop_assert_eq!(Some(best), entries.pop());
                prop_assert_eq!(heap.len(), entries.len());
            }
            prop_assert!(entries.is_empty() && heap.is_empty());
        }
    }
}
