//! The outgoing links of all pages that were read.
//!
//! **Invariant:** a new read of a page replaces its earlier links. All links are in one array,
//! with four bytes each. At most half of the array is garbage from replaced links.

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

    /// Stores the links of a page in place of its earlier ones.
    pub fn replace(&mut self, read: &Read<'_>) {
        let index = read.page.index();
        if self.places.len() <= index {
            self.places.resize(index + 1, 0);
        }
        if let Some(old) = self.of(read.page) {
            self.left += HEAD + old.links.len();
        }
        self.places[index] = self.arena.len() as u64 + 1;
        let kept = u32::try_from(read.links.len()).unwrap_or(u32::MAX);
        self.arena.extend([kept, kept.max(read.out_links)]);
        self.arena.extend(read.links.iter().map(|link| link.to.0));
        if self.left > self.arena.len() / 2 {
            self.compact();
        }
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
    use crate::{LinkFact, Text};

    proptest! {
        #[test]
        fn the_links_of_the_last_read_are_kept(
            readings in prop::collection::vec((0u32..20, prop::collection::vec(any::<u32>(), 0..9), 0u32..20), 0..200)
        ) {
            let mut links = Links::default();
            let mut model = HashMap::new();
            for (page, to, out_links) in readings {
                let given: Vec<_> = to.iter().map(|&to| LinkFact::new(Number(to), "")).collect();
                let page = Number(page);
                links.replace(&Read { page, text: Text::Nothing, links: &given, out_links });
                model.insert(page, (to, out_links));
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
