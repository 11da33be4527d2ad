//! Arguments of `bench gate`, and of the processes that it starts.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Whether to accept what grew.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench gate
  cargo xtask bench gate --accept \"links keep their tag path\"

Counts the instructions of six fixed workloads under callgrind and compares them with crates/bench/gate.toml. Ends with
1 if one grew by more than 3 %. --accept writes the counts that differ by more than 3 % into that file, with the reason
and the date; commit the file together with the change that it is about.")]
pub struct Gate {
    /// Write the new counts into crates/bench/gate.toml, for this reason
    #[arg(long, value_name = "REASON", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub accept: Option<String>,
}

/// A workload. Its size is part of its name: another size is another workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Workload {
    /// Links, text, sections, fields and language of 300 HTML pages of 26 KB.
    #[value(name = "read-300-pages")]
    Read,
    /// Links of 1,334 pages through scope and roll to frontier and policy, one in five of them new.
    #[value(name = "discover-100000-links")]
    Discover,
    /// 1,000 answered pages into archive and ledger, in groups of 20.
    #[value(name = "commit-1000-pages")]
    Commit,
    /// 9,550 pages claimed and settled in a crawl, and 450 under a budget, where a decision takes more.
    #[value(name = "decide-10000-times")]
    Decide,
    /// 1,000 pages into the index, with four commits.
    #[value(name = "put-1000-pages")]
    Put,
    /// 300 searches of one to three words on such an index.
    #[value(name = "search-300-times")]
    Search,
}

/// One workload of `gate`.
#[derive(Debug, Args)]
pub struct GateWorkload {
    /// The workload.
    pub workload: Workload,
    /// A directory that exists and is empty; that of `search-300-times` has an index.
    pub place: PathBuf,
    /// Whether to end before the work.
    #[arg(long)]
    pub only_set_up: bool,
}
