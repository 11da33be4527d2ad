//! The seen set: answers whether a page is known and which number it has, from memory.
//!
//! **Invariant:** a page is inserted once and keeps its number. The set is not a Bloom filter:
//! such a filter would save space, but a page that it wrongly takes for known is never fetched.
//!
//! A page is stored as 64 bits of its id, masked with a keyed hash of its host, and found
//! through a hash table of page numbers. Among twenty million pages the probability of any
//! collision is 1 in 100,000. The key is secret, so that an author of URLs cannot provoke one.
//! Shards of the table grow by an eighth at a time and, once large, stay between 76 % and 85 %
//! full. A page costs 8 bytes, and its slot in the table about 6.

use page::{HostId, PageId};
use policy::{Number, Rows};
use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128_with_seed};

const SHARDS: usize = 256;
/// Share of taken slots above which a shard grows.
const FULL: f64 = 0.85;
/// A page number and a tag of the page's hash. The tag avoids most lookups of other pages.
type Slot = [u8; 5];
const EMPTY: Slot = [0; 5];

/// All known pages with their numbers.
pub struct SeenSet {
    /// For each page number the masked id of the page.
    marks: Rows<u64>,
    shards: Vec<Shard>,
    /// The key of the hashes, so that a site cannot choose URLs that fall into one run of
    /// slots.
    salt: u64,
    next: u32,
    /// Number of pages in all shards.
    count: usize,
}

#[derive(Default)]
struct Shard {
    slots: Vec<Slot>,
    taken: usize,
}

/// The hash of a page, which says where it is in the table.
struct HashedPage {
    shard: usize,
    hash: u64,
    mark: u64,
}

impl SeenSet {
    /// Returns an empty set. Authors of URLs must not be able to guess `salt`.
    pub fn new(salt: u64) -> Self {
        let shards = (0..SHARDS).map(|_| Shard::default()).collect();
        Self {
            marks: Rows::new(0),
            shards,
            salt,
            next: 0,
            count: 0,
        }
    }

    /// Returns the number of a page; `None`: it is not known.
    pub fn number(&self, page: PageId) -> Option<Number> {
        let hashed = self.hash(page);
        let shard = &self.shards[hashed.shard];
        shard.find(&hashed, &self.marks)
    }

    /// Inserts a page that is not known yet, with the next number.
    pub fn insert(&mut self, page: PageId) -> Number {
        let number = Number(self.next);
        self.restore(page, number);
        number
    }

    /// Inserts a page with the number that an earlier run gave it.
    pub fn restore(&mut self, page: PageId, number: Number) {
        let hashed = self.hash(page);
        self.marks.set(number.index(), hashed.mark);
        self.next = self.next.max(number.0 + 1);
        self.count += 1;
        let shard = &mut self.shards[hashed.shard];
        if (shard.taken + 1) as f64 > shard.slots.len() as f64 * FULL {
            let larger = (shard.slots.len() + shard.slots.len() / 8).max(16);
            self.grow(hashed.shard, larger);
        }
        self.shards[hashed.shard].insert(hashed.hash, number);
    }

    /// Gives no number below `first` to a page that is inserted later.
    pub fn skip_to(&mut self, first: u32) {
        self.next = self.next.max(first);
    }

    /// Returns whether a page has this number. A masked id is never 0, except with a probability of
    /// one in 2^64.
    pub fn has(&self, number: Number) -> bool {
        // Without gaps, no page has to be looked up.
        number.0 < self.next
            && (self.count == self.next as usize || self.marks.get(number.index()) != 0)
    }

    /// Returns the page of a host that has this number.
    pub fn page(&self, host: HostId, number: Number) -> PageId {
        let mark = self.marks.get(number.index());
        PageId::new(host, mark ^ self.mask(host))
    }

    /// Number of known pages.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether no page is known.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn mask(&self, host: HostId) -> u64 {
        xxh3_64_with_seed(&host.0.to_le_bytes(), self.salt)
    }

    fn hash(&self, page: PageId) -> HashedPage {
        self.hash_mark(page.within_host() ^ self.mask(page.host()))
    }

    /// Hashes a mark. Two pages with equal marks count as one page, so the hash of the mark
    /// suffices.
    fn hash_mark(&self, mark: u64) -> HashedPage {
        let hash = xxh3_128_with_seed(&mark.to_le_bytes(), self.salt);
        HashedPage {
            shard: (hash >> 64) as usize % SHARDS,
            hash: hash as u64,
            mark,
        }
    }

    fn grow(&mut self, shard: usize, larger: usize) {
        let fresh = Shard {
            slots: vec![EMPTY; larger],
            taken: 0,
        };
        let before = std::mem::replace(&mut self.shards[shard], fresh);
        for slot in before.slots.into_iter().filter(|slot| *slot != EMPTY) {
            let number = number_of(slot);
            let hash = self.hash_mark(self.marks.get(number.index())).hash;
            self.shards[shard].insert(hash, number);
        }
    }
}

impl Shard {
    /// Returns the number of a page; `None`: it is not in this shard.
    fn find(&self, hashed: &HashedPage, marks: &Rows<u64>) -> Option<Number> {
        if self.slots.is_empty() {
            return None;
        }
        let mut slot = self.first(hashed.hash);
        loop {
            let found = self.slots[slot];
            if found == EMPTY {
                return None;
            }
            if found[4] == tag(hashed.hash) && marks.get(number_of(found).index()) == hashed.mark {
                return Some(number_of(found));
            }
            slot = self.after(slot);
        }
    }

    fn insert(&mut self, hash: u64, number: Number) {
        let mut slot = self.first(hash);
        while self.slots[slot] != EMPTY {
            slot = self.after(slot);
        }
        let [a, b, c, d] = number.0.to_le_bytes();
        self.slots[slot] = [a, b, c, d, tag(hash)];
        self.taken += 1;
    }

    fn first(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.slots.len() as u128) >> 64) as usize
    }

    fn after(&self, slot: usize) -> usize {
        if slot + 1 == self.slots.len() {
            0
        } else {
            slot + 1
        }
    }
}

/// Returns seven bits of a hash and a 1, so that no taken slot looks empty.
fn tag(hash: u64) -> u8 {
    (hash as u8) | 1
}

fn number_of([a, b, c, d, _]: Slot) -> Number {
    Number(u32::from_le_bytes([a, b, c, d]))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_set_agrees_with_a_map_and_numbers_are_dense(ids in prop::collection::vec((0u64..4, 0u64..200), 0..2000), salt: u64) {
            let mut seen = SeenSet::new(salt);
            let mut model = HashMap::new();
            for (host, page) in ids {
                let page = PageId::new(HostId(host), page);
                prop_assert_eq!(seen.number(page), model.get(&page).copied());
                if seen.number(page).is_none() {
                    model.insert(page, seen.insert(page));
                }
                prop_assert_eq!(seen.page(page.host(), model[&page]), page);
            }
            prop_assert_eq!(seen.len(), model.len());
            let mut numbers: Vec<u32> = model.values().map(|number| number.0).collect();
            numbers.sort_unstable();
            prop_assert!(numbers.iter().copied().eq(0..model.len() as u32), "numbers are dense");
        }
    }

    #[test]
    fn numbers_of_an_earlier_run_are_kept() {
        let mut seen = SeenSet::new(1);
        let page = |number| PageId::new(HostId(9), number);
        for number in [5u32, 0, 3] {
            seen.restore(page(u64::from(number)), Number(number));
        }
        assert_eq!(seen.number(page(3)), Some(Number(3)));
        assert_eq!(seen.insert(page(77)), Number(6));
        assert_eq!(seen.len(), 4);
    }
}
