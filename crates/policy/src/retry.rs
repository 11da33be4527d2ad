//! When a server that did not answer or refused is asked again, and a page that was missing.

use std::time::Duration;

use crate::{History, Moment};

/// Doublings of the price for a page that stays gone, at most.
const DOUBLINGS: u16 = 30;

/// Waits twice as long after every failure in a row, and gives up after the last.
#[derive(Debug, Clone, Copy)]
pub struct Retry {
    /// The wait after the first failure.
    pub first: Duration,
    /// How many failures in a row are enough; zero: never ask again.
    pub attempts: u16,
    /// The longest wait.
    pub longest: Duration,
    /// The wait before a page that we have and that was found missing is asked for once more: one 404 is
    /// no evidence. From then on it must be worth twice as much each time. `None`: it is like any other.
    pub confirm: Option<Duration>,
}

/// The wait after a server's first refusal that names none: a moment of load is over by then.
const BUSY: Duration = Duration::from_secs(5);
/// The longest wait after refusals: a server that was given up for an hour may be up again.
const BUSY_LONGEST: Duration = Duration::from_secs(3600);

/// Returns how long a server is left alone that refused requests (429 or 503) and did not say how long.
///
/// Doubles with every refusal in a row, from 5 s to an hour. `jitter`, from 0 to 1, adds up to a quarter, so that
/// crawlers that were refused together do not come back together.
pub fn back_off(in_a_row: u16, jitter: f64) -> Duration {
    let doublings = u32::from(in_a_row.saturating_sub(1)).min(16);
    let wait = BUSY.saturating_mul(1 << doublings).min(BUSY_LONGEST);
    wait + wait.mul_f64(jitter.clamp(0.0, 1.0) / 4.0)
}

impl Default for Retry {
    /// Three attempts within a quarter of a minute: an outage of a moment costs nothing, and a dead
    /// server does not keep a crawl from ending.
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
    /// When to ask again; `None`: no more.
    pub fn due(&self, page: &History) -> Option<Moment> {
        if page.failures == 0 || page.failures >= self.attempts {
            return None;
        }
        let doublings = u32::from(page.failures - 1).min(16);
        let wait = self.first.saturating_mul(1 << doublings);
        Some(page.asked? + wait.min(self.longest))
    }

    /// How much more a page must be worth that was found gone so often in a row.
    pub fn absence(&self, page: &History) -> f64 {
        match self.confirm {
            Some(_) => f64::from(1u32 << page.gone.min(DOUBLINGS)),
            None => 1.0,
        }
    }

    /// When to ask again for a page that was found missing; `None`: we never had it, or it was confirmed.
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
    fn waits_double_and_end() {
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
    fn refusals_in_a_row_cost_more_and_more_up_to_an_hour() {
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
    fn a_missing_page_is_confirmed_once_and_then_missed_less_and_less() {
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
