//! Estimates how much of a page's text a change replaces.
//!
//! The estimate d is the share of changed shingles, as a mean over the changes of the page, shrunk
//! to the mean of all pages. If every change replaces a share d of the text, N missed changes
//! leave a share `1 − (1 − d)^N` of a copy outdated. With changes at rate λ the expected outdated
//! share at age τ is `1 − e^{−λdτ}`: the text ages like a page that changes completely at rate λd.

use crate::{History, VisitFact};

/// Weight of the mean share of all pages in the estimate of one page, as a pseudo-count of
/// changes.
const STRENGTH: f64 = 1.0;
/// Prior of the mean share of all pages, with the weight of one change. Our choice.
const UNKNOWN: f64 = 0.3;

/// The changed shares of all pages.
#[derive(Debug, Clone, Copy, Default)]
pub struct Turnover {
    all: ShareSum,
}

/// A sum of changed shares.
#[derive(Debug, Clone, Copy, Default)]
struct ShareSum {
    changes: f64,
    shares: f64,
}

impl Turnover {
    /// Adds the changes that a visit found.
    pub fn visited(&mut self, visited: &VisitFact<'_>) {
        let (before, after) = (ShareSum::of(visited.before), ShareSum::of(visited.after));
        self.all.changes += after.changes - before.changes;
        self.all.shares += after.shares - before.shares;
    }

    /// Returns d of a page without observed changes: the mean of all pages, shrunk to 0.3.
    pub fn mean(&self) -> f64 {
        self.all.shrunk(UNKNOWN)
    }

    /// Returns d of a page, above 0 and at most 1.
    pub fn of(&self, history: &History) -> f64 {
        ShareSum::of(history).shrunk(self.mean())
    }
}

impl ShareSum {
    /// Reads the histogram of a history. A share counts as the middle of its tenth, and one in
    /// the last tenth as a complete change.
    fn of(history: &History) -> Self {
        let mut sum = Self::default();
        for (tenth, &count) in history.tenths.iter().enumerate() {
            let share = match tenth {
                9 => 1.0,
                _ => (tenth as f64 + 0.5) / 10.0,
            };
            sum.changes += f64::from(count);
            sum.shares += f64::from(count) * share;
        }
        sum
    }

    fn shrunk(self, mean: f64) -> f64 {
        (self.shares + STRENGTH * mean) / (self.changes + STRENGTH)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Moment, Number, Outcome, Visit};

    #[test]
    fn few_changes_are_shrunk_to_the_mean_of_all() {
        let changed = |shares: &[f32]| {
            let mut at = Moment::START;
            let first = History::discovered(at, 0).after(Visit::new(at, Outcome::Changed));
            shares.iter().fold(first, |history, &differing| {
                at = at + Duration::from_secs(60);
                history.after(Visit {
                    at,
                    outcome: Outcome::Changed,
                    differing,
                })
            })
        };
        let mut turnover = Turnover::default();
        assert_eq!(turnover.of(&changed(&[])), UNKNOWN);
        let (before, after) = (changed(&[]), changed(&[0.05, 0.2, 0.2, 1.0]));
        turnover.visited(&VisitFact {
            page: Number(0),
            before: &before,
            after: &after,
        });
        let all = (0.05 + 0.15 + 0.15 + 1.0 + UNKNOWN) / 5.0;
        assert!((turnover.mean() - all).abs() < 1e-12);
        let one = turnover.of(&changed(&[1.0]));
        assert!((one - (1.0 + all) / 2.0).abs() < 1e-12, "{one}");
        // A repeated report counts once.
        turnover.visited(&VisitFact {
            page: Number(0),
            before: &after,
            after: &after,
        });
        assert!((turnover.mean() - all).abs() < 1e-12);
    }
}
