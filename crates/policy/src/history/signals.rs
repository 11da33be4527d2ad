//! Change hints of a page from sitemaps and feeds, and whether they were true.

use serde::{Deserialize, Serialize};

use crate::Moment;

/// Counts of hints by their outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signals {
    /// Hints since the page was last read.
    pub since: u16,
    /// When the last hint came.
    pub last: Option<Moment>,
    /// Revisits that found a change after at least one hint.
    pub hits: u16,
    /// Revisits that found no change after at least one hint.
    pub false_alarms: u16,
    /// Revisits that found a change without a hint before.
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
