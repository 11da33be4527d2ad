//! What can be asked of `bench order`, and of the processes that it starts?

use clap::Args;

/// What to choose by, and among how much.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench order --urls 1000000 --servers 1,1000,100000 --order pagerank --order opic
  cargo xtask bench order --strategy quality

All orderings with the default strategy and all strategies with the default ordering, unless some are named.
Twenty million URLs need 2 GB of memory and a minute each.")]
pub struct Order {
    /// URLs queued
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [1_000_000, 10_000_000, 20_000_000],
        value_parser = clap::value_parser!(u64).range(1000..=1_000_000_000))]
    pub urls: Vec<u64>,
    /// Servers they are on; the n-th has about 1/n of what the first has
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [1, 1000, 100_000],
        value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub servers: Vec<u64>,
    /// Only this ordering, with the default strategy (repeatable)
    #[arg(long, value_name = "ORDER")]
    pub order: Vec<String>,
    /// Only this strategy, with the default ordering (repeatable)
    #[arg(long, value_name = "STRATEGY")]
    pub strategy: Vec<String>,
    /// Pages that orderings by links are kept up to date over
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1000..=1_000_000_000))]
    pub pages: u64,
    /// Print one JSON document instead of the tables
    #[arg(long)]
    pub json: bool,
}

/// One row of `order`.
#[derive(Debug, Args)]
pub struct OrderCell {
    /// The ordering.
    pub order: String,
    /// The server strategy.
    pub strategy: String,
    /// URLs queued.
    pub urls: u64,
    /// Servers they are on.
    pub servers: u64,
}

/// One row of the second table of `order`.
#[derive(Debug, Args)]
pub struct OrderUpkeep {
    /// The ordering.
    pub order: String,
    /// Pages of the web.
    pub pages: u64,
}
