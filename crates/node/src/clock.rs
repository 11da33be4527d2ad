//! What time is it, for the whole program?
//!
//! **Invariant:** moments only grow. The wall clock is read once; from then on a monotonic clock
//! counts, so a jump of the former changes no order and no politeness.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use policy::Moment;
use tokio::time::Instant;

/// Returns a moment as archive, logs and people write it.
pub fn timestamp(moment: Moment) -> jiff::Timestamp {
    jiff::Timestamp::from_microsecond(moment.micros() as i64).unwrap_or_default()
}

/// The driver's clock.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: Moment,
    since: Instant,
}

impl Clock {
    /// Starts at the wall clock's time.
    pub fn start() -> Self {
        let wall = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            start: Moment::START + wall,
            since: Instant::now(),
        }
    }

    /// Now.
    pub fn now(&self) -> Moment {
        self.start + self.since.elapsed()
    }

    /// How long it has run.
    pub fn elapsed(&self) -> Duration {
        self.since.elapsed()
    }

    /// The runtime's name for a moment.
    pub fn instant(&self, moment: Moment) -> Instant {
        self.since + moment.since(self.start)
    }
}
