//! Which pages does a list name at a moment?
//!
//! **Invariant:** a list changes exactly when a page on it is born or dies, and knows its versions by the number of such
//! events so far.

use super::super::life::{Life, Version};
use super::super::web::PageNumber;

/// A list of pages, the newest first.
#[derive(Debug)]
pub(super) struct Shelf {
    pub title: String,
    /// The pages, by when they are born.
    pages: Vec<(f64, f64, PageNumber)>,
    /// When it changes, in order.
    events: Vec<f64>,
}

impl Shelf {
    pub fn new(title: &str) -> Self {
        Self {
            title: title.into(),
            pages: Vec::new(),
            events: Vec::new(),
        }
    }

    /// Takes one more page.
    pub fn put(&mut self, page: PageNumber, life: Life) {
        let place = self.pages.partition_point(|(born, ..)| *born <= life.born);
        self.pages.insert(place, (life.born, life.dies, page));
        for event in [life.born, life.dies] {
            if event.is_finite() {
                let place = self.events.partition_point(|earlier| *earlier <= event);
                self.events.insert(place, event);
            }
        }
    }

    /// The pages that it names, the newest first.
    pub fn pages(&self, at: f64) -> impl Iterator<Item = PageNumber> {
        let there = self.pages.partition_point(|(born, ..)| *born <= at);
        (self.pages[..there].iter().rev())
            .filter(move |(_, dies, _)| at < *dies)
            .map(|(.., page)| *page)
    }

    pub fn version(&self, at: f64) -> Version {
        let events = self.events.partition_point(|event| *event <= at);
        let since = events.checked_sub(1).map(|last| self.events[last]);
        Version {
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
        let life = |born, dies| Life {
            rate: 0.0,
            born,
            dies,
        };
        let mut shelf = Shelf::new("boats");
        shelf.put(PageNumber(7), life(5.0, f64::INFINITY));
        shelf.put(PageNumber(3), life(-9.0, 10.0));
        let names = |at| shelf.pages(at).map(|page| page.0).collect::<Vec<_>>();
        assert_eq!((names(0.0), shelf.version(0.0).since), (vec![3], -9.0));
        assert_eq!(names(5.0), [7, 3], "the newest first");
        assert_eq!(names(10.0), [7]);
        let versions = [0.0, 4.9, 5.0, 9.9, 10.0].map(|at| shelf.version(at).id);
        assert_eq!(versions, [1, 1, 2, 2, 3]);
    }
}
