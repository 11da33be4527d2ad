//! The command line of `cargo xtask`.

mod torture;

use std::ffi::OsString;

use clap::{Args, Parser, Subcommand};

pub use torture::{Scenario, Torture};

/// The tools of this workspace
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
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub task: Task,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// Run every check that a change must pass
    Ci(Ci),
    /// Check the rules of the house that no compiler knows
    #[command(after_help = "Example:\n  cargo xtask tidy")]
    Tidy,
    /// Kill, damage, cut the power of, and lie about the time to the program, for as long as wanted
    Torture(Torture),
    /// Build the benchmarks (`crates/bench`) optimised and run one
    #[command(disable_help_flag = true)]
    Bench(Bench),
}

/// Which checks.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask ci
  cargo xtask ci --without-tests   # what .ci/run calls before `cargo nextest run --workspace`")]
pub struct Ci {
    /// All but `cargo nextest run --workspace`
    #[arg(long)]
    pub without_tests: bool,
}

/// Which benchmark, with its arguments.
#[derive(Debug, Args)]
pub struct Bench {
    /// The command line of the benchmarks; `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}
