//! The command line of `cargo xtask`.

mod torture;

use std::ffi::OsString;

use clap::{Args, Parser, Subcommand};

pub use torture::{Scenario, Torture};

/// Development tasks of this workspace
#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    after_help = "\
Example:
  cargo xtask ci
  cargo xtask bench crawl --site /usr/share/doc/python3/html
  cargo xtask bench frontier --urls 1000000
  cargo xtask bench servers --runs 3 --out docs/figures"
)]
pub struct XtaskArguments {
    /// The task to run.
    #[command(subcommand)]
    pub task: Task,
}

/// A development task.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// Run every check that a change must pass
    Ci(Ci),
    /// Check the rules that neither the compiler nor clippy knows
    #[command(after_help = "Example:\n  cargo xtask tidy")]
    Tidy,
    /// Run the torture tests: kills, damaged files, power cuts, failing writes, wrong clocks
    Torture(Torture),
    /// Build the benchmarks (`crates/bench`) with optimisations and run one
    #[command(disable_help_flag = true)]
    Bench(BenchTask),
}

/// Options of the checks.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask ci
  cargo xtask ci --until-built   # what .ci/run calls first")]
pub struct Ci {
    /// Stop when the tests are built: skip the gate and the tests
    #[arg(long)]
    pub until_built: bool,
}

/// The benchmark to run, with its arguments.
#[derive(Debug, Args)]
pub struct BenchTask {
    /// Arguments of the benchmark program; `--help` lists its benchmarks
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}
