//! Selects the pages to keep when the archive has room for a limited number.
//!
//! The limited buffer of Cho, Garcia-Molina & Page (1998): when it is full, it drops the page that
//! its policy considers least important. Among equally important pages it drops the newest one.
//!
//! Importance mostly grows as links are found. So before a page is dropped its importance is
//! computed again, and it stays if another page is now less important. A page whose importance
//! fell is noticed only when it reaches the top of the heap: computing the importance of all
//! pages each time would cost too much.
//!
//! **Invariant:** after [`Buffer::overflow`] returned `None`, at most `most` pages are kept.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use policy::{History, Moment, Number, Page, Policy, Worth};

/// The kept pages, each with a key that the caller chooses.
#[derive(Debug)]
pub struct Buffer<K> {
    most: usize,
    /// Min-heap by importance, as last computed.
    ranked: BinaryHeap<Reverse<(Worth, Reverse<Number>)>>,
    pages: HashMap<Number, BufferedPage<K>>,
}

#[derive(Debug)]
struct BufferedPage<K> {
    depth: u16,
    key: K,
}

impl<K> Buffer<K> {
    /// Returns an empty buffer for at most `most` pages.
    pub fn new(most: usize) -> Self {
        Self {
            most,
            ranked: BinaryHeap::new(),
            pages: HashMap::new(),
        }
    }

    /// Adds a page that was fetched; `depth` is its distance from a seed in links. Does nothing
    /// if the page is kept already.
    pub fn keep(&mut self, number: Number, depth: u16, key: K) {
        if self.pages.contains_key(&number) {
            return;
        }
        self.pages.insert(number, BufferedPage { depth, key });
        // Its importance is computed when it reaches the top.
        self.ranked.push(Reverse((Worth::NONE, Reverse(number))));
    }

    /// Removes the least important page and returns its key, if there are more than `most` pages.
    pub fn overflow(&mut self, policy: &impl Policy) -> Option<K> {
        while self.ranked.len() > self.most {
            let Reverse((before, Reverse(number))) = self.ranked.pop()?;
            let depth = self.pages.get(&number)?.depth;
            let history = History::discovered(Moment::START, depth);
            let now = policy.importance(Page {
                number,
                history: &history,
            });
            let asked = (now, Reverse(number));
            let next = self.ranked.peek();
            if now > before && next.is_some_and(|Reverse(next)| asked > *next) {
                self.ranked.push(Reverse(asked));
                continue;
            }
            return self.pages.remove(&number).map(|kept| kept.key);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Assigns each page this importance.
    struct Believing([f64; 5]);

    impl Policy for Believing {
        fn worth(&self, page: Page<'_>, _now: Moment) -> Worth {
            Worth::new(self.0[page.number.index()])
        }
    }

    /// Prefers pages near the seeds.
    struct Near;

    impl Policy for Near {
        fn worth(&self, page: Page<'_>, _now: Moment) -> Worth {
            Worth::new(f64::from(page.history.depth + 1).recip())
        }
    }

    fn kept(most: usize, pages: &[u32], policy: &Believing) -> Buffer<u32> {
        let mut buffer = Buffer::new(most);
        for &page in pages {
            buffer.keep(Number(page), 0, page);
            assert_eq!(buffer.overflow(policy), None);
        }
        buffer
    }

    #[test]
    fn the_page_that_is_least_important_now_is_dropped() {
        let mut policy = Believing([5.0, 1.0, 3.0, 4.0, 4.0]);
        let mut buffer = kept(2, &[0, 1], &policy);
        let mut keep = |number: u32, policy: &Believing| {
            buffer.keep(Number(number), 0, number);
            buffer.overflow(policy)
        };
        assert_eq!(keep(2, &policy), Some(1));
        policy.0[0] = 9.0;
        assert_eq!(keep(3, &policy), Some(2));
        assert_eq!(keep(4, &policy), Some(4), "the newer of equals");
        assert_eq!(keep(3, &policy), None, "it is there already");
        assert_eq!(keep(4, &policy), Some(4), "it may come back");
    }

    #[test]
    fn importance_is_computed_with_the_depth_of_a_page() {
        let mut buffer = Buffer::new(1);
        buffer.keep(Number(7), 3, "deep");
        buffer.keep(Number(8), 1, "shallow");
        assert_eq!(buffer.overflow(&Near), Some("deep"));
        assert_eq!(buffer.overflow(&Near), None);
    }

    #[test]
    fn a_buffer_of_size_zero_drops_all_pages_and_an_unlimited_one_none() {
        let policy = Believing([5.0, 1.0, 3.0, 4.0, 4.0]);
        kept(usize::MAX, &[0, 1, 2, 3, 4], &policy);
        let mut none = Buffer::new(0);
        none.keep(Number(3), 0, 3);
        assert_eq!(none.overflow(&policy), Some(3));
    }
}
