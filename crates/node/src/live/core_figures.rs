//! Performance figures of the crawl's state machine (`crawl::Core`) and its committer.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The number of buckets. Their upper bounds double, from 1 µs to about 2 s.
const BUCKETS: usize = 22;

/// A histogram of durations whose bucket bounds double.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Durations {
    counts: [u64; BUCKETS],
    /// Durations longer than the last bound.
    longer: u64,
    /// The sum of all durations, in microseconds.
    micros: u64,
    /// The longest duration, in microseconds.
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

    /// Adds the counts of another histogram.
    pub fn add(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
        self.longer += other.longer;
        self.micros = self.micros.saturating_add(other.micros);
        self.longest = self.longest.max(other.longest);
    }

    /// Returns the number of durations.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum::<u64>() + self.longer
    }

    /// Returns the sum of all durations, in seconds.
    pub fn seconds(&self) -> f64 {
        self.micros as f64 / 1e6
    }

    /// Returns the longest duration, in seconds.
    pub fn longest(&self) -> f64 {
        self.longest as f64 / 1e6
    }

    /// Returns the upper bound of each bucket, in seconds, and its count. The last bound is
    /// infinite.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, u64)> {
        let bounded = (0..).zip(self.counts);
        let bounded = bounded.map(|(power, count)| (f64::from(1u32 << power) / 1e6, count));
        bounded.chain([(f64::INFINITY, self.longer)])
    }

    /// Returns an upper bound of the quantile at `share` (0 to 1), in seconds; `None` if no
    /// duration was counted.
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

/// Performance figures of the crawl's state machine and its committer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoreFigures {
    /// Durations of the steps of the state machine.
    pub steps: Durations,
    /// Durations of commits of archive and ledger.
    pub commits: Durations,
    /// Events that wait for the state machine.
    pub events_waiting: u64,
    /// Histories of pages that were loaded from the ledger since the program started.
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
