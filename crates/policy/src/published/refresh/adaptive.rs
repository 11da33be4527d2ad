//! Gives each page its own interval, which grows after a visit without a change.
//!
//! This is Apache Nutch's `AdaptiveFetchSchedule`. The interval is multiplied by 1.4 after an
//! unchanged visit and by 0.8 after a changed one. The policy ignores importance. Intervals settle
//! where about three of five visits find a change, because 0.8³ · 1.4² ≈ 1.

use crate::moment::DAY;
use crate::{Curve, History, Page, Refresh, Term};

/// 1 plus Nutch's `db.fetch.schedule.adaptive.inc_rate`, 0.4.
const LONGER: f64 = 1.4;
/// 1 minus Nutch's `db.fetch.schedule.adaptive.dec_rate`, 0.2.
const SHORTER: f64 = 0.8;
/// Nutch's `db.fetch.interval.default`: 30 days, in seconds.
const START: f64 = 2_592_000.0;
/// Nutch's `db.fetch.schedule.adaptive.min_interval`: one minute, in seconds.
const SHORTEST: f64 = 60.0;
/// Nutch's `db.fetch.schedule.adaptive.max_interval`: one year, in seconds.
const LONGEST: f64 = 31_536_000.0;

/// Worth is the time since the last request divided by the interval: 1 when Nutch would fetch.
#[derive(Debug, Clone, Copy)]
pub struct Adaptive;

struct IntervalCurve {
    interval: f64,
}

impl Curve for IntervalCurve {
    fn at(&self, age: f64) -> f64 {
        age / self.interval
    }

    fn age_of(&self, worth: f64) -> Option<f64> {
        Some(worth * self.interval)
    }
}

impl Refresh for Adaptive {
    fn curve<'a>(&'a self, page: Page<'_>, _importance: f64) -> Box<dyn Curve + 'a> {
        Box::new(wait(page.history))
    }

    fn terms(&self, page: Page<'_>, _importance: f64) -> Vec<Term> {
        let days = wait(page.history).interval / DAY;
        vec![Term::new("interval in days", days)]
    }
}

/// Returns the interval after all visits.
///
/// Visits that have left the window count in one step, the recent ones one by one. The bounds
/// apply after each.
fn wait(history: &History) -> IntervalCurve {
    let recent = history.recent.iter().filter(|visit| visit.changed).count();
    let changes = f64::from(history.changes) - recent as f64;
    let all = f64::from(history.revisits) - history.recent.len() as f64;
    let logarithm = START.ln() + changes * SHORTER.ln() + (all - changes) * LONGER.ln();
    let bounded = |interval: f64| interval.clamp(SHORTEST, LONGEST);
    let interval = history
        .recent
        .iter()
        .fold(bounded(logarithm.exp()), |interval, visit| {
            bounded(interval * if visit.changed { SHORTER } else { LONGER })
        });
    IntervalCurve { interval }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Moment, Outcome, Visit};

    #[test]
    fn intervals_grow_after_unchanged_visits_and_shrink_after_changed_ones() {
        let day = 86_400.0;
        for (visits, expected) in [
            ("", 30.0 * day),
            ("c", 24.0 * day),
            ("u", 42.0 * day),
            ("uc", 33.6 * day),
            ("uuuuuuuuuuuuuuuuuuuu", 365.0 * day),
            // The bound of one year applies at every visit, not only at the end.
            ("uuuuuuuuuuuuuuuuuuuucccc", 365.0 * day * 0.4096),
        ] {
            let mut history = History::discovered(Moment::START, 0)
                .after(Visit::new(Moment::START, Outcome::Changed));
            for (number, visit) in (1..).zip(visits.chars()) {
                let outcome = match visit {
                    'c' => Outcome::Changed,
                    _ => Outcome::Unchanged,
                };
                let at = Moment::START + Duration::from_secs(number * 86_400);
                history = history.after(Visit::new(at, outcome));
            }
            let found = wait(&history).interval;
            assert!((found / expected - 1.0).abs() < 1e-9, "{visits}: {found}");
        }
    }
}
