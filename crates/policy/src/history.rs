//! The facts about one page, accumulated over its visits.
//!
//! **Invariant:** a history holds facts only, no estimates, so a running crawl can change its
//! policy. Only [`History::after`], [`History::gained`], [`History::named`],
//! [`History::listing`] and [`History::signalled`] add facts. [`History::brought_back`]
//! corrects dates from a wrong clock.

mod finds;
mod measured;
mod recent;
mod signals;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use finds::{Find, Finds};
pub use measured::{AgedGains, Measured};
pub use recent::{Recent, Revisit, WINDOW};
pub use signals::Signals;

use crate::Moment;

/// The facts of one page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// When it was discovered.
    pub discovered: Moment,
    /// Number of links from a seed, along the path by which it was discovered.
    pub depth: u16,
    /// When it was last requested, whatever the outcome.
    pub asked: Option<Moment>,
    /// When a copy was last known to be equal to the page.
    pub fresh: Option<Moment>,
    /// Number of visits after the first copy that could detect a change.
    pub revisits: u32,
    /// Number of these revisits that found a changed text.
    pub changes: u32,
    /// Sum of the gaps of these revisits. The gap of a revisit is the time since the page was last
    /// read.
    pub watched: Duration,
    /// Sum of those gaps after which nothing had changed.
    pub quiet: Duration,
    /// Histogram of changes by the share of shingles that differed. Bin `i` counts shares in
    /// `(i/10, (i+1)/10]`; the first also counts 0.
    pub tenths: [u16; 10],
    /// Number of [unreachable](Outcome::Unreachable) visits since the last answer.
    pub failures: u16,
    /// Number of visits that found the page gone since it was last read.
    pub gone: u16,
    /// The outcome of the newest visit.
    pub outcome: Option<Outcome>,
    /// Whether it lists other pages, as a sitemap or a feed does.
    pub listing: bool,
    /// Quality gain ΔQ_A of the first copy for searches, if it was measured.
    pub first_gain: Option<f32>,
    /// Sums over all revisits whose quality gain was measured. The ledger stores them after the
    /// rest of a record, because stores of format 4 lack them.
    #[serde(skip)]
    pub measured: Measured,
    /// The last revisits.
    pub recent: Recent,
    /// Change hints from sitemaps and feeds.
    pub signals: Signals,
    /// New pages that its revisits discovered.
    pub finds: Finds,
}

/// The result of a visit. A 404 is an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// A text that differs from the copy, or the first copy.
    Changed,
    /// The same text as the copy.
    Unchanged,
    /// The server answered without a page to read: a redirect, an empty answer, a file that is
    /// not a page, 404, 410 or most other 4xx.
    Gone,
    /// No answer, an incomplete one, or one that asks to try again: a time-out, a reset, 408,
    /// 421, 425, 429, 5xx.
    Unreachable,
    /// The crawler did not request the page: robots.txt, a forbidden address, or a rule of its
    /// own, such as that against traps.
    Refused,
}

/// One visit to a page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Visit {
    /// When the page was requested.
    pub at: Moment,
    /// Its result.
    pub outcome: Outcome,
    /// If the text changed: the share of its shingles that differ.
    pub differing: f32,
}

impl Visit {
    /// Creates a visit. If it found a change, the whole text counts as changed.
    pub fn new(at: Moment, outcome: Outcome) -> Self {
        Self {
            at,
            outcome,
            differing: 1.0,
        }
    }
}

impl History {
    /// Creates the history of a page that was just discovered.
    pub fn discovered(at: Moment, depth: u16) -> Self {
        Self {
            discovered: at,
            depth,
            ..Self::default()
        }
    }

    /// Returns the history with one more visit.
    #[must_use]
    pub fn after(mut self, visit: Visit) -> Self {
        self.asked = Some(visit.at);
        self.outcome = Some(visit.outcome);
        match visit.outcome {
            Outcome::Unreachable => self.failures = self.failures.saturating_add(1),
            Outcome::Refused => {}
            Outcome::Gone => (self.failures, self.gone) = (0, self.gone.saturating_add(1)),
            Outcome::Changed | Outcome::Unchanged => (self.failures, self.gone) = (0, 0),
        }
        if matches!(visit.outcome, Outcome::Changed | Outcome::Unchanged) {
            if let Some(before) = self.fresh {
                self.revisited(visit, visit.at.since(before));
            }
            self.fresh = Some(visit.at);
            self.signals.since = 0;
        }
        self
    }

    /// Adds the measured quality gain ΔQ_A of the last revisit, or of the first copy if there was
    /// no revisit. A second measurement replaces the first.
    #[must_use]
    pub fn gained(mut self, gain: f32) -> Self {
        match self.recent.last_mut() {
            Some(last) => {
                let before = last.gain.replace(gain);
                self.measured.measure(before, gain, last.gap);
            }
            None => self.first_gain = Some(gain),
        }
        self
    }

    /// Adds the number of pages that the last revisit discovered.
    ///
    /// Without a revisit nothing is added: the pages that a first visit discovers may be old.
    #[must_use]
    pub fn named(mut self, new: u32) -> Self {
        if let Some(last) = self.recent.iter().next_back() {
            self.finds.push(new, last.gap, &self.recent);
        }
        self
    }

