//! Has this page been heard of before? Exactly, from memory.
//!
//! **Invariant:** `insert` answers `true` once for every id and never again. No filter with false
//! positives: a page taken for known is lost for good.
//!
//! Open addressing over the full 128-bit ids, in shards that grow by a quarter at a time, so that
//! the table stays between 68 % and 85 % full: 19 to 24 bytes for a known page, at any size.

use page::PageId;

const SHARDS: usize = 256;
const FULL: f64 = 0.85;
const EMPTY: u128 = 0;

/// A set of page ids.
pub struct Sieve {
    shards: Vec<Shard>,
    /// Mixed into every hash, so that a site cannot choose URLs that fall into one run of slots.
    salt: u64,
    /// Whether the one id that looks like an empty slot was inserted.
    zero: bool,
}

#[derive(Default)]
struct Shard {
    slots: Vec<u128>,
    taken: usize,
}

impl Sieve {
    /// An empty sieve; `salt` should be hard to guess for whoever writes the URLs.
    pub fn new(salt: u64) -> Self {
        let shards = (0..SHARDS).map(|_| Shard::default()).collect();
        Self {
            shards,
            salt: salt | 1,
            zero: false,
        }
    }

    /// Adds a page; returns whether it is new.
    pub fn insert(&mut self, page: PageId) -> bool {
        if page.0 == EMPTY {
            return !std::mem::replace(&mut self.zero, true);
        }
        let hash = self.hash(page.0);
        let salt = self.salt;
        let shard = &mut self.shards[(hash >> 56) as usize];
        if (shard.taken + 1) as f64 > shard.slots.len() as f64 * FULL {
            shard.grow(salt);
        }
        shard.insert(page.0, hash)
    }

    /// Whether a page was inserted before.
    pub fn contains(&self, page: PageId) -> bool {
        if page.0 == EMPTY {
            return self.zero;
        }
        let hash = self.hash(page.0);
        let shard = &self.shards[(hash >> 56) as usize];
        !shard.slots.is_empty() && shard.slots[shard.slot(page.0, hash)] == page.0
    }

    /// How many pages were inserted.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.taken).sum::<usize>() + usize::from(self.zero)
    }

    /// Whether nothing was inserted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn hash(&self, id: u128) -> u64 {
        mix(id, self.salt)
    }
}

impl Shard {
    /// Where the id is, or the empty slot where it would go.
    fn slot(&self, id: u128, hash: u64) -> usize {
        // The upper eight bits chose the shard; the rest, spread over the length, the slot.
        let mut slot = ((u128::from(hash << 8) * self.slots.len() as u128) >> 64) as usize;
        while self.slots[slot] != id && self.slots[slot] != EMPTY {
            slot += 1;
            if slot == self.slots.len() {
                slot = 0;
            }
        }
        slot
    }

    fn insert(&mut self, id: u128, hash: u64) -> bool {
        let slot = self.slot(id, hash);
        let new = self.slots[slot] == EMPTY;
        if new {
            self.slots[slot] = id;
            self.taken += 1;
        }
        new
    }

    fn grow(&mut self, salt: u64) {
        let larger = (self.slots.len() + self.slots.len() / 4).max(16);
        let before = std::mem::replace(&mut self.slots, vec![EMPTY; larger]);
        self.taken = 0;
        for id in before.into_iter().filter(|&id| id != EMPTY) {
            self.insert(id, mix(id, salt));
        }
    }
}

/// A folded multiplication: every bit of the id and the salt moves the upper bits.
fn mix(id: u128, salt: u64) -> u64 {
    let halves = ((id >> 64) as u64 ^ salt, id as u64 ^ salt.rotate_left(32));
    let wide = u128::from(halves.0 | 1) * u128::from(halves.1);
    let once = (wide >> 64) as u64 ^ wide as u64;
    let again = u128::from(once) * u128::from(0x9e37_79b9_7f4a_7c15_u64 ^ salt << 1);
    (again >> 64) as u64 ^ again as u64
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
    fn a_known_page_costs_at_most_24_bytes() {
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
                    .map(|shard| shard.slots.capacity() * 16)
                    .sum();
                assert!(bytes <= 24 * count, "{bytes} bytes for {count} pages");
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
