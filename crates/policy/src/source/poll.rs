//! What is a poll of a source worth as it waits, and when is it worth a price?
//!
//! **Invariant:** where sources keep hours, what has passed is counted on the even clock of [`Rhythm`]: the number of new pages to be expected, which never falls. So worth never
//! falls either, at any hour, and the moment at which it reaches a price is found on the same clock.

use super::{Outlook, Scheduler};
use crate::Curve;
use crate::Moment;
use crate::estimate::Rhythm;

/// A source that waits.
pub(super) struct Poll<'a> {
    pub scheduler: &'a dyn Scheduler,
    pub place: usize,
    pub outlook: Outlook,
    /// When it was polled last.
    pub asked: Moment,
    pub rhythm: Option<&'a Rhythm>,
}

impl Curve for Poll<'_> {
    fn at(&self, age: f64) -> f64 {
        let waited = self.rhythm.map(|rhythm| rhythm.passed(self.asked, age));
        let waited = waited.unwrap_or(age);
        self.scheduler.worth(self.place, &self.outlook, waited)
    }

    fn age_of(&self, worth: f64) -> Option<f64> {
        let waited = self.scheduler.due(self.place, &self.outlook, worth)?;
        let wait = self.rhythm.map(|rhythm| rhythm.wait(self.asked, waited));
        Some(wait.unwrap_or(waited))
    }
}
