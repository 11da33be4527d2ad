//! Which pages are kept when there is room for a few only?
//!
//! The limited buffer of Cho, Garcia-Molina & Page (1998): when it is full, the least important page
//! makes room. **Invariant:** at most `most` pages are kept, and none of those that left was more
//! important, when it left, than any that stayed.
//!
//! Importance mostly grows, as links are found. So the one that looks least important is asked again
//! before it leaves, and stays if others are below it by now.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use frontier::PageKey;
use page::PageId;
use policy::{History, Moment, Number, Page, Worth};

/// The pages that are kept.
pub struct Buffer {
    most: usize,
    kept: BinaryHeap<Reverse<(Worth, Kept)>>,
    pages: HashSet<PageId>,
}

/// A page that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kept {
    /// Which one. Of two that are equally important the newer leaves first.
    pub number: Reverse<u32>,
    /// Where it is in the ledger.
    pub key: PageKey,
    /// Links from a seed.
    pub depth: u16,
}

impl Buffer {
    /// Room for so many pages.
    pub fn new(most: usize) -> Self {
        Self {
            most,
            kept: BinaryHeap::new(),
            pages: HashSet::new(),
        }
    }

    /// Takes in a page that was fetched.
    pub fn keep(&mut self, page: Kept) {
        if self.pages.insert(page.key.page) {
            // How important it is will be asked when it comes to that.
            self.kept.push(Reverse((Worth::NONE, page)));
        }
    }

    /// Takes out the least important page, if there are too many.
    pub fn overflow(&mut self, importance: impl Fn(Page<'_>) -> Worth) -> Option<PageKey> {
        while self.kept.len() > self.most {
            let Reverse((before, page)) = self.kept.pop()?;
            let history = History::discovered(Moment::START, page.depth);
            let now = importance(Page {
                number: Number(page.number.0),
                history: &history,
            });
            let next = self.kept.peek().map(|Reverse(next)| *next);
            if now > before && next.is_some_and(|next| (now, page) > next) {
                self.kept.push(Reverse((now, page)));
                continue;
            }
            self.pages.remove(&page.key.page);
            return Some(page.key);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use frontier::Partition;
    use page::HostId;

    use super::*;

    fn page(number: u32) -> Kept {
        let page = PageId::new(HostId(1), u64::from(number));
        let partition = Partition(0);
        Kept {
            number: Reverse(number),
            key: PageKey { partition, page },
            depth: 0,
        }
    }

    #[test]
    fn the_least_important_leaves_as_things_stand_now() {
        let mut buffer = Buffer::new(2);
        let mut worths = [5.0, 1.0, 3.0, 4.0, 4.0];
        let overflow = |buffer: &mut Buffer, worths: [f64; 5]| {
            let left = buffer.overflow(|page| Worth::new(worths[page.number.index()]));
            left.map(|key| key.page.within_host())
        };
        (0..2).for_each(|number| buffer.keep(page(number)));
        assert_eq!(overflow(&mut buffer, worths), None);
        buffer.keep(page(2));
        assert_eq!(overflow(&mut buffer, worths), Some(1));
        worths[0] = 9.0;
        buffer.keep(page(3));
        assert_eq!(overflow(&mut buffer, worths), Some(2));
        buffer.keep(page(4));
        assert_eq!(
            overflow(&mut buffer, worths),
            Some(4),
            "the newer of equals"
        );
        buffer.keep(page(3));
        assert_eq!(overflow(&mut buffer, worths), None, "it is there already");
    }
}
