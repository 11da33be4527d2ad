//! Builds the benchmarks (`crates/bench`) and runs one.

use std::ffi::OsString;
use std::process::{Command, ExitStatus};

use anyhow::{Context, Result};

/// Builds the benchmarks, runs the one that the arguments name, and returns its exit status.
///
/// CI builds the gate in every run, so the gate has a cargo profile of its own, which builds faster
/// than the release profile. All other benchmarks are built in the release profile. A benchmark
/// that fails prints the reason itself.
pub fn run(arguments: &[OsString]) -> Result<ExitStatus> {
    let is_gate = arguments.first().is_some_and(|name| name == "gate");
    let mut command = Command::new(crate::cargo());
    command.args(["run", "--quiet", "--package", "bench", "--profile"]);
    if is_gate {
        // An incremental build depends on earlier builds, and so would the instruction counts.
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
