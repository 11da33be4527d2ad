//! Has this page been heard of before? From memory, in a fraction of a microsecond.
//!
//! **Invariant:** `insert` answers `true` once for every id and never again. No filter that trades
//! false positives for space: a page taken for known is lost for good.
//!
//! An id is kept as 72 bits of a keyed hash: eight choose a shard, 64 are stored. Among twenty million
//! pages the chance that any two agree in all of them is 4 in 10^8, less than that of two URLs of a
//! large host having the same id. Shards grow by a quarter at a time, so that a table stays between
//! 68 % and 85 % full: 9 to 12 bytes for a known page, at any size.

use page::PageId;
use xxhash_rust::xxh3::xxh3_128_with_seed;

const SHARDS: usize = 256;
const FULL: f64 = 0.85;
const EMPTY: u64 = 0;

/// A set of page ids.
pub struct Sieve {
    shards: Vec<Shard>,
    /// The key of the hash, so that a site cannot choose URLs that fall into one run of slots.
    salt: u64,
}

#[derive(Default)]
struct Shard {
    slots: Vec<u64>,
    taken: usize,
}

impl Sieve {
    /// An empty sieve; `salt` should be hard to guess for whoever writes the URLs.
    pub fn new(salt: u64) -> Self {
        let shards = (0..SHARDS).map(|_| Shard::default()).collect();
        Self { shards, salt }
    }

    /// Adds a page; returns whether it is new.
    pub fn insert(&mut self, page: PageId) -> bool {
        let (shard, mark) = self.place(page);
        let shard = &mut self.shards[shard];
        if (shard.taken + 1) as f64 > shard.slots.len() as f64 * FULL {
            shard.grow();
        }
        shard.insert(mark)
    }

    /// Whether a page was inserted before.
    pub fn contains(&self, page: PageId) -> bool {
        let (shard, mark) = self.place(page);
        let shard = &self.shards[shard];
        !shard.slots.is_empty() && shard.slots[shard.slot(mark)] == mark
    }

    /// How many pages were inserted.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.taken).sum()
    }

    /// Whether nothing was inserted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The shard of an id, and what is stored of it there.
    fn place(&self, page: PageId) -> (usize, u64) {
        let hash = xxh3_128_with_seed(&page.0.to_le_bytes(), self.salt);
        ((hash >> 64) as usize % SHARDS, (hash as u64).max(EMPTY + 1))
    }
}

impl Shard {
    /// Where the mark is, or the empty slot where it would go.
    fn slot(&self, mark: u64) -> usize {
        let mut slot = ((u128::from(mark) * self.slots.len() as u128) >> 64) as usize;
        while self.slots[slot] != mark && self.slots[slot] != EMPTY {
            slot += 1;
            if slot == self.slots.len() {
                slot = 0;
            }
        }
        slot
    }

    fn insert(&mut self, mark: u64) -> bool {
        let slot = self.slot(mark);
        let new = self.slots[slot] == EMPTY;
        if new {
            self.slots[slot] = mark;
            self.taken += 1;
        }
        new
    }

    fn grow(&mut self) {
        let larger = (self.slots.len() + self.slots.len() / 4).max(16);
        let before = std::mem::replace(&mut self.slots, vec![EMPTY; larger]);
        self.taken = 0;
        for mark in before.into_iter().filter(|&mark| mark != EMPTY) {
            self.insert(mark);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use page::HostId;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn agrees_with_a_set(ids in prop::collection::vec(0u128..500, 0..2000), salt: u64) {
            let mut sieve = Sieve::new(salt);
            let mut model = HashSet::new();
            for id in ids {
                prop_assert_eq!(sieve.contains(PageId(id)), model.contains(&id));
                prop_assert_eq!(sieve.insert(PageId(id)), model.insert(id));
            }
            prop_assert_eq!(sieve.len(), model.len());
        }
    }

    #[test]
    fn a_known_page_costs_at_most_12_bytes() {
        let mut sieve = Sieve::new(7);
        let mut state = 1u64;
        for count in 1..=400_000usize {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            sieve.insert(PageId::new(HostId(state % 100), state ^ state >> 29));
            if count > 100_000 && count % 10_000 == 0 {
                let bytes: usize = sieve
                    .shards
                    .iter()
                    .map(|shard| shard.slots.capacity() * 8)
                    .sum();
                assert!(bytes <= 12 * count, "{bytes} bytes for {count} pages");
            }
        }
        assert_eq!(sieve.len(), 400_000);
    }

    #[test]
    fn ids_that_differ_in_one_half_spread_over_the_shards() {
        let mut sieve = Sieve::new(3);
        for n in 0..25_600u64 {
            sieve.insert(PageId::new(HostId(42), n));
            sieve.insert(PageId::new(HostId(n + 100), 42));
        }
        let fullest = sieve.shards.iter().map(|shard| shard.taken).max().unwrap();
        assert!(
            fullest < 400,
            "200 on average, {fullest} in the fullest shard"
        );
    }
}
