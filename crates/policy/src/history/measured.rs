//! Sums over all revisits of a page whose quality gain was measured.
//!
//! The window of recent revisits ([`Recent`]) keeps only the last 8. Gains are rare and
//! heavy-tailed, so an estimate needs all of them.

use std::f64::consts::LN_2;

use serde::{Deserialize, Serialize};

use super::{History, Recent};

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

/// The measured changes of a page, each with a weight that halves with every half-life of its age.
///
/// The age of a change is the time from the revisit that found it to the last revisit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AgedGains {
    /// Sum of the weights.
    pub changes: f64,
    /// Weighted sum of the square roots of the gains.
    pub roots: f64,
}

impl AgedGains {
    /// Returns the sums with this half-life, in seconds.
    ///
    /// The ledger stores facts without weights, so the half-life may change at any time. Revisits
    /// in the window have exact ages. The ledger has only the sums of the older ones, so these
    /// count as spread evenly over the time before the window.
    pub fn of(history: &History, half_life: f64) -> Self {
        let all = &history.measured;
        let (mut changes, mut roots) = (f64::from(all.changes), f64::from(all.roots).max(0.0));
        if half_life.is_infinite() || changes == 0.0 {
            return Self { changes, roots };
        }
        let weight = |age: f64| (-age / half_life).exp2();
        let (mut window, mut age) = ((0.0, 0.0), 0.0);
        for visit in history.recent.iter().rev() {
            if let Some(gain) = visit.gain.filter(|_| visit.changed) {
                let root = f64::from(gain.max(0.0)).sqrt();
                window.0 += weight(age);
                window.1 += weight(age) * root;
                (changes, roots) = (changes - 1.0, roots - root);
            }
            age += f64::from(visit.gap);
        }
        let span = (history.watched.as_secs_f64() - age) * LN_2 / half_life;
        // The mean weight over the time before the window.
        let older = match span > 1e-9 {
            true => weight(age) * -(-span).exp_m1() / span,
            false => weight(age),
        };
        Self {
            changes: window.0 + older * changes.max(0.0),
            roots: window.1 + older * roots.max(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Moment, Outcome, Visit};

    /// Returns the history of a page that gained 4 by the change of each revisit.
    fn gaining(revisits: u32, gap: Duration) -> History {
        let mut at = Moment::START;
        let first = History::discovered(at, 0).after(Visit::new(at, Outcome::Changed));
        (0..revisits).fold(first, |history, _| {
            at = at + gap;
            history.after(Visit::new(at, Outcome::Changed)).gained(4.0)
        })
    }

    #[test]
    fn weights_halve_with_every_half_life() {
        let three = gaining(3, Duration::from_secs(100));
        let aged = AgedGains::of(&three, 100.0);
        assert!((aged.changes - 1.75).abs() < 1e-9, "{aged:?}");
        assert!((aged.roots - 3.5).abs() < 1e-9, "{aged:?}");
        let all = AgedGains::of(&three, f64::INFINITY);
        assert_eq!((all.changes, all.roots), (3.0, 6.0));
    }

    #[test]
    fn changes_before_the_window_count_as_spread_evenly() {
        for half_life in [1_000.0, 20_000.0, 1e9] {
            let found = AgedGains::of(&gaining(100, Duration::from_secs(100)), half_life);
            let exact: f64 = (0..100)
                .map(|age| (-100.0 * f64::from(age) / half_life).exp2())
                .sum();
            assert!(
                (found.changes / exact - 1.0).abs() < 0.03,
                "{found:?} {exact}"
            );
            assert!(
                (found.roots / found.changes - 2.0).abs() < 1e-5,
                "{found:?}"
            );
        }
    }

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
