//! What others said of a page's changes, a sitemap or a feed, and whether it was true.

use serde::{Deserialize, Serialize};

use crate::Moment;

/// Signals, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signals {
    /// Signals since the page was last seen.
    pub since: u16,
    /// When the last one came.
    pub last: Option<Moment>,
    /// Revisits that followed a signal and found a change.
    pub hits: u16,
    /// Revisits that followed a signal and found none.
    pub false_alarms: u16,
    /// Revisits that found a change that nobody had signalled.
    pub misses: u16,
}

impl Signals {
    pub(super) fn revisited(&mut self, changed: bool) {
        let count = match (self.since > 0, changed) {
            (true, true) => &mut self.hits,
            (true, false) => &mut self.false_alarms,
            (false, true) => &mut self.misses,
            (false, false) => return,
        };
        *count = count.saturating_add(1);
    }
}
