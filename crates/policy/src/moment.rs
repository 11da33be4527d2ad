//! Points in time, supplied by the driver.
//!
//! A moment is in microseconds since 1970. A driver should read the wall clock once and then
//! advance with a monotonic clock. Then order and politeness survive any jump of the wall
//! clock.

use std::ops::Add;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Seconds of a day.
pub(crate) const DAY: f64 = 86_400.0;

/// A point in time, in microseconds since 1970.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Moment(u64);

impl Moment {
    /// The beginning of 1970, before all observations.
    pub const START: Self = Self(0);

    /// Creates a moment from microseconds since 1970.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Returns the microseconds since 1970.
    pub const fn micros(self) -> u64 {
        self.0
    }

    /// Returns the whole seconds since 1970.
    pub const fn unix_seconds(self) -> i64 {
        (self.0 / 1_000_000) as i64
    }

    /// Returns the time from `earlier` to this moment. Zero if `earlier` is later, as after a
    /// clock was set back.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }

    /// Returns `to` if this moment lies after `now`, because a clock that ran ahead set it.
    /// Otherwise returns this moment.
    #[must_use]
    pub fn brought_back(self, now: Self, to: Self) -> Self {
        if self > now { to } else { self }
    }
}

impl Add<Duration> for Moment {
    type Output = Self;

    fn add(self, time: Duration) -> Self {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(micros))
    }
}
