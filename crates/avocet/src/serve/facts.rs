//! What does the ledger know of a page that is shown: when was it last checked, and how often does it change?

use std::time::Duration;

use frontier::{PageKey, Visited};
use jiff::Timestamp;
use page::PageUrl;
use policy::History;

use super::App;
use crate::engine::timestamp;

/// Facts of one page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Facts {
    /// When a copy was last known to be equal to the page.
    pub checked: Option<Timestamp>,
    /// How it changes.
    pub pace: Pace,
}

/// How a page changes, as far as revisits could tell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// It was read once.
    Unknown,
    /// No revisit found a change, in this time.
    Still(Duration),
    /// The expected time between changes.
    Every(Duration),
}

impl App {
    /// What is known of the page at a URL; `None`: nothing, or the ledger is in other hands.
    pub fn facts(&self, url: &str) -> Option<Facts> {
        let visited = self.visited(&PageUrl::parse(url).ok()?)?;
        Some(Facts::of(&visited))
    }

    /// What the ledger says of a page; `None`: nothing, or it is in other hands.
    pub fn visited(&self, url: &PageUrl) -> Option<Visited> {
        let key = PageKey::of(url);
        if let Some(live) = &self.live {
            return live.ask(|engine| engine.visited(key))?;
        }
        let visited = self.lease.ask(|ledger, _| ledger.visited(key))?;
        visited.unwrap_or_else(|error| {
            tracing::warn!(%error, "the ledger cannot be read");
            None
        })
    }
}

impl Facts {
    fn of(visited: &Visited) -> Self {
        Self {
            checked: visited.history.fresh.map(timestamp),
            pace: Pace::of(&visited.history),
        }
    }
}

impl Pace {
    /// By the bias-reduced estimate of Cho & Garcia-Molina, "Estimating frequency of change" (TOIT 2003): the
    /// halves keep it finite where every revisit found a change.
    fn of(history: &History) -> Self {
        if history.revisits == 0 || history.watched.is_zero() {
            return Self::Unknown;
        }
        if history.changes == 0 {
            return Self::Still(history.watched);
        }
        let revisits = f64::from(history.revisits);
        let quiet = revisits - f64::from(history.changes);
        let per_gap = -((quiet + 0.5) / (revisits + 0.5)).ln();
        let gap = history.watched.as_secs_f64() / revisits;
        Duration::try_from_secs_f64(gap / per_gap).map_or(Self::Unknown, Self::Every)
    }

    /// Hours between changes, if some were seen.
    pub fn hours(self) -> Option<f64> {
        match self {
            Self::Every(time) => Some(time.as_secs_f64() / 3600.0),
            Self::Unknown | Self::Still(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paces() {
        let check = |revisits, changes, days: u64, expected: Pace| {
            let history = History {
                revisits,
                changes,
                watched: Duration::from_secs(days * 86_400),
                ..History::default()
            };
            let pace = Pace::of(&history);
            match (pace, expected) {
                (Pace::Every(found), Pace::Every(expected)) => {
                    let off = found.as_secs_f64() / expected.as_secs_f64();
                    assert!((0.99..1.01).contains(&off), "{found:?} {expected:?}");
                }
                _ => assert_eq!(pace, expected),
            }
        };
        let hours = |hours: f64| Duration::from_secs_f64(hours * 3600.0);
        check(0, 0, 0, Pace::Unknown);
        check(4, 0, 8, Pace::Still(hours(192.0)));
        // Ten gaps of a day: five with a change, λ = ln(10.5/5.5) a day.
        check(10, 5, 10, Pace::Every(hours(24.0 / 0.646_63)));
        // Finite, though every revisit found a change: λ = ln 21 a day.
        check(10, 10, 10, Pace::Every(hours(24.0 / 3.044_52)));
    }
}
