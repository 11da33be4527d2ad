//! Has this page been heard of before, and which number has it? From memory, in a fraction of a
//! microsecond.
//!
//! **Invariant:** a page is enrolled once and keeps its number. No filter that trades false positives
//! for space: a page taken for known is lost for good.
//!
//! A page is kept as 64 bits of its id, masked with a keyed hash of its host, and found by a table of
//! numbers. Among twenty million pages the chance that any two agree is 1 in 100,000, and nobody who
//! writes URLs can bring it about. Shards of the table grow by an eighth at a time, so that they stay
//! between 76 % and 85 % full: 8 bytes for the page and about 6 for its place in the table.

use page::{HostId, PageId};
use policy::Number;
use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128_with_seed};

use crate::rows::Rows;

const SHARDS: usize = 256;
const FULL: f64 = 0.85;
/// A number, and eight bits of the hash of its page, so that few pages are looked at in vain.
type Slot = [u8; 5];
const EMPTY: Slot = [0; 5];

/// All pages ever heard of, numbered.
pub struct Roll {
    marks: Rows<u64>,
    shards: Vec<Shard>,
    /// The key of the hashes, so that a site cannot choose URLs that fall into one run of slots.
    salt: u64,
    next: u32,
    /// Pages in all shards.
    count: usize,
}

#[derive(Default)]
struct Shard {
    slots: Vec<Slot>,
    taken: usize,
}

/// Where a page would be in the table.
struct Place {
    shard: usize,
    hash: u64,
    mark: u64,
}

impl Roll {
    /// An empty roll; `salt` should be hard to guess for whoever writes the URLs.
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

    /// The number of a page; `None`: it was never heard of.
    pub fn number(&self, page: PageId) -> Option<Number> {
        let place = self.place(page);
        let shard = &self.shards[place.shard];
        shard.find(&place, &self.marks).ok()
    }

    /// Gives a page that was never heard of the next number.
    pub fn enroll(&mut self, page: PageId) -> Number {
        let number = Number(self.next);
        self.restore(page, number);
        number
    }

    /// Takes in a page with the number that it was given in an earlier run.
    pub fn restore(&mut self, page: PageId, number: Number) {
        let place = self.place(page);
        self.marks.set(number.index(), place.mark);
        self.next = self.next.max(number.0 + 1);
        self.count += 1;
        let shard = &mut self.shards[place.shard];
        if (shard.taken + 1) as f64 > shard.slots.len() as f64 * FULL {
            let larger = (shard.slots.len() + shard.slots.len() / 8).max(16);
            self.grow(place.shard, larger);
        }
        self.shards[place.shard].insert(place.hash, number);
    }

    /// The page of a host that has this number.
    pub fn page(&self, host: HostId, number: Number) -> PageId {
        let mark = self.marks.get(number.index());
        PageId::new(host, mark ^ self.mask(host))
    }

    /// How many pages were enrolled.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether nothing was enrolled.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn mask(&self, host: HostId) -> u64 {
        xxh3_64_with_seed(&host.0.to_le_bytes(), self.salt)
    }

    fn place(&self, page: PageId) -> Place {
        self.place_of(page.within_host() ^ self.mask(page.host()))
    }

    /// The place of a mark: marks are told apart by all of their bits, so a place needs no more.
    fn place_of(&self, mark: u64) -> Place {
        let hash = xxh3_128_with_seed(&mark.to_le_bytes(), self.salt);
        Place {
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
            let hash = self.place_of(self.marks.get(number.index())).hash;
            self.shards[shard].insert(hash, number);
        }
    }
}

impl Shard {
    /// The number of a page, or the empty slot where it would go.
    fn find(&self, place: &Place, marks: &Rows<u64>) -> Result<Number, usize> {
        if self.slots.is_empty() {
            return Err(0);
        }
        let mut slot = self.first(place.hash);
        loop {
            let found = self.slots[slot];
            if found == EMPTY {
                return Err(slot);
            }
            if found[4] == tag(place.hash) && marks.get(number_of(found).index()) == place.mark {
                return Ok(number_of(found));
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

/// Never zero, so that no taken slot looks empty.
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
        fn agrees_with_a_map(ids in prop::collection::vec((0u64..4, 0u64..200), 0..2000), salt: u64) {
            let mut roll = Roll::new(salt);
            let mut model = HashMap::new();
            for (host, page) in ids {
                let page = PageId::new(HostId(host), page);
                prop_assert_eq!(roll.number(page), model.get(&page).copied());
                if roll.number(page).is_none() {
                    model.insert(page, roll.enroll(page));
                }
                prop_assert_eq!(roll.page(page.host(), model[&page]), page);
            }
            prop_assert_eq!(roll.len(), model.len());
            let mut numbers: Vec<u32> = model.values().map(|number| number.0).collect();
            numbers.sort_unstable();
            prop_assert!(numbers.iter().copied().eq(0..model.len() as u32), "numbers are dense");
        }
    }

    #[test]
    fn numbers_of_an_earlier_run_are_kept() {
        let mut roll = Roll::new(1);
        let page = |number| PageId::new(HostId(9), number);
        for number in [5u32, 0, 3] {
            roll.restore(page(u64::from(number)), Number(number));
        }
        assert_eq!(roll.number(page(3)), Some(Number(3)));
        assert_eq!(roll.enroll(page(77)), Number(6));
        assert_eq!(roll.len(), 4);
    }
}
