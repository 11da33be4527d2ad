//! Options of `bench order`, and of the processes that it starts.

use clap::Args;

/// Options of `bench order`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench order --urls 1000000 --servers 1,1000,100000 --order pagerank --order opic
  cargo xtask bench order --strategy quality

Measures all orderings with the default strategy and all strategies with the default ordering, unless some are named.
Each row with twenty million URLs needs 2 GB of memory and a minute.")]
pub struct OrderOptions {
    /// URLs in the frontier
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [1_000_000, 10_000_000, 20_000_000],
        value_parser = clap::value_parser!(u64).range(1000..=1_000_000_000))]
    pub urls: Vec<u64>,
    /// Servers that hold them; the n-th has about 1/n of the pages of the first
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [1, 1000, 100_000],
        value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub servers: Vec<u64>,
    /// Only this ordering, with the default strategy (repeatable)
    #[arg(long, value_name = "ORDER")]
    pub order: Vec<String>,
    /// Only this strategy, with the default ordering (repeatable)
    #[arg(long, value_name = "STRATEGY")]
    pub strategy: Vec<String>,
    /// Pages of the web on which the upkeep of orderings by links is measured
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1000..=1_000_000_000))]
    pub pages: u64,
    /// Print one JSON document instead of the tables
    #[arg(long)]
    pub json: bool,
}

/// Options of `bench order-cell`: one row of `order`.
#[derive(Debug, Args)]
pub struct OrderCell {
    /// The ordering.
    pub order: String,
    /// The server strategy.
    pub strategy: String,
    /// URLs in the frontier.
    pub urls: u64,
    /// Servers that hold them.
    pub servers: u64,
}

/// Options of `bench order-upkeep`: one row of the second table of `order`.
#[derive(Debug, Args)]
pub struct OrderUpkeep {
    /// The ordering.
    pub order: String,
    /// Pages of the web.
    pub pages: u64,
}
