//! The observations of a page's changes, in the form that estimators of rates need.

use crate::History;
use crate::history::{Revisit, WINDOW};

/// A change counts if more than this share of the text's shingles differs. The share is stored in
/// tenths.
///
/// A history counts changes by tenths, so finer thresholds are impossible. Thresholds of 0.9
/// and 1 are equal: the last bin of the history holds all changes above 0.9.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threshold(u8);

impl Threshold {
    /// Every change counts.
    pub const ANY: Self = Self(0);

    /// Creates a threshold. Returns `None` unless the share is a multiple of a tenth from 0 to
    /// 1.
    pub fn new(share: f64) -> Option<Self> {
        let tenths = share * 10.0;
        let whole = (0.0..=10.0).contains(&tenths) && (tenths - tenths.round()).abs() < 1e-9;
        whole.then_some(Self(tenths.round() as u8))
    }

    /// Returns the number of revisits that detected a change above the threshold.
    pub fn changes(self, history: &History) -> u32 {
        match self {
            Self::ANY => history.changes,
            _ => history.tenths[self.first()..]
                .iter()
                .map(|&count| u32::from(count))
                .sum(),
        }
    }

    fn counts(self, visit: &Revisit) -> bool {
        let tenth = (visit.differing * 10.0).ceil() as usize;
        visit.changed && (self == Self::ANY || tenth > self.first())
    }

    /// Returns the index of the first bin that counts.
    fn first(self) -> usize {
        usize::from(self.0).min(9)
    }
}

/// The observations of a page's revisits. Times are in seconds.
#[derive(Debug, Clone, Copy)]
pub struct ObservedChanges {
    /// Revisits that could detect a change.
    pub revisits: f64,
    /// Revisits that detected a change above the threshold.
    pub changes: f64,
    /// Sum of all gaps.
    pub watched: f64,
    /// Sum of the gaps without a change above the threshold.
    pub quiet: f64,
    /// The gaps with a change above the threshold, each with the number of such gaps.
    gaps: [(f64, f64); WINDOW + 1],
}

impl ObservedChanges {
    /// Reads a history. A change up to the threshold counts as no change.
    ///
    /// Gaps of changes are exact within the window of the history. Older ones are replaced by
    /// their mean.
    pub fn of(history: &History, threshold: Threshold) -> Self {
        let mut gaps = [(0.0, 0.0); WINDOW + 1];
        let (mut counted, mut closed) = (0.0, 0.0);
        let (mut recent, mut recent_closed) = (0.0, 0.0);
        for (place, visit) in gaps.iter_mut().zip(history.recent.iter()) {
            let gap = f64::from(visit.gap);
            if visit.changed {
                (recent, recent_closed) = (recent + 1.0, recent_closed + gap);
            }
            if threshold.counts(visit) {
                *place = (gap, 1.0);
                (counted, closed) = (counted + 1.0, closed + gap);
            }
        }
        let watched = history.watched.as_secs_f64();
        let changes = f64::from(threshold.changes(history)).max(counted);
        let (older, older_counted) = (f64::from(history.changes) - recent, changes - counted);
        if older > 0.0 && older_counted > 0.0 {
            let changed = watched - history.quiet.as_secs_f64();
            let mean = (changed - recent_closed).max(0.0) / older;
            gaps[WINDOW] = (mean, older_counted);
            closed += mean * older_counted;
        }
        let quiet = match threshold {
            Threshold::ANY => history.quiet.as_secs_f64(),
            _ => (watched - closed).max(0.0),
        };
        Self {
            revisits: f64::from(history.revisits),
            changes,
            watched,
            quiet,
            gaps,
        }
    }

    /// Returns whether there is no revisit, or no time between visits.
    pub fn is_empty(&self) -> bool {
        self.revisits == 0.0 || self.watched <= 0.0
    }

    /// Returns the gaps that ended with a change above the threshold, in seconds, each with the
    /// number of such gaps.
    pub fn gaps(&self) -> impl Iterator<Item = (f64, f64)> + Clone {
        self.gaps.into_iter().filter(|&(_, count)| count > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Moment, Outcome, Visit};

    #[test]
    fn changes_up_to_the_threshold_count_as_no_change() {
        let mut history = History::discovered(Moment::START, 0);
        let mut at = Moment::START;
        for (gap, differing) in [(0, 0.0), (10, 0.05), (20, 0.0), (30, 0.3), (40, 1.0)] {
            at = at + Duration::from_secs(gap);
            let outcome = match differing {
                0.0 if gap > 0 => Outcome::Unchanged,
                _ => Outcome::Changed,
            };
            history = history.after(Visit {
                at,
                outcome,
                differing,
            });
        }
        for (share, changes, quiet) in [
            (0.0, 3.0, 20.0),
            (0.1, 2.0, 30.0),
            (0.2, 2.0, 30.0),
            (0.3, 1.0, 60.0),
            (0.9, 1.0, 60.0),
            (1.0, 1.0, 60.0),
        ] {
            let observed = ObservedChanges::of(&history, Threshold::new(share).unwrap());
            assert_eq!(
                (observed.changes, observed.quiet),
                (changes, quiet),
                "{share}"
            );
            let closed: f64 = observed.gaps().map(|(gap, count)| gap * count).sum();
            assert_eq!(closed + quiet, observed.watched, "{share}");
        }
        for odd in [-0.1, 0.25, 1.1, f64::NAN] {
            assert_eq!(Threshold::new(odd), None, "{odd}");
        }
    }

    #[test]
    fn gaps_that_left_the_window_count_by_their_mean() {
        let mut history = History::discovered(Moment::START, 0);
        let mut at = Moment::START;
        for gap in [0, 100, 300].into_iter().chain([10; WINDOW]) {
            at = at + Duration::from_secs(gap);
            history = history.after(Visit::new(at, Outcome::Changed));
        }
        let observed = ObservedChanges::of(&history, Threshold::ANY);
        assert_eq!(observed.gaps().last(), Some((200.0, 2.0)));
        assert_eq!(observed.gaps().count(), WINDOW + 1);
    }
}
