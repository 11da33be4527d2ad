//! Which pages are on one host?
//!
//! **Invariant:** hosts are numbered densely, so that what is kept of them is an array; it grows as it is
//! written to.

use super::Column;
use crate::{Discovered, Number};

/// The host of each page.
#[derive(Debug, Clone, Default)]
pub struct Hosts(Column<u32>);

impl Hosts {
    /// Takes note of a page.
    pub fn add(&mut self, discovered: &Discovered<'_>) {
        self.0.add(discovered.page, discovered.host);
    }

    /// What is kept of the host of this page, if anything is.
    pub fn of<'a, T>(&self, page: Number, kept: &'a [T]) -> Option<&'a T> {
        kept.get(self.0.get(page)? as usize)
    }

    /// The same, to change; `None` if nobody has heard of the page.
    pub fn of_mut<'a, T: Clone + Default>(
        &self,
        page: Number,
        kept: &'a mut Vec<T>,
    ) -> Option<&'a mut T> {
        let host = self.0.get(page)? as usize;
        if host >= kept.len() {
            kept.resize(host + 1, T::default());
        }
        kept.get_mut(host)
    }
}
