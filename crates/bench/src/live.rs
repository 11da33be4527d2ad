//! `bench live`: compares a refresh policy, by default `holistic`, with a uniform one in demos.
//!
//! Runs `avocet demo` with both policies, for each seed, all at the same time. The servers of the
//! demo know when their pages change, so freshness is measured and not estimated.
//!
//! **Invariant:** both policies of a seed have the same web, the same budget and the same machine
//! at the same time. Each has its own store, servers and searchers.

use std::fmt;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};

use crate::program::AvocetProgram;
use crate::report;

/// The refresh policy that serves as the baseline.
const BASELINE: &str = "uniform";

/// Options of `bench live`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench live
  cargo xtask bench live --seeds 2 --time 5m --from 1m

Runs two demos per seed, all at the same time, so that the time of one is the time of all.")]
pub struct LiveOptions {
    /// The refresh policy that is compared with `uniform`
    #[arg(long, value_name = "POLICY", default_value = "holistic")]
    pub policy: String,
    /// Number of seeds, from 1 on
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=20))]
    pub seeds: u32,
    /// Time of each demo
    #[arg(long, value_name = "TIME", default_value = "25m")]
    pub time: String,
    /// Time after which freshness is measured
    #[arg(long, value_name = "TIME", default_value = "5m")]
    pub from: String,
    /// Maximum rate of fetches of each demo
    #[arg(long, value_name = "RATE", default_value = "8/s")]
    pub budget: String,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// The part of the output of `avocet demo --json` that is used.
#[derive(Debug, Serialize, Deserialize)]
struct DemoResult {
    requests: u64,
    fetches: DemoFetches,
    freshness: MeasuredFreshness,
    publication: DemoPublication,
}

#[derive(Debug, Serialize, Deserialize)]
struct DemoFetches {
    /// Requests for sitemaps and feeds.
    lists: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct MeasuredFreshness {
    /// Share of fresh copies, from 0 to 1.
    copies: f64,
    /// Share of fresh copies among the results that searches showed, from 0 to 1.
    shown: f64,
}

#[derive(Debug, Serialize, Deserialize)]
struct DemoPublication {
    published: u64,
    found: u64,
    /// In seconds.
    mean_delay: Option<f64>,
}

#[derive(Debug, Serialize)]
struct LiveRow {
    seed: u32,
    policy: DemoResult,
    uniform: DemoResult,
}

#[derive(Debug, Serialize)]
struct LiveComparison {
    policy: String,
    rows: Vec<LiveRow>,
}

/// Runs the demos and prints the comparison.
pub fn run(options: &LiveOptions) -> Result<()> {
    let program = AvocetProgram::build()?;
    let start = |seed: u32, policy: &str| {
        let mut command = Command::new(program.path());
        command
            .args([
                "demo",
                "--json",
                "--listen",
                "127.0.0.1:0",
                "--baseline",
                "none",
            ])
            .args(["--time", &options.time, "--measure-from", &options.from])
            .args(["--budget", &options.budget, "--refresh", policy])
            .args(["--seed", &seed.to_string()])
            .stdout(Stdio::piped());
        command.spawn().context("cannot start avocet demo")
    };
    let seeds = 1..=options.seeds;
    eprintln!("{} demos run for {} each", 2 * options.seeds, options.time);
    let demos = seeds.map(|seed| {
        let policy = start(seed, &options.policy)?;
        Ok((seed, policy, start(seed, BASELINE)?))
    });
    let demos: Vec<(u32, Child, Child)> = demos.collect::<Result<_>>()?;
    let rows = demos.into_iter().map(|(seed, policy, uniform)| {
        Ok(LiveRow {
            seed,
            policy: result(policy)?,
            uniform: result(uniform)?,
        })
    });
    let comparison = LiveComparison {
        policy: options.policy.clone(),
        rows: rows.collect::<Result<_>>()?,
    };
    report::print(&comparison, options.json)
}

/// Waits for the end of a demo and returns its result.
fn result(demo: Child) -> Result<DemoResult> {
    let ended = demo.wait_with_output().context("cannot wait for a demo")?;
    ensure!(ended.status.success(), "a demo failed: {}", ended.status);
    serde_json::from_slice(&ended.stdout).context("cannot parse the output of avocet demo")
}

impl LiveComparison {
    /// Returns the mean over the seeds of the ratio of two numbers, policy to uniform.
    fn mean_ratio(&self, of: impl Fn(&DemoResult) -> f64) -> f64 {
        let ratios = self
            .rows
            .iter()
            .map(|row| of(&row.policy) / of(&row.uniform));
        ratios.sum::<f64>() / self.rows.len() as f64
    }
}

impl fmt::Display for LiveComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "seed  policy          copies  shown  requests  to lists  published  found  after, s"
        )?;
        for row in &self.rows {
            for (name, result) in [
                (self.policy.as_str(), &row.policy),
                (BASELINE, &row.uniform),
            ] {
                let (freshness, new) = (&result.freshness, &result.publication);
                writeln!(
                    f,
                    "{:>4}  {name:<14}  {:>6.3}  {:>5.3}  {:>8}  {:>8}  {:>9}  {:>5}  {:>8.1}",
                    row.seed,
                    freshness.copies,
                    freshness.shown,
                    result.requests,
                    result.fetches.lists,
                    new.published,
                    new.found,
                    new.mean_delay.unwrap_or(f64::NAN)
                )?;
            }
        }
        writeln!(
            f,
            "{} to {BASELINE}, mean of the ratios: copies {:.3}, shown {:.3}",
            self.policy,
            self.mean_ratio(|result| result.freshness.copies),
            self.mean_ratio(|result| result.freshness.shown)
        )
    }
}
