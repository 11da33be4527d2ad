//! Builds the benchmarks (`crates/bench`) and runs one.

use std::ffi::OsString;
use std::process::{Command, ExitStatus};

use anyhow::{Context, Result};

/// Runs the benchmark that the arguments name, in release; the gate in a profile of its own, since
/// CI builds it too. Returns how it ended; it has said why it failed.
pub fn run(arguments: &[OsString]) -> Result<ExitStatus> {
    let is_gate = arguments.first().is_some_and(|name| name == "gate");
    let mut command = Command::new(crate::cargo());
    command.args(["run", "--quiet", "--package", "bench", "--profile"]);
    if is_gate {
        // An incremental build divides crates into units by what was built before.
        command.arg("gate").env("CARGO_INCREMENTAL", "0");
    } else {
        command.arg("release");
    }
    command
        .arg("--")
        .args(arguments)
        .status()
        .context("cannot run cargo")
}
