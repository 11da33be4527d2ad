//! What did the last copy of a page have, wherever it is?
//!
//! **Invariant:** a page put or removed since the last commit is answered from memory, every other from memory or,
//! with the same answer, from the text that the index keeps.
//!
//! Two generations: pages that were put lately, and those before. When the young ones fill half of the room,
//! they become the old ones, and the old ones go.

use std::collections::HashMap;
use std::mem;

use page::PageId;

use super::copy::Copy;

/// Bytes for copies that are committed. A copy of a page of a thousand words takes about one kilobyte.
pub(super) const ROOM: usize = 32 << 20;

/// What a page costs in a map, beside its copy.
const ENTRY: usize = 40;

/// The copies in memory. `None`: the page was removed.
#[derive(Default)]
pub(super) struct Copies {
    young: HashMap<PageId, Option<Copy>>,
    old: HashMap<PageId, Option<Copy>>,
    young_bytes: usize,
}

impl Copies {
    /// Takes the copy of a page out. `None`: not known here; ask the index.
    pub(super) fn take(&mut self, page: PageId) -> Option<Option<Copy>> {
        if let Some(copy) = self.young.remove(&page) {
            self.young_bytes -= size(&copy);
            return Some(copy);
        }
        self.old.remove(&page)
    }

    /// Keeps a copy that was just put, or that a page was removed.
    pub(super) fn keep(&mut self, page: PageId, copy: Option<Copy>) {
        self.young_bytes += size(&copy);
        if let Some(before) = self.young.insert(page, copy) {
            self.young_bytes -= size(&before);
        }
    }

    /// Everything is committed: what takes too much room can go.
    pub(super) fn committed(&mut self, room: usize) {
        if self.young_bytes > room / 2 {
            self.old = mem::take(&mut self.young);
            self.young_bytes = 0;
        }
    }
}

fn size(copy: &Option<Copy>) -> usize {
    ENTRY + copy.as_ref().map_or(0, Copy::size)
}

#[cfg(test)]
mod tests {
    use super::super::copy::Lengths;
    use super::*;

    #[test]
    fn what_is_not_committed_stays() {
        let copy = |word| Copy::new(Lengths::of([0; 3]), [(word, 1)].into_iter());
        let mut copies = Copies::default();
        for page in 0..100 {
            copies.keep(PageId(page), Some(copy(page as u16)));
        }
        copies.keep(PageId(5), None);
        assert_eq!(copies.take(PageId(5)), Some(None));
        assert_eq!(copies.take(PageId(5)), None);
        assert_eq!(copies.take(PageId(7)), Some(Some(copy(7))));
        let entry = copies.young_bytes / copies.young.len();
        copies.committed(entry * 10);
        assert_eq!(
            copies.take(PageId(8)),
            Some(Some(copy(8))),
            "still among the old"
        );
        for page in 200..210 {
            copies.keep(PageId(page), Some(copy(1)));
        }
        copies.committed(entry * 10);
        assert_eq!(copies.take(PageId(9)), None, "gone");
        assert_eq!(copies.take(PageId(200)), Some(Some(copy(1))));
        copies.committed(usize::MAX);
        assert_eq!(
            copies.take(PageId(201)),
            Some(Some(copy(1))),
            "there is room"
        );
    }
}
