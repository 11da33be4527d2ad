//! When something happens, as the driver tells it.
//!
//! Microseconds since 1970. A driver that moves on a monotonic clock from one reading of the wall
//! clock keeps order and politeness through any jump of the latter.

use std::ops::Add;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Seconds of a day.
pub(crate) const DAY: f64 = 86_400.0;

/// A point in time.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Moment(u64);

impl Moment {
    /// The beginning of 1970, before everything that is observed.
    pub const START: Self = Self(0);

    /// The moment so many microseconds after 1970 began.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Microseconds since 1970 began.
    pub const fn micros(self) -> u64 {
        self.0
    }

    /// Whole seconds since 1970 began.
    pub const fn unix_seconds(self) -> i64 {
        (self.0 / 1_000_000) as i64
    }

    /// The time from `earlier` to here; zero if `earlier` is later, as after a clock set back.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }

    /// This moment, or `to` if it lies after `now`: then a clock that was ahead dated it.
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
