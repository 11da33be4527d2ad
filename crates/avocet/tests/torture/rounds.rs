//! Repetition of a scenario: one short round in the test suite, or long rounds for a given time.
//!
//! `AVOCET_TORTURE_MINUTES` asks for long rounds for that many minutes, and at least one round.
//! `AVOCET_TORTURE_SEED` is the seed of the first round; each later round adds 1. A round prints
//! its seed, so that a failed one can be repeated. Only the exact state of the program at a kill
//! may differ.

use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Seed of the first round if `AVOCET_TORTURE_SEED` is not set.
const SHORT: u64 = 1;

/// One round of a scenario.
pub struct Round {
    pub seed: u64,
    pub chance: ChaCha8Rng,
    long: bool,
}

impl Round {
    fn new(scenario: &str, seed: u64, long: bool) -> Self {
        eprintln!("torture {scenario}: seed {seed}");
        Self {
            seed,
            chance: ChaCha8Rng::seed_from_u64(seed),
            long,
        }
    }

    /// Returns the size for a short or for a long round.
    pub fn size(&self, short: usize, long: usize) -> usize {
        if self.long { long } else { short }
    }
}

/// Runs rounds of a scenario until the time is over, at least one.
pub async fn rounds(scenario: &str, mut round: impl AsyncFnMut(Round)) {
    let asked = |name: &str| std::env::var(name).ok().map(|text| text.parse().unwrap());
    let minutes: Option<u64> = asked("AVOCET_TORTURE_MINUTES");
    let first = asked("AVOCET_TORTURE_SEED").unwrap_or(SHORT);
    let end = Instant::now() + Duration::from_secs(60 * minutes.unwrap_or(0));
    for seed in first.. {
        round(Round::new(scenario, seed, minutes.is_some())).await;
        if Instant::now() >= end {
            eprintln!("torture {scenario}: {} rounds passed", seed - first + 1);
            return;
        }
    }
}
