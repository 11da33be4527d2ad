//! The outgoing links of all pages that were read.
//!
//! **Invariant:** a new read of a page replaces its earlier links. All links are in one array,
//! with four bytes each. After the last part of a read, at most half of the array is garbage from
//! replaced links.

use std::ops::Range;

use crate::{Number, Read};

/// Length of a record's header, in words: the number of stored links, and the number of all
/// links.
const HEAD: usize = 2;

/// The links of all pages that were read.
#[derive(Debug, Clone, Default)]
pub struct Links {
    /// Start of each page's record plus one; 0 if it was never read.
    places: Vec<u64>,
    /// The records: a header of [`HEAD`] words, then the links.
    arena: Vec<u32>,
    /// Number of words that belong to replaced records.
    left: usize,
    /// The links in the array that the next part of a read replaces.
    replaced: Range<usize>,
}

/// The links of a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outgoing<'a> {
    /// The linked pages that are known, by number.
    pub links: &'a [u32],
    /// Number of all linked pages, including those outside the crawl; at least the length of
    /// `links`.
    pub all: u32,
}

impl Links {
    /// Returns the links of this page, or `None` if it was never read.
    pub fn of(&self, page: Number) -> Option<Outgoing<'_>> {
        let place = *self.places.get(page.index())?;
        let start = usize::try_from(place.checked_sub(1)?).ok()?;
        let kept = *self.arena.get(start)? as usize;
        Some(Outgoing {
            links: self.arena.get(start + HEAD..start + HEAD + kept)?,
            all: *self.arena.get(start + 1)?,
        })
    }

    /// Returns whether the page was read.
    pub fn has(&self, page: Number) -> bool {
        self.places
            .get(page.index())
            .is_some_and(|&place| place > 0)
    }

    /// Stores the links of a page in place of its earlier ones. Returns the earlier links that
    /// this part of the read replaces: those to page numbers up to the last one of the part, or
    /// all that are left if it is the last part.
    pub fn replace(&mut self, read: &Read<'_>) -> Vec<u32> {
        if read.part.is_first() {
            self.begin(read);
        }
        let first = self.arena.len();
        self.arena.extend(read.links.iter().map(|link| link.to.0));
        let mut replaced = &self.arena[self.replaced.clone()];
        if let Some(last) = read.links.last().filter(|_| !read.part.is_last()) {
            let end = replaced.partition_point(|&to| to <= last.to.0);
            replaced = &replaced[..end];
        }
        let replaced = replaced.to_vec();
        self.replaced.start += replaced.len();
        // Lookups between two parts find the links of the parts so far.
        let head = (self.places[read.page.index()] - 1) as usize;
        self.arena[head] += (self.arena.len() - first) as u32;
        if read.part.is_last() && self.left > self.arena.len() / 2 {
            self.compact();
        }
        replaced
    }

    /// Starts a new record without links.
    fn begin(&mut self, read: &Read<'_>) {
        let index = read.page.index();
        if self.places.len() <= index {
            self.places.resize(index + 1, 0);
        }
        self.replaced = 0..0;
        if let Some(old) = self.of(read.page).map(|old| old.links.len()) {
            let start = (self.places[index] - 1) as usize + HEAD;
            self.replaced = start..start + old;
            self.left += HEAD + old;
        }
        self.places[index] = self.arena.len() as u64 + 1;
        let known = u32::try_from(read.known_links()).unwrap_or(u32::MAX);
        self.arena.extend([0, known.max(read.out_links)]);
    }

    fn compact(&mut self) {
        let mut arena = Vec::with_capacity(self.arena.len() - self.left);
        for place in self.places.iter_mut().filter(|place| **place > 0) {
            let start = (*place - 1) as usize;
            let end = start + HEAD + self.arena[start] as usize;
            *place = arena.len() as u64 + 1;
            arena.extend_from_slice(&self.arena[start..end]);
        }
        self.arena = arena;
        self.left = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::{LinkFact, Part, Text};

    proptest! {
        #[test]
        fn the_links_of_the_last_read_are_kept(
            readings in prop::collection::vec((0u32..20, prop::collection::btree_set(any::<u32>(), 0..9), 0u32..20), 0..200),
            size in 1usize..9,
        ) {
            let mut links = Links::default();
            let mut model = HashMap::new();
            for (page, to, out_links) in readings {
                let to: Vec<u32> = to.into_iter().collect();
                let given: Vec<_> = to.iter().map(|&to| LinkFact::new(Number(to), "")).collect();
                let page = Number(page);
                let read = Read { page, text: Text::Nothing, links: &given, out_links, part: Part::WHOLE };
                let mut replaced = Vec::new();
                for part in read.in_parts(size) {
                    let old = links.replace(&part);
                    if let Some(last) = part.links.last().filter(|_| !part.part.is_last()) {
                        prop_assert!(old.iter().all(|to| *to <= last.to.0));
                    }
                    replaced.extend(old);
                }
                let before = model.insert(page, (to, out_links));
                prop_assert_eq!(replaced, before.map_or(Vec::new(), |(to, _)| to));
                prop_assert!(links.left * 2 <= links.arena.len());
            }
            for page in (0..25).map(Number) {
                let kept = links.of(page).map(|kept| (kept.links.to_vec(), kept.all));
                let expected = model.get(&page).map(|(to, all)| (to.clone(), (*all).max(to.len() as u32)));
                prop_assert_eq!(kept, expected);
                prop_assert_eq!(links.has(page), model.contains_key(&page));
            }
        }
    }
}
