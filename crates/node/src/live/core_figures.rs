//! How the core of a running crawl fares: time per step and per commit, events waiting, histories loaded.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Upper bounds of the buckets: powers of two microseconds, from 1 µs to 2 s.
const BUCKETS: usize = 22;

/// A histogram of durations, in buckets that double.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Durations {
    counts: [u64; BUCKETS],
    /// Durations longer than the last bound.
    longer: u64,
    /// The sum of all, in microseconds.
    micros: u64,
    /// The longest, in microseconds.
    longest: u64,
}

impl Durations {
    /// Counts a duration.
    pub fn record(&mut self, duration: Duration) {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let bucket = micros.max(1).next_power_of_two().trailing_zeros() as usize;
        match self.counts.get_mut(bucket) {
            Some(count) => *count += 1,
            None => self.longer += 1,
        }
        self.micros = self.micros.saturating_add(micros);
        self.longest = self.longest.max(micros);
    }

    /// Takes in what another histogram counted.
    pub fn add(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
        self.longer += other.longer;
        self.micros = self.micros.saturating_add(other.micros);
        self.longest = self.longest.max(other.longest);
    }

    /// How many were counted.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum::<u64>() + self.longer
    }

    /// The sum of all, in seconds.
    pub fn seconds(&self) -> f64 {
        self.micros as f64 / 1e6
    }

    /// The longest, in seconds.
    pub fn longest(&self) -> f64 {
        self.longest as f64 / 1e6
    }

    /// Upper bounds in seconds, each with how many durations lie between it and the bound before; the last bound is
    /// infinite.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, u64)> {
        let bounded = (0..).zip(self.counts);
        let bounded = bounded.map(|(power, count)| (f64::from(1u32 << power) / 1e6, count));
        bounded.chain([(f64::INFINITY, self.longer)])
    }

    /// The bound that this share of all durations does not exceed, in seconds; `None`: nothing was counted.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let wanted = ((self.count() as f64 * share).ceil() as u64).max(1);
        let mut within = 0;
        let found = self.buckets().find(|(_, count)| {
            within += count;
            within >= wanted
        });
        found.map(|(bound, _)| bound.min(self.longest()))
    }
}

/// Figures of the core.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoreFigures {
    /// Time per step.
    pub steps: Durations,
    /// Time per commit of archive and ledger.
    pub commits: Durations,
    /// Events that wait to be taken in.
    pub events_waiting: u64,
    /// Histories that were loaded from the ledger.
    pub histories: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_fall_into_buckets_that_double() {
        let mut durations = Durations::default();
        assert_eq!(durations.quantile(0.5), None);
        for micros in [0, 1, 2, 3, 900, 5_000_000] {
            durations.record(Duration::from_micros(micros));
        }
        let filled: Vec<(f64, u64)> = durations
            .buckets()
            .filter(|(_, count)| *count > 0)
            .collect();
        let bounds = [
            (1e-6, 2),
            (2e-6, 1),
            (4e-6, 1),
            (1.024e-3, 1),
            (f64::INFINITY, 1),
        ];
        assert_eq!(filled, bounds);
        assert_eq!(durations.count(), 6);
        assert_eq!(durations.quantile(0.5), Some(2e-6));
        assert_eq!(durations.quantile(1.0), Some(5.0));
        assert!((durations.seconds() - 5.000_906).abs() < 1e-9);
        let mut twice = durations;
        twice.add(&durations);
        assert_eq!((twice.count(), twice.longest()), (12, 5.0));
    }
}
