//! Options of `bench frontier`, and of the process that it starts.

use std::path::PathBuf;

use clap::Args;

/// Options of `bench frontier`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench frontier --urls 20000000 --servers 100000

Needs about 200 MB of memory, plus 50 bytes of memory and 200 bytes of disk (under target/) per URL.")]
pub struct FrontierOptions {
    /// URLs known at the end
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1000..=1_000_000_000))]
    pub urls: u64,
    /// Servers that hold them; the n-th has about 1/n of the pages of the first
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub servers: u64,
    /// Claims to settle [default: one URL in twenty]
    #[arg(long, value_name = "N")]
    pub claims: Option<u64>,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// Options of `bench reopen`.
#[derive(Debug, Args)]
pub struct ReopenOptions {
    /// The directory of the ledger.
    pub ledger: PathBuf,
}
