//! What can be asked of `bench refresh`, and of the processes that it starts?

use clap::Args;

/// How many pages, and by which policy.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench refresh
  cargo xtask bench refresh --pages 1000000 --policy freshness

A frontier under a budget that knows so many pages, each visited before; what is timed is the choice of the next page
and the appointment with the one that was fetched. Each size in a process of its own, on one core.")]
pub struct Refresh {
    /// Pages that are known (repeatable) [default: 1000000 and 10000000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1000..=50_000_000))]
    pub pages: Vec<u32>,
    /// Decisions that are timed
    #[arg(long, value_name = "N", default_value_t = 500_000)]
    pub decisions: u32,
    /// The refresh policy
    #[arg(long, value_name = "POLICY", default_value = "holistic")]
    pub policy: String,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// One size of `refresh`.
#[derive(Debug, Args)]
pub struct RefreshCell {
    /// Pages that are known.
    pub pages: u32,
    /// Decisions that are timed.
    pub decisions: u32,
    /// The refresh policy.
    pub policy: String,
}
