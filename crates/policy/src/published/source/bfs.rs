//! One source after the other, in turn, and all that is new on it.
//!
//! Lefortier et al. (2013), §5.2, "Breadth-first search": content sources sequentially in a fixed order; after each source all new pages that it
//! links to. The fixed order is that of the first round.

use crate::source::{Eye, FIRST, NewPage, Outlook, Scheduler};

/// Whoever waited longest is next.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bfs;

impl Scheduler for Bfs {
    fn eye(&self) -> Eye {
        Eye::Blind
    }

    fn worth(&self, _source: usize, _outlook: &Outlook, waited: f64) -> f64 {
        waited
    }

    fn due(&self, _source: usize, _outlook: &Outlook, price: f64) -> Option<f64> {
        Some(price)
    }

    /// Before any source, in the order in which they were found.
    fn page(&self, page: &NewPage) -> f64 {
        2.0 * FIRST - page.found.min(FIRST)
    }
}
