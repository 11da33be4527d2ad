//! Options of `bench lab`, and of the processes that it starts.

use clap::Args;

/// Options of `bench lab`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench lab
  cargo xtask bench lab --order pagerank --order breadth-first --fetches 325000

Simulates crawls of an invented graph by every ordering, repeated until enough fetches are made, and a year of
refreshes of changing pages. Each runs in its own process, on one core.")]
pub struct LabOptions {
    /// Only this ordering (repeatable)
    #[arg(long, value_name = "ORDER")]
    pub order: Vec<String>,
    /// Fetches to simulate with each ordering
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub fetches: u64,
    /// Pages of the graph
    #[arg(long, value_name = "N", default_value_t = 325_000, value_parser = clap::value_parser!(u32).range(1000..=10_000_000))]
    pub pages: u32,
    /// Mean number of links per page
    #[arg(long, value_name = "N", default_value_t = 10.0)]
    pub links: f64,
    /// Pages to refresh for a year
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    pub refreshed: u32,
    /// Days between two visits to a page
    #[arg(long, value_name = "DAYS", default_value_t = 18, value_parser = clap::value_parser!(u32).range(1..=3650))]
    pub interval: u32,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// Options of `bench lab-ordering`.
#[derive(Debug, Args)]
pub struct LabOrdering {
    /// The ordering.
    pub order: String,
    /// Fetches to simulate.
    pub fetches: u64,
    /// Pages of the graph.
    pub pages: u32,
    /// Mean number of links per page.
    pub links: f64,
}

/// Options of `bench lab-refresh`.
#[derive(Debug, Args)]
pub struct LabRefresh {
    /// Pages to refresh for a year.
    pub pages: u32,
    /// Days between two visits to a page.
    pub interval: u32,
}
