//! The clock of the live driver.
//!
//! **Invariant:** the moments of a clock never decrease. A clock reads the wall clock once, at its
//! start, and then counts on a monotonic clock. So a jump of the wall clock changes neither order
//! nor politeness.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use policy::Moment;
use tokio::time::Instant;

/// Converts a moment to a timestamp for archive, logs and user interfaces.
pub fn timestamp(moment: Moment) -> jiff::Timestamp {
    jiff::Timestamp::from_microsecond(moment.micros() as i64).unwrap_or_default()
}

/// Formats a moment as an RFC 3339 timestamp.
pub fn written(moment: Moment) -> String {
    timestamp(moment).to_string()
}

/// A monotonic clock that was started at the wall clock's time.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: Moment,
    since: Instant,
}

impl Clock {
    /// Starts a clock at the wall clock's time.
    pub fn start() -> Self {
        let wall = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            start: Moment::START + wall,
            since: Instant::now(),
        }
    }

    /// Returns the current moment.
    pub fn now(&self) -> Moment {
        self.start + self.since.elapsed()
    }

    /// Returns the time since the start.
    pub fn elapsed(&self) -> Duration {
        self.since.elapsed()
    }

    /// Converts a moment to an instant of the async runtime.
    pub fn instant(&self, moment: Moment) -> Instant {
        self.since + moment.since(self.start)
    }
}
