//! An array with one value per page.
//!
//! **Invariant:** a page is added once, and pages may be added in any order. A lookup of a page
//! that was never added returns `None` and does not panic.

use crate::{Number, Rows};

/// The values of all known pages.
#[derive(Debug, Clone)]
pub struct Column<T> {
    values: Rows<T>,
    /// One bit per page: whether it was added.
    known: Vec<u64>,
    len: usize,
}

impl<T: Copy + Default> Default for Column<T> {
    fn default() -> Self {
        Self {
            values: Rows::new(T::default()),
            known: Vec::new(),
            len: 0,
        }
    }
}

impl<T: Copy + Default> Column<T> {
    /// Adds the value of a page. Returns whether the page is new; if not, its value stays.
    pub fn add(&mut self, page: Number, value: T) -> bool {
        let index = page.index();
        if index / 64 >= self.known.len() {
            self.known.resize(index / 64 + 1, 0);
        }
        if self.is_known(index) {
            return false;
        }
        self.known[index / 64] |= 1 << (index % 64);
        self.values.set(index, value);
        self.len += 1;
        true
    }

    /// Returns the value of a page.
    pub fn get(&self, page: Number) -> Option<T> {
        let known = self.is_known(page.index());
        known.then(|| self.values.get(page.index()))
    }

    /// Returns the value of a page, for modification.
    pub fn get_mut(&mut self, page: Number) -> Option<&mut T> {
        let known = self.is_known(page.index());
        self.values.get_mut(page.index()).filter(|_| known)
    }

    /// Returns all values, in the order of page numbers.
    pub fn iter(&self) -> impl Iterator<Item = (Number, T)> {
        let all = (0..64 * self.known.len()).filter(|index| self.is_known(*index));
        all.map(|index| (Number(index as u32), self.values.get(index)))
    }

    /// Returns all values for modification, in the order of page numbers.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Number, &mut T)> {
        let known = &self.known;
        let all = (0..64 * known.len() as u32).map(Number);
        all.zip(self.values.iter_mut())
            .filter(|(page, _)| known[page.index() / 64] >> (page.index() % 64) & 1 == 1)
    }

    /// Returns a number above those of all pages.
    pub fn end(&self) -> usize {
        64 * self.known.len()
    }

    /// Returns the number of pages.
    pub fn len(&self) -> usize {
        self.len
    }

    fn is_known(&self, index: usize) -> bool {
        let word = self.known.get(index / 64).copied().unwrap_or(0);
        word >> (index % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_added_in_any_order_and_once() {
        let mut column = Column::default();
        for (page, new) in [(70, true), (3, true), (70, false), (0, true), (3, false)] {
            assert_eq!(column.add(Number(page), page), new, "{page}");
        }
        assert_eq!(column.len(), 3);
        for (page, value) in [
            (0, Some(0)),
            (1, None),
            (3, Some(3)),
            (70, Some(70)),
            (9000, None),
        ] {
            assert_eq!(column.get(Number(page)), value, "{page}");
            assert_eq!(column.get_mut(Number(page)).copied(), value, "{page}");
        }
        let all: Vec<u32> = column.iter_mut().map(|(page, _)| page.0).collect();
        assert_eq!(all, [0, 3, 70]);
    }
}
