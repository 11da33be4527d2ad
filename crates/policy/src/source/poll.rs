//! The worth of a poll as a function of time.
//!
//! A poll is worth nothing until a minimum time has passed since the last one. Otherwise a busy
//! source would be polled every second under a large budget.
//!
//! **Invariant:** with a weekly rhythm, waiting time is measured on the operational clock of
//! [`Rhythm`], on which new pages arrive at a constant rate. That clock never runs backwards, so
//! the worth never decreases.

use super::{Outlook, Scheduler};
use crate::Curve;
use crate::Moment;
use crate::estimate::Rhythm;

/// A source that waits for its next poll.
pub(super) struct Poll<'a> {
    pub scheduler: &'a dyn Scheduler,
    pub place: usize,
    pub outlook: Outlook,
    /// When the source was last polled.
    pub asked: Moment,
    pub rhythm: Option<&'a Rhythm>,
    /// Minimum time between two polls, in seconds.
    pub least: f64,
}

impl Curve for Poll<'_> {
    fn at(&self, age: f64) -> f64 {
        if age < self.least {
            return 0.0;
        }
        let waited = self.rhythm.map(|rhythm| rhythm.passed(self.asked, age));
        let waited = waited.unwrap_or(age);
        self.scheduler.worth(self.place, &self.outlook, waited)
    }

    fn age_of(&self, worth: f64) -> Option<f64> {
        let waited = self.scheduler.due(self.place, &self.outlook, worth)?;
        let wait = self.rhythm.map(|rhythm| rhythm.wait(self.asked, waited));
        Some(wait.unwrap_or(waited).max(self.least))
    }
}
