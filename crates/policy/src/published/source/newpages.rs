//! New pages at once; then the source that is most behind its schedule.
//!
//! Lefortier et al. (2013), §4.2.3, ECHO-newpages: "always crawl newly discovered pages right after finding them", in the order in which they were found. Else the source with the highest I'/I,
//! where I' is the time since its last poll and I what Algorithm 1 says.

use crate::plan::polls::{Pays, Polls, optimal};
use crate::source::{FIRST, NewPage, Outlook, Scheduler};

/// What a poll is worth is how far the source is behind.
#[derive(Debug, Clone, Default)]
pub struct NewPages {
    plan: Polls,
}

impl Scheduler for NewPages {
    fn plan(&mut self, sources: &[Outlook], per_second: f64) {
        self.plan = optimal(sources, per_second, Pays::PollsAndPages);
    }

    fn worth(&self, source: usize, _outlook: &Outlook, waited: f64) -> f64 {
        let behind = self.interval(source).map(|interval| waited / interval);
        // A plan may want more than can be polled, and a source may wait for years; new pages come before all the same.
        behind.map_or(0.0, |behind| behind.min(FIRST / 2.0))
    }

    fn due(&self, source: usize, _outlook: &Outlook, price: f64) -> Option<f64> {
        let interval = self.interval(source)?;
        (price <= FIRST / 2.0).then_some(price * interval)
    }

    fn page(&self, page: &NewPage) -> f64 {
        2.0 * FIRST - page.found.min(FIRST)
    }

    fn interval(&self, source: usize) -> Option<f64> {
        *self.plan.intervals.get(source)?
    }
}
