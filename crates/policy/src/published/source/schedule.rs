//! Polls sources strictly by their intervals, and fetches new pages with the remaining budget.
//!
//! Lefortier et al. (2013), §4.2.3, ECHO-schedule: "always crawl content sources with intervals
//! I_i and when we have some resources to crawl new pages, we crawl them (most recently
//! discovered first)". Among sources whose interval has passed, the one most behind is first.
//! Two simplified variants of §5.2 differ only in the plan.

use crate::plan::polls::{Pays, Polls, optimal};
use crate::source::{Estimation, FIRST, NewPage, Outlook, Scheduler};

/// A poll is worth more than any page once its interval has passed, and nothing before.
#[derive(Debug, Clone)]
pub struct Schedule {
    estimation: Estimation,
    /// Share of all fetches that the plan gives to polls. With `None` the plan covers polls and
    /// the new pages that they discover.
    quota: Option<f64>,
    plan: Polls,
}

impl Schedule {
    /// Creates ECHO-schedule.
    pub fn echo() -> Self {
        Self {
            estimation: Estimation::Printed,
            quota: None,
            plan: Polls::default(),
        }
    }

    /// Share of the fetches that Fixed-quota gives to polls in the paper.
    pub const HALF: f64 = 0.5;

    /// Creates Fixed-quota: ECHO-schedule with this share of the N fetches per second for polls,
    /// `Σ 1/I = share · N`.
    pub fn fixed_quota(share: f64) -> Self {
        Self {
            quota: Some(share),
            ..Self::echo()
        }
    }

    /// Creates Frequency: ECHO-schedule without clicks; all sources have the same P and μ
    /// ([`Estimation::WithoutClicks`]).
    pub fn frequency() -> Self {
        Self {
            estimation: Estimation::WithoutClicks,
            ..Self::echo()
        }
    }
}

impl Scheduler for Schedule {
    fn estimation(&self) -> Estimation {
        self.estimation
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
