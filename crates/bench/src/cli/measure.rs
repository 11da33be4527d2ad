//! What can be asked of `bench measure`, and of the processes that it starts?

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// What to index.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench measure
  cargo xtask bench measure --world invented:corpus --refreshes 3000

Pages are put into an index, then their later texts, with and without measuring what each was worth to searchers.
The runs alternate in one process; CPU time is that of all its threads, merging included. Where valgrind is
installed, instructions are counted too, in processes of their own.")]
pub struct Measure {
    /// A recorded history with bodies, or invented:corpus [default: ../shared/data/telegram-web if there]
    #[arg(long, value_name = "WORLD")]
    pub world: Option<String>,
    /// A directory with queries.tsv [default: those of the world, or ../shared/data/queries]
    #[arg(long, value_name = "DIR")]
    pub queries: Option<PathBuf>,
    /// Changed texts to put
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = clap::value_parser!(u32).range(10..=10_000_000))]
    pub refreshes: u32,
    /// Puts between two commits; a crawl commits its index after some seconds
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    pub group: u32,
    /// Pairs of runs
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=100))]
    pub runs: u32,
    /// Changed texts to count instructions over; 0: count none
    #[arg(long, value_name = "N", default_value_t = 2500)]
    pub counted: u32,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// One run of `measure`.
#[derive(Debug, Args)]
pub struct MeasureRun {
    /// The texts, as `measure` wrote them.
    pub texts: PathBuf,
    /// What to do with them.
    pub what: Indexing,
    /// Puts between two commits.
    pub group: u32,
}

/// What to do with texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Indexing {
    /// First copies only, nothing is measured.
    First,
    /// Everything, nothing is measured.
    Plain,
    /// Everything, and the refreshes are measured.
    Measured,
}
