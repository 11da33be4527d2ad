//! What can be asked of `bench sources`, and of the processes that it starts?

use clap::Args;

/// How many sources, or how long a live run.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench sources
  cargo xtask bench sources --sources 100000 --policy echo-newpages
  cargo xtask bench sources --live --seconds 900

Without --live: what a plan for so many content sources costs, when every source has new clicks and when none has; and the
choice of the next poll among them. Each size in a process of its own, on one core.
With --live: a press on loopback publishes four days of articles while the program itself runs, once by bfs and once by the
policy, side by side and at the same budget. Reported is how long after its publication an article is found by search.")]
pub struct Sources {
    /// Sources that are known (repeatable) [default: 10000 and 100000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(100..=2_000_000))]
    pub sources: Vec<u32>,
    /// Polls whose choice is timed
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub decisions: u32,
    /// The scheduler
    #[arg(long, value_name = "POLICY", default_value = "priced")]
    pub policy: String,
    /// Run the program on sources that publish
    #[arg(long)]
    pub live: bool,
    /// Seconds in which the four days of a live run pass
    #[arg(long, value_name = "N", default_value_t = 900, value_parser = clap::value_parser!(u32).range(30..=86_400))]
    pub seconds: u32,
    /// The seed of a live run's world
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub seed: u64,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// Plan for, and choose among, so many sources, once.
#[derive(Debug, Args)]
pub struct SourcesCell {
    /// Sources that are known.
    pub sources: u32,
    /// Polls whose choice is timed.
    pub decisions: u32,
    /// The scheduler.
    pub policy: String,
}
