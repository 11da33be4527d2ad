//! Options of `bench gate`, and of the processes that it starts.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Options of `bench gate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench gate
  cargo xtask bench gate --accept \"links keep their tag path\"

Counts the instructions of six fixed workloads under callgrind and compares them with crates/bench/gate.toml. Exits
with status 1 if a count grew by more than 3 %. --accept writes the counts that differ by more than 3 % into that file,
with the reason and the date; commit the file together with the change that caused it.")]
pub struct GateOptions {
    /// Write the new counts to crates/bench/gate.toml, with this reason
    #[arg(long, value_name = "REASON", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub accept: Option<String>,
}

/// A workload. Its size is part of its name, since counts of different sizes cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WorkloadName {
    /// Parse 300 HTML pages of 26 kB: links, text, sections, fields and language.
    #[value(name = "read-300-pages")]
    Read,
    /// Admit the links of 1,334 pages, one in five of them new: scope, frontier, policy.
    #[value(name = "discover-100000-links")]
    Discover,
    /// Commit 1,000 fetched pages to archive and ledger, in groups of 20.
    #[value(name = "commit-1000-pages")]
    Commit,
    /// Claim and settle 9,550 pages in a crawl, and 450 under a budget, where a decision costs
    /// more.
    #[value(name = "decide-10000-times")]
    Decide,
    /// Put 1,000 pages into the index, with four commits.
    #[value(name = "put-1000-pages")]
    Put,
    /// Search such an index 300 times, for one to three words.
    #[value(name = "search-300-times")]
    Search,
}

/// Options of `bench gate-workload`.
#[derive(Debug, Args)]
pub struct GateWorkload {
    /// The workload.
    pub workload: WorkloadName,
    /// An empty directory; for `search-300-times`, one with an index.
    pub place: PathBuf,
    /// Whether to stop after the set-up.
    #[arg(long)]
    pub only_set_up: bool,
}
