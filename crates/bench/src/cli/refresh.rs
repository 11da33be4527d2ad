//! Options of `bench refresh`, and of the processes that it starts.

use clap::Args;

/// Options of `bench refresh`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench refresh
  cargo xtask bench refresh --pages 1000000 --policy freshness

A frontier under a budget knows the given number of pages, each visited before. The benchmark times the choice of the
next page, and the computation of the next due time of the fetched page. Each size runs in its own process, on one core.")]
pub struct RefreshOptions {
    /// Known pages (repeatable) [default: 1000000 and 10000000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1000..=50_000_000))]
    pub pages: Vec<u32>,
    /// Decisions to time
    #[arg(long, value_name = "N", default_value_t = 500_000)]
    pub decisions: u32,
    /// The refresh policy
    #[arg(long, value_name = "POLICY", default_value = "holistic")]
    pub policy: String,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// Options of `bench refresh-cell`: one row of `refresh`.
#[derive(Debug, Args)]
pub struct RefreshCell {
    /// Known pages.
    pub pages: u32,
    /// Decisions to time.
    pub decisions: u32,
    /// The refresh policy.
    pub policy: String,
}
