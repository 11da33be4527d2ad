//! Polls the source with the highest expected profit, and then fetches all its new pages.
//!
//! Lefortier et al. (2013), §5.2, ECHO-greedy: "the content source with the highest value of
//! λ·P·I', where I' is the time passed since the last crawl"; "then all new pages linked from
//! this source". It needs no plan and no μ.

use crate::source::{Estimation, FIRST, NewPage, Outlook, Scheduler};

/// A poll is worth λPτ: the clicks expected on the pages that appeared in the τ seconds since the
/// last poll.
#[derive(Debug, Clone, Copy, Default)]
pub struct Greedy;

impl Scheduler for Greedy {
    fn estimation(&self) -> Estimation {
        Estimation::MeanClicks
    }

    fn worth(&self, _source: usize, outlook: &Outlook, waited: f64) -> f64 {
        (outlook.rate * outlook.profit * waited).min(FIRST / 2.0)
    }

    fn due(&self, _source: usize, outlook: &Outlook, price: f64) -> Option<f64> {
        let gain = outlook.rate * outlook.profit;
        (gain > 0.0 && price <= FIRST / 2.0).then(|| price / gain)
    }

    /// Returns a worth above the worth of any poll. The page that was discovered first has the
    /// highest worth.
    fn page(&self, page: &NewPage) -> f64 {
        2.0 * FIRST - page.found.min(FIRST)
    }
}
