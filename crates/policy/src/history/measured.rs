//! Sums over all revisits of a page whose quality gain was measured.
//!
//! The window of recent revisits ([`Recent`]) keeps only the last 8. Gains are rare and
//! heavy-tailed, so an estimate needs all of them.

use serde::{Deserialize, Serialize};

use super::Recent;

/// Sums over the measured revisits of one page. A revisit that found no change counts: it gained
/// nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Sum of the gains, ΣΔQ_A. It may be negative.
    pub gain: f32,
    /// Sum of the square roots of the gains; a negative gain counts as 0.
    pub roots: f32,
    /// Number of changes whose gain was measured.
    pub changes: u32,
    /// Sum of the gaps of all measured revisits, in seconds.
    pub seconds: f32,
}

impl Measured {
    /// Returns the sums over a window, for records that were written before the sums were kept.
    pub fn of_window(recent: &Recent) -> Self {
        let mut sums = Self::default();
        for visit in recent.iter() {
            match visit.gain {
                Some(gain) if visit.changed => sums.measure(None, gain, visit.gap),
                Some(_) => sums.seconds += visit.gap,
                None => {}
            }
        }
        sums
    }

    /// Adds the gain of the last change. A second measurement of the same change replaces the
    /// first, `before`.
    pub(super) fn measure(&mut self, before: Option<f32>, gain: f32, gap: f32) {
        match before {
            Some(before) => {
                self.gain -= before;
                self.roots -= before.max(0.0).sqrt();
            }
            None => {
                self.changes = self.changes.saturating_add(1);
                self.seconds += gap;
            }
        }
        self.gain += gain;
        self.roots += gain.max(0.0).sqrt();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{History, Moment, Outcome, Visit};

    #[test]
    fn sums_include_revisits_that_left_the_window() {
        let mut history = History::discovered(Moment::START, 0);
        let mut at = Moment::START;
        for (gap, gain) in [(0, None), (10, Some(1.0)), (20, Some(0.0)), (30, None)] {
            at = at + Duration::from_secs(gap);
            let outcome = match gain {
                Some(0.0) => Outcome::Unchanged,
                _ => Outcome::Changed,
            };
            history = history.after(Visit::new(at, outcome));
            if let Some(gain) = gain.filter(|gain| *gain > 0.0) {
                history = history.gained(gain);
            }
        }
        // The change after 30 s was not measured.
        assert_eq!(history.measured, Measured::of_window(&history.recent));
        let expected = Measured {
            gain: 1.0,
            roots: 1.0,
            changes: 1,
            seconds: 30.0,
        };
        assert_eq!(history.measured, expected);
        // A second measurement of the last change replaces the first.
        history = history.gained(4.0).gained(9.0);
        assert_eq!((history.measured.gain, history.measured.roots), (10.0, 4.0));
        assert_eq!(
            (history.measured.changes, history.measured.seconds),
            (2, 60.0)
        );
        for _ in 0..20 {
            at = at + Duration::from_secs(1);
            history = history.after(Visit::new(at, Outcome::Changed)).gained(1.0);
        }
        assert_eq!(
            (history.measured.gain, history.measured.changes),
            (30.0, 22)
        );
        assert_eq!(Measured::of_window(&history.recent).changes, 8);
    }
}
