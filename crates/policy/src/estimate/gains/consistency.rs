//! Estimates how well the past gains of a page's changes predict the next one.
//!
//! Gains differ between pages (variance τ²) and between the changes of one page (variance σ²).
//! The best linear predictor shrinks the mean gain of a page to the mean of all, as if σ²/τ²
//! more changes had that gain (one-way random-effects model; Searle, Casella & McCulloch,
//! "Variance components", 1992). Both variances come from an analysis of variance over all
//! windows.
//!
//! **Invariant:** all fields are sums over pages. A repeated report of a page replaces its
//! earlier contribution.

use crate::History;

/// The least pseudo-count of changes, which is also used while little is known.
const LEAST: f64 = 0.25;
/// The largest pseudo-count: twice the length of a window.
const MOST: f64 = 16.0;
/// Number of degrees of freedom from which on the variance is used: changes beyond the first of
/// each page.
const ENOUGH: f64 = 20.0;

/// Sums over the pages with a measured change.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Consistency {
    pages: f64,
    changes: f64,
    /// Σ k², where k is the number of changes of a page.
    squares: f64,
    gain: f64,
    /// Σ k·ḡ², where ḡ is the mean gain of a page.
    between: f64,
    /// Σ (g − ḡ)².
    within: f64,
}

impl Consistency {
    /// Returns the contribution of one page.
    pub fn of(history: &History) -> Self {
        let gains = || {
            let changed = history.recent.iter().filter(|visit| visit.changed);
            changed.filter_map(|visit| visit.gain.map(f64::from))
        };
        let changes = gains().count() as f64;
        if changes == 0.0 {
            return Self::default();
        }
        let mean = gains().sum::<f64>() / changes;
        Self {
            pages: 1.0,
            changes,
            squares: changes * changes,
            gain: changes * mean,
            between: changes * mean * mean,
            within: gains().map(|gain| (gain - mean) * (gain - mean)).sum(),
        }
    }

    /// Replaces the earlier contribution of a page by the current one.
    pub fn replace(&mut self, before: &Self, after: &Self) {
        self.pages += after.pages - before.pages;
        self.changes += after.changes - before.changes;
        self.squares += after.squares - before.squares;
        self.gain += after.gain - before.gain;
        self.between += after.between - before.between;
        self.within += after.within - before.within;
    }

    /// Returns σ²/τ²: the weight of the predicted gain, as a pseudo-count of changes.
    pub fn strength(&self) -> f64 {
        let freedom = self.changes - self.pages;
        if freedom < ENOUGH || self.pages < 2.0 {
            return LEAST;
        }
        let noise = (self.within / freedom).max(0.0);
        let spread = (self.between - self.gain * self.gain / self.changes) / (self.pages - 1.0);
        let each = (self.changes - self.squares / self.changes) / (self.pages - 1.0);
        let pages = (spread - noise) / each;
        if pages <= 0.0 {
            return MOST;
        }
        (noise / pages).clamp(LEAST, MOST)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Moment, Outcome, Visit};

    /// Sums over pages with these gains, one change per day.
    fn seen(pages: &[[f32; 4]]) -> Consistency {
        let mut all = Consistency::default();
        for gains in pages {
            let at = |day: usize| Moment::START + Duration::from_secs(86_400 * (day as u64 + 1));
            let first = History::discovered(Moment::START, 0);
            let first = first.after(Visit::new(at(0), Outcome::Changed));
            let history = (1..).zip(gains).fold(first, |history, (day, gain)| {
                history
                    .after(Visit::new(at(day), Outcome::Changed))
                    .gained(*gain)
            });
            all.replace(&Consistency::default(), &Consistency::of(&history));
        }
        all
    }

    #[test]
    fn pages_that_stay_as_they_are_are_believed_and_others_are_not() {
        assert_eq!(
            seen(&[[1.0, 1.0, 1.0, 1.0]]).strength(),
            LEAST,
            "too little"
        );
        let alike: Vec<_> = (0..20).map(|page| [page as f32; 4]).collect();
        assert_eq!(seen(&alike).strength(), LEAST, "each is what it was");
        let erratic = [[0.0, 9.0, 1.0, 6.0], [9.0, 0.0, 6.0, 1.0]].repeat(10);
        assert_eq!(seen(&erratic).strength(), MOST, "all are alike");
        // σ² = 16/3 in each; means 2 and 6 in turn: 8·4/19 of 4 each is 4.21 between, less σ²/4.
        let both = [[0.0, 4.0, 0.0, 4.0], [4.0, 8.0, 4.0, 8.0]].repeat(10);
        let noise = 16.0 / 3.0;
        let between = 4.0 * 20.0 / 19.0 - noise / 4.0;
        let found = seen(&both).strength();
        assert!((found - noise / between).abs() < 1e-9, "{found}");
    }
}
