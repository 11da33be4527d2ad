//! Sources strictly by their intervals; new pages when there is room.
//!
//! Lefortier et al. (2013), §4.2.3, ECHO-schedule: "always crawl content sources with intervals I_i and when we have some resources to crawl new pages, we crawl them (most recently
//! discovered first)". Of several sources whose interval has passed the one that is most behind is first. Two simplifications of §5.2 differ in the plan alone.

use crate::plan::polls::{Pays, Polls, optimal};
use crate::source::{Eye, FIRST, NewPage, Outlook, Scheduler};

/// What a poll is worth, above all pages, as soon as the interval has passed; nothing before.
#[derive(Debug, Clone)]
pub struct Schedule {
    eye: Eye,
    /// The share of all fetches that polls are planned for; `None`: the plan finds it, since it pays for new pages too.
    quota: Option<f64>,
    plan: Polls,
}

impl Schedule {
    /// ECHO-schedule.
    pub fn echo() -> Self {
        Self {
            eye: Eye::Printed,
            quota: None,
            plan: Polls::default(),
        }
    }

    /// Fixed-quota: half of the fetches for polls, `Σ 1/I = N/2`, by the same plan; new pages with the rest.
    pub fn fixed_quota() -> Self {
        Self {
            quota: Some(0.5),
            ..Self::echo()
        }
    }

    /// Frequency: ECHO-schedule without clicks; all sources have the same P and μ ([`Eye::Blind`]).
    pub fn frequency() -> Self {
        Self {
            eye: Eye::Blind,
            ..Self::echo()
        }
    }
}

impl Scheduler for Schedule {
    fn eye(&self) -> Eye {
        self.eye
    }

    fn plan(&mut self, sources: &[Outlook], per_second: f64) {
        self.plan = match self.quota {
            Some(quota) => optimal(sources, quota * per_second, Pays::Polls),
            None => optimal(sources, per_second, Pays::PollsAndPages),
        };
    }

    fn worth(&self, source: usize, _outlook: &Outlook, waited: f64) -> f64 {
        match self.interval(source) {
            Some(interval) if waited >= interval => 2.0 * FIRST * (waited / interval),
            _ => 0.0,
        }
    }

    fn due(&self, source: usize, _outlook: &Outlook, price: f64) -> Option<f64> {
        let interval = self.interval(source)?;
        Some(interval * (price / (2.0 * FIRST)).max(1.0))
    }

    fn page(&self, page: &NewPage) -> f64 {
        page.found.min(FIRST)
    }

    fn interval(&self, source: usize) -> Option<f64> {
        *self.plan.intervals.get(source)?
    }
}
