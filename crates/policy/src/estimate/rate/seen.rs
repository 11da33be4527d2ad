//! What do the visits to a page say of its changes?

use crate::History;
use crate::history::{Revisit, WINDOW};

/// How much of a text must be another for it to count as a change, in tenths of its shingles.
///
/// A history counts changes by tenths, so this is all it can tell apart. Nine tenths and all of the text are the
/// same to it: the last count has what is more than nine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threshold(u8);

impl Threshold {
    /// Every change counts.
    pub const ANY: Self = Self(0);

    /// More than this share of the shingles; `None` unless it is a number of tenths from 0 to 1.
    pub fn new(share: f64) -> Option<Self> {
        let tenths = share * 10.0;
        let whole = (0.0..=10.0).contains(&tenths) && (tenths - tenths.round()).abs() < 1e-9;
        whole.then_some(Self(tenths.round() as u8))
    }

    /// Revisits that saw a change of more than this.
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

    /// The first of the ten counts that counts.
    fn first(self) -> usize {
        usize::from(self.0).min(9)
    }
}

/// What estimators know of a page. Times are in seconds.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    /// Revisits that could tell.
    pub revisits: f64,
    /// Those that saw a change.
    pub changes: f64,
    /// The gaps of all of them.
    pub watched: f64,
    /// The gaps after which nothing had changed.
    pub quiet: f64,
    /// The gaps after which something had, each with how many there were of it.
    gaps: [(f64, f64); WINDOW + 1],
}

impl Seen {
    /// Reads a history. A change that does not count was a quiet visit. Gaps of changes are exact in the window
    /// of the history; older ones are all as long as their mean.
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

    /// Whether they say nothing.
    pub fn is_empty(&self) -> bool {
        self.revisits == 0.0 || self.watched <= 0.0
    }

    /// The gaps that ended with a change, and how many there are of each.
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
    fn small_changes_are_quiet_visits() {
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
            let seen = Seen::of(&history, Threshold::new(share).unwrap());
            assert_eq!((seen.changes, seen.quiet), (changes, quiet), "{share}");
            let closed: f64 = seen.gaps().map(|(gap, count)| gap * count).sum();
            assert_eq!(closed + quiet, seen.watched, "{share}");
        }
        for odd in [-0.1, 0.25, 1.1, f64::NAN] {
            assert_eq!(Threshold::new(odd), None, "{odd}");
        }
    }

    #[test]
    fn what_left_the_window_is_known_by_its_mean() {
        let mut history = History::discovered(Moment::START, 0);
        let mut at = Moment::START;
        for gap in [0, 100, 300].into_iter().chain([10; WINDOW]) {
            at = at + Duration::from_secs(gap);
            history = history.after(Visit::new(at, Outcome::Changed));
        }
        let seen = Seen::of(&history, Threshold::ANY);
        assert_eq!(seen.gaps().last(), Some((200.0, 2.0)));
        assert_eq!(seen.gaps().count(), WINDOW + 1);
    }
}
