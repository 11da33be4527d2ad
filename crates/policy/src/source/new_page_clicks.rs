//! Estimates which share of their possible clicks new pages earned. This is the dynamic quality Q_T
//! of Lefortier et al. (2013), §2, relative to that of a crawler that fetches every page as it
//! appears.
//!
//! A page earns the clicks after its fetch. A live crawl counts these, and estimates the others:
//!
//! - Early clicks that the logs do not have are estimated as `P·(1 − e^{−μ·age})`, with the P and μ
//!   of the source. P is multiplied by the appeal of the page. The age is that of the page at its
//!   discovery if the logs have all clicks on known pages, and at its fetch if they have only
//!   clicks on fetched pages. A page that was not fetched has missed everything up to now. The
//!   share is averaged over the times between two polls at which the page may have appeared.
//! - Logged clicks before the fetch are counted.
//!
//! The window T is that in which clicks count: pages of the last week, with D = 20 minutes.
//!
//! **Assumptions:** clicks on a page decay exponentially, with the μ of its source; a page appears
//! at any time between two polls; pages that were not fetched would be clicked like those that
//! were. Where links disappear before a poll, pages that no poll has found are not counted, and
//! those found are younger than assumed.

use super::learning::Learning;
use super::record::{PageRecord, SourceRecord};
use super::young::YoungPages;
use crate::Number;
use crate::estimate::Column;

/// Clicks on pages that appeared on a source within the last week.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct NewPageClicks {
    /// Clicks after the fetch of their page.
    pub earned: f64,
    /// Estimated clicks before the fetch of their page, or on pages that were not fetched.
    pub missed: f64,
}

impl NewPageClicks {
    /// Returns the share of all clicks that were earned.
    pub fn share(&self) -> f64 {
        self.earned / (self.earned + self.missed)
    }

    /// Sums over the pages of all sources. Returns `None` if no clicks are known or expected.
    pub(super) fn of(
        records: &[SourceRecord],
        pages: &Column<PageRecord>,
        young: &YoungPages,
        learning: &Learning,
        appeal: impl Fn(Number) -> f64,
    ) -> Option<Self> {
        let mut sums = Self::default();
        for (place, record) in (0..).zip(records) {
            if !record.counts() {
                continue;
            }
            for &page in &record.recent {
                // With `Credit::All` a page may be in the lists of several sources.
                let known = pages.get(page).filter(|known| known.on == Some(place));
                let Some(known) = known else {
                    continue;
                };
                let [before, after] = young.clicks(page);
                let unlogged = learning.unlogged_clicks(record, page, &known)?;
                sums.earned += after;
                sums.missed += before + unlogged * appeal(page);
            }
        }
        (sums.earned + sums.missed > 0.0).then_some(sums)
    }
}