    /// Records whether the page lists other pages.
    #[must_use]
    pub fn listing(mut self, listing: bool) -> Self {
        self.listing = listing;
        self
    }

    /// Adds a hint that the page has changed since it was last read.
    #[must_use]
    pub fn signalled(mut self, at: Moment) -> Self {
        self.signals.since = self.signals.since.saturating_add(1);
        self.signals.last = Some(at);
        self
    }

    /// Returns the history with every moment after `now` replaced by `to`.
    ///
    /// A clock that ran ahead set such a moment. Unchanged, it would delay retries and
    /// refreshes until the clock reaches it.
    #[must_use]
    pub fn brought_back(mut self, now: Moment, to: Moment) -> Self {
        let back = |moment: Moment| moment.brought_back(now, to);
        self.discovered = self.discovered.brought_back(now, to);
        self.asked = self.asked.map(back);
        self.fresh = self.fresh.map(back);
        self.signals.last = self.signals.last.map(back);
        self
    }

    fn revisited(&mut self, visit: Visit, gap: Duration) {
        let changed = visit.outcome == Outcome::Changed;
        self.revisits = self.revisits.saturating_add(1);
        self.changes = self.changes.saturating_add(u32::from(changed));
        self.watched = self.watched.saturating_add(gap);
        self.signals.revisited(changed);
        let differing = visit.differing.clamp(0.0, 1.0);
        if changed {
            let tenth = ((differing * 10.0).ceil() as usize).clamp(1, 10) - 1;
            self.tenths[tenth] = self.tenths[tenth].saturating_add(1);
        } else {
            self.quiet = self.quiet.saturating_add(gap);
            self.measured.seconds += gap.as_secs_f32();
        }
        self.recent.push(Revisit {
            gap: gap.as_secs_f32(),
            changed,
            differing: if changed { differing } else { 0.0 },
            // An unchanged page gains nothing.
            gain: (!changed).then_some(0.0),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(number: u64) -> Moment {
        Moment::from_micros(number * 86_400_000_000)
    }

    fn folded(visits: &[(u64, Outcome)]) -> History {
        let start = History::discovered(day(0), 2);
        visits.iter().fold(start, |history, &(at, outcome)| {
            history.after(Visit::new(day(at), outcome))
        })
    }

    #[test]
    fn only_reads_after_the_first_copy_count_as_revisits() {
        let history = folded(&[
            (1, Outcome::Unreachable),
            (2, Outcome::Changed), // The first copy says nothing about change.
            (3, Outcome::Unchanged),
            (5, Outcome::Unreachable), // Neither does an outage.
            (7, Outcome::Changed),
            (8, Outcome::Gone),
        ]);
        assert_eq!(
            (history.revisits, history.changes, history.failures),
            (2, 1, 0)
        );
        assert_eq!(history.watched, Duration::from_secs(5 * 86_400));
        assert_eq!(history.quiet, Duration::from_secs(86_400));
        assert_eq!(history.fresh, Some(day(7)));
        assert_eq!(history.asked, Some(day(8)));
        assert_eq!(history.gone, 1);
        assert_eq!(history.tenths[9], 1);
    }

    #[test]
    fn moments_after_now_are_brought_back_and_others_stay() {
        let ahead = folded(&[(3, Outcome::Changed), (9, Outcome::Unreachable)]).signalled(day(8));
        let back = ahead.brought_back(day(4), day(2));
        assert_eq!((back.discovered, back.fresh), (day(0), Some(day(3))));
        assert_eq!(
            (back.asked, back.signals.last),
            (Some(day(2)), Some(day(2)))
        );
        assert_eq!(
            ahead.brought_back(day(2), day(1)).discovered,
            ahead.discovered
        );
        assert_eq!(ahead.brought_back(day(9), day(1)), ahead);
        let unseen = History::discovered(day(9), 0).brought_back(day(2), day(1));
        assert_eq!(unseen.discovered, day(1));
    }

    #[test]
    fn gains_belong_to_the_last_visit() {
        let first = folded(&[(1, Outcome::Changed)]).gained(0.5);
        assert_eq!(first.first_gain, Some(0.5));
        let second = first.after(Visit {
            at: day(3),
            outcome: Outcome::Changed,
            differing: 0.25,
        });
        assert_eq!(second.recent.iter().next().unwrap().gain, None);
        let second = second.gained(0.1);
        let third = second.after(Visit::new(day(4), Outcome::Unchanged));
        let gains: Vec<_> = third.recent.iter().map(|visit| visit.gain).collect();
        assert_eq!(gains, [Some(0.1), Some(0.0)]);
        assert_eq!(third.tenths[2], 1);
    }

    #[test]
    fn hints_are_counted_by_outcome() {
        let start = folded(&[(1, Outcome::Changed)]);
        let visit = |history: History, at, outcome| history.after(Visit::new(day(at), outcome));
        let hit = visit(start.signalled(day(2)), 3, Outcome::Changed);
        let alarm = visit(hit.signalled(day(4)), 5, Outcome::Unchanged);
        let missed = visit(alarm, 6, Outcome::Changed);
        let signals = missed.signals;
        assert_eq!(
            (signals.hits, signals.false_alarms, signals.misses),
            (1, 1, 1)
        );
        assert_eq!((signals.since, signals.last), (0, Some(day(4))));
    }
}
