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

/// Maximum number of visits that are kept: the largest T of the paper.
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

    /// Returns these discoveries with further links added to the last visits. `more` has the
    /// links of each of the last visits, the oldest first, and `total` those of all visits.
    ///
    /// Visits in `recent` take the place of a window that is not kept because nothing was
    /// discovered.
    pub fn and(&self, total: u32, more: &[u32], recent: &Recent) -> Self {
        let mut finds = *self;
        if total == 0 {
            return finds;
        }
        if self.total == 0 {
            let visits = recent.iter().map(|visit| visit.gap);
            visits.for_each(|gap| finds.keep(Find { gap, new: 0 }));
        }
        finds.total = finds.total.saturating_add(total);
        let kept = usize::from(finds.kept);
        let last = finds.visits[..kept].iter_mut().rev();
        for (find, more) in last.zip(more.iter().rev()) {
            find.new = find.new.saturating_add(*more);
        }
        finds
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

    #[test]
    fn further_links_are_added_to_the_last_visits() {
        let mut history = History::discovered(Moment::START, 0);
        for hour in 0..4 {
            let now = Moment::START + Duration::from_secs(hour * 3_600);
            history = history.after(Visit::new(now, Outcome::Changed)).named(0);
        }
        let kept = |finds: Finds| {
            let finds: Vec<u32> = finds.iter().map(|find| find.new).collect();
            finds
        };
        assert_eq!(
            history.finds.and(0, &[0, 0], &history.recent),
            history.finds
        );
        let more = history.finds.and(9, &[0, 2, 0, 1], &history.recent);
        assert_eq!((more.total, kept(more)), (9, vec![2, 0, 1]));
        let now = Moment::START + Duration::from_secs(4 * 3_600);
        history = history.after(Visit::new(now, Outcome::Changed)).named(5);
        let more = history.finds.and(9, &[2, 0, 1, 1], &history.recent);
        assert_eq!((more.total, kept(more)), (14, vec![2, 0, 1, 6]));
    }
}
