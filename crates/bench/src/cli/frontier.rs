//! What can be asked of `bench frontier`, and of the process that it starts?

use std::path::PathBuf;

use clap::Args;

/// How large.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench frontier --urls 20000000 --servers 100000

Needs about 200 MB, and 50 bytes of memory and 200 of disk (under target/) for each URL, while it runs.")]
pub struct Frontier {
    /// URLs known in the end
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1000..=1_000_000_000))]
    pub urls: u64,
    /// Servers they are on; the n-th has about 1/n of what the first has
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub servers: u64,
    /// Claims to settle; by default one URL in twenty
    #[arg(long, value_name = "N")]
    pub claims: Option<u64>,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// What to open.
#[derive(Debug, Args)]
pub struct Reopen {
    /// The directory of the ledger.
    pub ledger: PathBuf,
}
