//! Polls sources in turn, and fetches all new pages of a source after its poll.
//!
//! Lefortier et al. (2013), §5.2, "Breadth-first search": content sources are crawled
//! sequentially in a fixed order. After each source, all new pages that it links to are crawled.
//! Here the fixed order is the order of the first polls.

use crate::source::{Estimation, FIRST, NewPage, Outlook, Scheduler};

/// A poll is worth the seconds since the last one, so the source that waited longest is next.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bfs;

impl Scheduler for Bfs {
    fn estimation(&self) -> Estimation {
        Estimation::WithoutClicks
    }

    fn worth(&self, _source: usize, _outlook: &Outlook, waited: f64) -> f64 {
        waited
    }

    fn due(&self, _source: usize, _outlook: &Outlook, price: f64) -> Option<f64> {
        Some(price)
    }

    /// Returns a worth above the worth of any poll. The page that was discovered first has the
    /// highest worth.
    fn page(&self, page: &NewPage) -> f64 {
        2.0 * FIRST - page.found.min(FIRST)
    }
}
