//! The host of each page, as an index into arrays of per-host data.
//!
//! Few host numbers are unused, so the per-host data fits into an array. The array grows when a
//! host without data is written.

use super::Column;
use crate::{Discovered, Number};

/// The host of each page.
#[derive(Debug, Clone, Default)]
pub struct PageHosts(Column<u32>);

impl PageHosts {
    /// Records the host of a page.
    pub fn add(&mut self, discovered: &Discovered<'_>) {
        self.0.add(discovered.page, discovered.host);
    }

    /// Returns the data of this page's host. `None` if the page is unknown or its host has no
    /// data.
    pub fn of<'a, T>(&self, page: Number, kept: &'a [T]) -> Option<&'a T> {
        kept.get(self.0.get(page)? as usize)
    }

    /// Returns the data of this page's host for modification. `None` if the page is unknown.
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
