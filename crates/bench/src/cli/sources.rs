//! Options of `bench sources`, and of the processes that it starts.

use clap::Args;

/// Options of `bench sources`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench sources
  cargo xtask bench sources --sources 100000 --policy echo-newpages
  cargo xtask bench sources --live --seconds 900

Without --live: times a plan for the given number of sources, once when every source has new clicks and once when none
has, and the choice of the next poll. Each size runs in its own process, on one core.
With --live: a server on loopback publishes four days of articles while `avocet run` crawls, once by bfs and once by the
policy, side by side and with the same budget. Reports the time from the publication of an article until search finds it.")]
pub struct SourcesOptions {
    /// Known sources (repeatable) [default: 10000 and 100000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(100..=2_000_000))]
    pub sources: Vec<u32>,
    /// Polls to time
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub decisions: u32,
    /// The scheduler
    #[arg(long, value_name = "POLICY", default_value = "priced")]
    pub policy: String,
    /// Run `avocet` on sources that publish
    #[arg(long)]
    pub live: bool,
    /// Seconds in which the four days of a live run are replayed
    #[arg(long, value_name = "N", default_value_t = 900, value_parser = clap::value_parser!(u32).range(30..=86_400))]
    pub seconds: u32,
    /// Seed of the world of a live run
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub seed: u64,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// Options of `bench sources-cell`: one row of `sources`.
#[derive(Debug, Args)]
pub struct SourcesCell {
    /// Known sources.
    pub sources: u32,
    /// Polls to time.
    pub decisions: u32,
    /// The scheduler.
    pub policy: String,
}
