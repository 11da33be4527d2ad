//! Options of `bench measure`, and of the processes that it starts.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Options of `bench measure`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench measure
  cargo xtask bench measure --world invented:corpus --refreshes 3000

Puts pages into an index, then their later texts, with and without measuring what each refresh is worth to searchers.
The runs alternate in one process; CPU time is that of all its threads, with merges of the index. If valgrind is
installed, instructions are counted as well, in separate processes.")]
pub struct MeasureOptions {
    /// A recorded history with bodies, or invented:corpus [default: ../shared/data/telegram-web
    /// if it exists]
    #[arg(long, value_name = "WORLD")]
    pub world: Option<String>,
    /// A directory with queries.tsv [default: those of the world, or ../shared/data/queries]
    #[arg(long, value_name = "DIR")]
    pub queries: Option<PathBuf>,
    /// Changed texts to index
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = clap::value_parser!(u32).range(10..=10_000_000))]
    pub refreshes: u32,
    /// Texts per commit
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    pub group: u32,
    /// Number of pairs of runs
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=100))]
    pub runs: u32,
    /// Changed texts whose instructions are counted; 0 counts none
    #[arg(long, value_name = "N", default_value_t = 2500)]
    pub counted: u32,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// Options of `bench measure-run`.
#[derive(Debug, Args)]
pub struct MeasureRun {
    /// The texts, as `measure` wrote them.
    pub texts: PathBuf,
    /// Which texts to index, and whether to measure.
    pub what: Indexing,
    /// Texts per commit.
    pub group: u32,
}

/// Which texts are indexed, and whether the refreshes are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Indexing {
    /// Only first copies, without measurement.
    First,
    /// All texts, without measurement.
    Plain,
    /// All texts, with measurement of the refreshes.
    Measured,
}
