//! The list of pages on a list page at a moment.
//!
//! **Invariant:** a list changes exactly when a page on it is born or dies. Its version is the
//! number of such events so far.

use super::super::life::{PageLife, TextVersion};
use super::super::web::PageNumber;

/// A list of pages, the newest first.
#[derive(Debug)]
pub(super) struct PageList {
    pub title: String,
    /// Birth, death and number of each page, sorted by birth.
    pages: Vec<(f64, f64, PageNumber)>,
    /// The times at which the list changes, in order.
    events: Vec<f64>,
}

impl PageList {
    pub fn new(title: &str) -> Self {
        Self {
            title: title.into(),
            pages: Vec::new(),
            events: Vec::new(),
        }
    }

    /// Adds a page.
    pub fn put(&mut self, page: PageNumber, life: PageLife) {
        let place = self.pages.partition_point(|(born, ..)| *born <= life.born);
        self.pages.insert(place, (life.born, life.dies, page));
        for event in [life.born, life.dies] {
            if event.is_finite() {
                let place = self.events.partition_point(|earlier| *earlier <= event);
                self.events.insert(place, event);
            }
        }
    }

    /// Returns the pages on the list at a moment, newest first.
    pub fn pages(&self, at: f64) -> impl Iterator<Item = PageNumber> {
        let there = self.pages.partition_point(|(born, ..)| *born <= at);
        (self.pages[..there].iter().rev())
            .filter(move |(_, dies, _)| at < *dies)
            .map(|(.., page)| *page)
    }

    pub fn version(&self, at: f64) -> TextVersion {
        let events = self.events.partition_point(|event| *event <= at);
        let since = events.checked_sub(1).map(|last| self.events[last]);
        TextVersion {
            id: events as u64,
            since: since.unwrap_or(-super::PAST),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_changes_when_a_page_comes_or_goes() {
        let life = |born, dies| PageLife {
            rate: 0.0,
            born,
            dies,
        };
        let mut list = PageList::new("boats");
        list.put(PageNumber(7), life(5.0, f64::INFINITY));
        list.put(PageNumber(3), life(-9.0, 10.0));
        let names = |at| list.pages(at).map(|page| page.0).collect::<Vec<_>>();
        assert_eq!((names(0.0), list.version(0.0).since), (vec![3], -9.0));
        assert_eq!(names(5.0), [7, 3], "the newest first");
        assert_eq!(names(10.0), [7]);
        let versions = [0.0, 4.9, 5.0, 9.9, 10.0].map(|at| list.version(at).id);
        assert_eq!(versions, [1, 1, 2, 2, 3]);
    }
}
