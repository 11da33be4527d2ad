//! `cargo xtask torture`: runs the torture tests (`crates/avocet/tests/torture`) for a given time.
//!
//! `cargo test` runs them, one after the other, because nextest ends a test after five minutes.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use crate::cli::{Scenario, Torture};

/// Runs the scenarios until the time is up, and fails if one of them fails.
pub fn run(options: &Torture) -> Result<()> {
    let scenarios = match options.scenario.as_slice() {
        [] => Scenario::value_variants(),
        some => some,
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let seed = options.seed.unwrap_or(now.as_secs());
    let tests: u64 = scenarios.iter().map(|scenario| scenario.tests().1).sum();
    let minutes = options.minutes / tests;
    let mut command = crate::cargo();
    command
        .args(["test", "--package", "avocet", "--test", "torture", "--"])
        .args(["--nocapture", "--test-threads", "1"])
        .args(scenarios.iter().map(|scenario| scenario.tests().0))
        .env("AVOCET_TORTURE_MINUTES", minutes.to_string())
        .env("AVOCET_TORTURE_SEED", seed.to_string())
        .current_dir(crate::workspace());
    eprintln!("{tests} tests, {minutes} minutes each, seeds from {seed}");
    let status = command.status().context("cannot run cargo")?;
    if !status.success() {
        bail!(
            "the torture tests ended with {status}; repeat a round with --seed and a seed printed above"
        );
    }
    Ok(())
}
