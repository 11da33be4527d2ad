//! Exponential backoff after failed visits and after refusals of a server, and the second
//! request for a missing page.

use std::time::Duration;

use crate::{History, Moment};

/// Maximum number of doublings of the worth that a page needs while it stays gone.
const DOUBLINGS: u16 = 30;

/// Exponential backoff that stops after a number of consecutive failures.
#[derive(Debug, Clone, Copy)]
pub struct Retry {
    /// The wait after the first failure.
    pub first: Duration,
    /// Number of consecutive failures after which the page is given up. 0 or 1: a page is given
    /// up after its first failure.
    pub attempts: u16,
    /// The maximum wait.
    pub longest: Duration,
    /// The wait before a second request for a page that has a copy and was found missing, since
    /// one 404 is weak evidence. Each visit that finds the page missing doubles the worth that
    /// the page needs for its next visit. `None`: missing pages are treated like others.
    pub confirm: Option<Duration>,
}

/// The wait after a server's first refusal without `Retry-After`. A short overload is over by
/// then.
const BUSY: Duration = Duration::from_secs(5);
/// Maximum wait after refusals, without jitter. A server may recover within an hour.
const BUSY_LONGEST: Duration = Duration::from_secs(3600);

/// Returns how long to wait after a server refused requests (429 or 503) without saying how
/// long.
///
/// The wait doubles with every consecutive refusal, from 5 s to an hour. `jitter`, from 0 to 1,
/// adds up to a quarter, so that crawlers that were refused together do not return together.
pub fn back_off(in_a_row: u16, jitter: f64) -> Duration {
    let doublings = u32::from(in_a_row.saturating_sub(1)).min(16);
    let wait = BUSY.saturating_mul(1 << doublings).min(BUSY_LONGEST);
    wait + wait.mul_f64(jitter.clamp(0.0, 1.0) / 4.0)
}

impl Default for Retry {
    /// Three attempts, with waits of 5 s and 10 s between them. A short outage loses no page, and
    /// a dead server does not keep a crawl from ending.
    fn default() -> Self {
        Self {
            first: Duration::from_secs(5),
            attempts: 3,
            longest: Duration::from_secs(86_400),
            confirm: None,
        }
    }
}

impl Retry {
    /// Returns when to request the page again, or `None` if it is given up.
    pub fn due(&self, page: &History) -> Option<Moment> {
        if page.failures == 0 || page.failures >= self.attempts {
            return None;
        }
        let doublings = u32::from(page.failures - 1).min(16);
        let wait = self.first.saturating_mul(1 << doublings);
        Some(page.asked? + wait.min(self.longest))
    }

    /// Returns the factor on the worth that a page needs for its next visit: 2 to the number of
    /// visits that found it gone since it was last read. 1 if `confirm` is not set.
    pub fn absence(&self, page: &History) -> f64 {
        match self.confirm {
            Some(_) => f64::from(1u32 << page.gone.min(DOUBLINGS)),
            None => 1.0,
        }
    }

    /// Returns when to request a page again to confirm that it is missing. `None` unless
    /// `confirm` is set, the page has a copy, and exactly one visit has found the page missing
    /// since it was last read.
    pub fn confirm_due(&self, page: &History) -> Option<Moment> {
        let unsure = page.fresh.is_some() && page.gone == 1;
        let asked = page.asked.filter(|_| unsure)?;
        Some(asked + self.confirm?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Outcome, Visit};

    #[test]
    fn waits_double_and_end_after_the_last_attempt() {
        let retry = Retry {
            first: Duration::from_secs(30),
            attempts: 3,
            ..Retry::default()
        };
        let mut page = History::discovered(Moment::START, 0);
        assert_eq!(retry.due(&page), None, "nothing failed yet");
        for wait in [Some(30), Some(60), None] {
            page = page.after(Visit::new(Moment::START, Outcome::Unreachable));
            assert_eq!(
                retry.due(&page),
                wait.map(|wait| Moment::START + Duration::from_secs(wait))
            );
        }
    }

    #[test]
    fn the_wait_doubles_with_every_refusal_up_to_an_hour() {
        let waits: Vec<u64> = (1..=12).map(|row| back_off(row, 0.0).as_secs()).collect();
        let doubled = [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600];
        assert_eq!(waits, doubled);
        assert_eq!(back_off(u16::MAX, 0.0), BUSY_LONGEST);
        assert_eq!(back_off(0, 0.0), BUSY, "never less than the first");
        assert_eq!(back_off(1, 1.0), Duration::from_millis(6250));
        assert_eq!(back_off(2, 0.5), Duration::from_millis(11_250));
        assert_eq!(back_off(1, 7.0), back_off(1, 1.0));
    }

    #[test]
    fn a_missing_page_is_confirmed_once_and_each_miss_doubles_the_required_worth() {
        let retry = Retry {
            confirm: Some(Duration::from_secs(60)),
            ..Retry::default()
        };
        let gone = |page: History| page.after(Visit::new(Moment::START, Outcome::Gone));
        let never_had = gone(History::discovered(Moment::START, 0));
        assert_eq!(retry.confirm_due(&never_had), None);
        let had = History::discovered(Moment::START, 0)
            .after(Visit::new(Moment::START, Outcome::Changed));
        let once = gone(had);
        assert_eq!(
            retry.confirm_due(&once),
            Some(Moment::START + Duration::from_secs(60))
        );
        assert_eq!(Retry::default().confirm_due(&once), None);
        let twice = gone(once);
        assert_eq!(retry.confirm_due(&twice), None);
        let absences = [had, once, twice].map(|page| retry.absence(&page));
        assert_eq!(absences, [1.0, 2.0, 4.0]);
        assert_eq!(Retry::default().absence(&twice), 1.0);
    }
}
