//! What a crawl knows of one page, folded from its visits.
//!
//! **Invariant:** a history holds facts only. It changes by [`History::after`] and in no other way,
//! so a policy can be swapped on a living crawl.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Moment;

/// The facts of one page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// When it was first heard of.
    pub discovered: Moment,
    /// Links from a seed to here, along the path it was discovered by.
    pub depth: u16,
    /// When it was last asked for, whatever came back.
    pub asked: Option<Moment>,
    /// When a copy was last known to be equal to the page.
    pub fresh: Option<Moment>,
    /// Visits after the first copy that could tell whether the page had changed.
    pub revisits: u32,
    /// How many of them found a changed text.
    pub changes: u32,
    /// The sum of the gaps that these revisits closed.
    pub watched: Duration,
    /// Visits in a row that found nobody.
    pub failures: u16,
    /// The last word: what the newest visit found.
    pub outcome: Option<Outcome>,
}

/// What a visit found. A 404 is an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// A text that we did not have: the first copy, or a changed one.
    Changed,
    /// The text that we have.
    Unchanged,
    /// Nothing to read, and the server says so: 404, 410, a redirect, not a page.
    Gone,
    /// No answer, or one that asks to come back: a time-out, a reset, 429, 5xx.
    Unreachable,
    /// We may not ask: robots, an address that is off limits.
    Refused,
}

/// One visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visit {
    /// When the page was asked for.
    pub at: Moment,
    /// What was found.
    pub outcome: Outcome,
}

impl History {
    /// A page that was just heard of.
    pub fn discovered(at: Moment, depth: u16) -> Self {
        Self {
            discovered: at,
            depth,
            ..Self::default()
        }
    }

    /// The history with one more visit.
    #[must_use]
    pub fn after(mut self, visit: Visit) -> Self {
        self.asked = Some(visit.at);
        self.outcome = Some(visit.outcome);
        match visit.outcome {
            Outcome::Unreachable => self.failures = self.failures.saturating_add(1),
            Outcome::Refused => {}
            Outcome::Changed | Outcome::Unchanged | Outcome::Gone => self.failures = 0,
        }
        if matches!(visit.outcome, Outcome::Changed | Outcome::Unchanged) {
            if let Some(before) = self.fresh {
                self.revisits = self.revisits.saturating_add(1);
                self.changes += u32::from(visit.outcome == Outcome::Changed);
                self.watched += visit.at.since(before);
            }
            self.fresh = Some(visit.at);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(number: u64) -> Moment {
        Moment::from_micros(number * 86_400_000_000)
    }

    #[test]
    fn a_history_counts_what_a_revisit_can_tell() {
        let visits = [
            (1, Outcome::Unreachable),
            (2, Outcome::Changed), // The first copy says nothing about change.
            (3, Outcome::Unchanged),
            (5, Outcome::Unreachable), // Neither does an outage.
            (7, Outcome::Changed),
            (8, Outcome::Gone),
        ];
        let history =
            visits
                .iter()
                .fold(History::discovered(day(0), 2), |history, &(at, outcome)| {
                    history.after(Visit {
                        at: day(at),
                        outcome,
                    })
                });
        assert_eq!(
            (history.revisits, history.changes, history.failures),
            (2, 1, 0)
        );
        assert_eq!(history.watched, Duration::from_secs(5 * 86_400));
        assert_eq!(history.fresh, Some(day(7)));
        assert_eq!(history.asked, Some(day(8)));
    }
}
