//! Fetches new pages at once, and then polls the source that is most behind its schedule.
//!
//! Lefortier et al. (2013), §4.2.3, ECHO-newpages: "always crawl newly discovered pages right
//! after finding them", in the order of discovery. Otherwise it polls the source with the
//! highest I'/I. I' is the time since its last poll, and I is its interval by Algorithm 1.

use crate::plan::polls::{Pays, Polls, optimal};
use crate::source::{FIRST, NewPage, Outlook, Scheduler};

/// A poll is worth the time since the last one, in units of the planned interval.
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
        // Limits the worth of a poll below that of any new page. New pages may use up the
        // budget, and a source may then wait for years.
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
