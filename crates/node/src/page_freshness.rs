//! How current the copy of a page is: when it was last checked, and how often the page changes.

use std::time::Duration;

use frontier::Visited;
use jiff::Timestamp;
use policy::{History, change_rate};
use serde::{Deserialize, Serialize};

use crate::clock::timestamp;

/// How current the copy of one page is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PageFreshness {
    /// When a copy was last known to equal the page.
    pub checked: Option<Timestamp>,
    /// How often the page changes.
    pub pace: ChangePace,
}

/// How often a page changes, as estimated from revisits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum ChangePace {
    /// The page was never revisited, so no change could be seen.
    Unknown,
    /// No revisit found a change. This is the time that the revisits cover.
    Still(Duration),
    /// The expected time between changes.
    Every(Duration),
}

impl PageFreshness {
    /// Returns how current the copy of a page is, by the record of its last visit.
    pub fn of(visited: &Visited) -> Self {
        Self {
            checked: visited.history.fresh.map(timestamp),
            pace: ChangePace::of(&visited.history),
        }
    }
}

impl ChangePace {
    /// Estimates the pace from the visits to one page ([`policy::change_rate`]).
    fn of(history: &History) -> Self {
        match change_rate(history) {
            None => Self::Unknown,
            Some(_) if history.changes == 0 => Self::Still(history.watched),
            Some(rate) => {
                Duration::try_from_secs_f64(rate.recip()).map_or(Self::Unknown, Self::Every)
            }
        }
    }

    /// Returns the expected hours between changes; `None` if no revisit found a change.
    pub fn hours(self) -> Option<f64> {
        match self {
            Self::Every(time) => Some(time.as_secs_f64() / 3600.0),
            Self::Unknown | Self::Still(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use policy::{Moment, Outcome, Visit};

    use super::*;

    #[test]
    fn the_pace_is_estimated_from_the_revisits_that_found_a_change() {
        let check = |revisits: u64, changes: u64, expected: ChangePace| {
            let day = |n: u64| Moment::from_micros(n * 86_400_000_000);
            let first = History::default().after(Visit::new(day(0), Outcome::Changed));
            let history = (1..=revisits).fold(first, |history, n| {
                let outcome = match n <= changes {
                    true => Outcome::Changed,
                    false => Outcome::Unchanged,
                };
                history.after(Visit::new(day(n), outcome))
            });
            let pace = ChangePace::of(&history);
            match (pace, expected) {
                (ChangePace::Every(found), ChangePace::Every(expected)) => {
                    let off = found.as_secs_f64() / expected.as_secs_f64();
                    assert!((0.99..1.01).contains(&off), "{found:?} {expected:?}");
                }
                _ => assert_eq!(pace, expected),
            }
        };
        let hours = |hours: f64| Duration::from_secs_f64(hours * 3600.0);
        check(0, 0, ChangePace::Unknown);
        check(8, 0, ChangePace::Still(hours(192.0)));
        // Ten gaps of a day, five with a change: λ = ln 2 a day.
        check(
            10,
            5,
            ChangePace::Every(hours(24.0 / std::f64::consts::LN_2)),
        );
        // Finite, though every revisit found a change: λ = ln 21 a day.
        check(10, 10, ChangePace::Every(hours(24.0 / 3.044_52)));
    }
}
