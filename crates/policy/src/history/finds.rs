//! Counts of new pages that the last visits to a page discovered. The rate λ of a content
//! source is estimated from them.
//!
//! Lefortier et al., "Timely crawling of high-quality ephemeral new content" (2013), §4.2.2:
//! the number of new links found during the last T crawls, with T from 3 to 10.
//!
//! **Invariant:** a page that never named a new page keeps no window, so pages that are no
//! sources serialize to almost nothing.

use serde::{Deserialize, Serialize};

use super::Recent;

/// The largest number of visits that are kept: the largest T of the paper.
pub const WINDOW: usize = 10;

/// The discoveries of one visit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Find {
    /// Seconds since the page was last read.
    pub gap: f32,
    /// Number of pages that the visit discovered.
    pub new: u32,
}

/// The total number of discoveries, and the last [`WINDOW`] visits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "(u32, Vec<Find>)", into = "(u32, Vec<Find>)")]
pub struct Finds {
    /// Number of new pages over all revisits.
    pub total: u32,
    visits: [Find; WINDOW],
    kept: u8,
}

impl Finds {
    /// Returns the last visits, the oldest first. Empty before the first discovery.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Find> {
        self.visits[..usize::from(self.kept)].iter()
    }

    /// Adds a visit. `recent` holds the revisits, of which this one is the last.
    ///
    /// The first discovery also adds the earlier revisits in `recent`, which found nothing.
    pub(super) fn push(&mut self, new: u32, gap: f32, recent: &Recent) {
        if self.total == 0 && new == 0 {
            return;
        }
        if self.total == 0 {
            let fruitless = recent.iter().take(recent.len() - 1);
            fruitless.for_each(|visit| {
                self.keep(Find {
                    gap: visit.gap,
                    new: 0,
                })
            });
        }
        self.total = self.total.saturating_add(new);
        self.keep(Find { gap, new });
    }

    fn keep(&mut self, find: Find) {
        if usize::from(self.kept) == WINDOW {
            self.visits.rotate_left(1);
            self.kept -= 1;
        }
        self.visits[usize::from(self.kept)] = find;
        self.kept += 1;
    }
}

impl From<(u32, Vec<Find>)> for Finds {
    fn from((total, visits): (u32, Vec<Find>)) -> Self {
        let mut finds = Self {
            total,
            ..Self::default()
        };
        visits.into_iter().for_each(|find| finds.keep(find));
        finds
    }
}

impl From<Finds> for (u32, Vec<Find>) {
    fn from(finds: Finds) -> Self {
        (finds.total, finds.iter().copied().collect())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{History, Moment, Outcome, Visit};

    #[test]
    fn finds_count_from_the_second_visit_and_include_earlier_visits_without_finds() {
        let mut history = History::discovered(Moment::START, 0);
        let mut now = Moment::START;
        let mut visit = |gap: u64, new: u32| {
            now = now + Duration::from_secs(gap);
            history = history.after(Visit::new(now, Outcome::Changed)).named(new);
            history.finds
        };
        assert_eq!(
            visit(5, 40),
            Finds::default(),
            "a first visit counts nothing"
        );
        assert_eq!(visit(10, 0), Finds::default());
        assert_eq!(visit(20, 0), Finds::default());
        let finds = visit(30, 3);
        let kept: Vec<_> = finds.iter().map(|find| (find.gap, find.new)).collect();
        assert_eq!(kept, [(10.0, 0), (20.0, 0), (30.0, 3)]);
        let finds = (0..20).map(|_| visit(1, 1)).last().unwrap();
        assert_eq!((finds.total, finds.iter().count()), (23, WINDOW));
        assert_eq!(Finds::from(<(u32, Vec<Find>)>::from(finds)), finds);
    }
}
