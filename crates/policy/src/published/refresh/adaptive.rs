//! Each page at an interval of its own, longer after a visit that found nothing.
//!
//! Apache Nutch's `AdaptiveFetchSchedule`, which many crawlers copy: times 1.4 if nothing had changed, times .8 if
//! something had. For comparison: it knows no importance, and where intervals settle (3 changed visits to 2 that are not)
//! follows from two numbers that nobody chose for a reason.

use crate::moment::DAY;
use crate::{Curve, History, Page, Refresh, Term};

/// `db.fetch.schedule.adaptive.inc_rate`.
const LONGER: f64 = 1.4;
/// `db.fetch.schedule.adaptive.dec_rate`.
const SHORTER: f64 = 0.8;
/// `db.fetch.interval.default`: 30 days.
const START: f64 = 2_592_000.0;
/// `db.fetch.schedule.adaptive.min_interval`: a minute.
const SHORTEST: f64 = 60.0;
/// `db.fetch.schedule.adaptive.max_interval`: a year.
const LONGEST: f64 = 31_536_000.0;

/// Worth is the age of the copy over the interval: one when Nutch would fetch it.
#[derive(Debug, Clone, Copy)]
pub struct Adaptive;

struct Wait {
    interval: f64,
}

impl Curve for Wait {
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

/// The interval after all visits: those that left the window all at once, then one by one. Bounds apply after each.
fn wait(history: &History) -> Wait {
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
    Wait { interval }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Moment, Outcome, Visit};

    #[test]
    fn intervals_follow_what_visits_find() {
        let day = 86_400.0;
        for (visits, expected) in [
            ("", 30.0 * day),
            ("c", 24.0 * day),
            ("u", 42.0 * day),
            ("uc", 33.6 * day),
            ("uuuuuuuuuuuuuuuuuuuu", 365.0 * day),
            // The year is a bound at every visit, not at the end.
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
