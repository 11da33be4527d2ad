//! Builds the benchmarks (`crates/bench`) and runs one.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

use anyhow::{Context, Result, ensure};

/// Builds the benchmarks, runs the one that the arguments name, and returns its exit status.
///
/// The gate runs in the profile of the tests, because CI builds that one anyway. All other
/// benchmarks are built in the release profile. A benchmark that fails prints the reason itself.
pub fn run(arguments: &[OsString]) -> Result<ExitStatus> {
    if arguments.first().is_some_and(|name| name == "gate") {
        let program = build_gate()?;
        let status = Command::new(program).args(arguments).status();
        return status.context("cannot run the gate");
    }
    crate::cargo()
        .args(["run", "--quiet", "--package", "bench", "--release", "--"])
        .args(arguments)
        .status()
        .context("cannot run cargo")
}

/// Builds the gate and returns the path of its program.
///
/// An incremental build depends on earlier builds, and so would the instruction counts. Where
/// incremental builds are off, as in CI, the gate is part of the build that the tests use.
/// Elsewhere it has a target directory of its own, so that it does not undo the incremental build.
fn build_gate() -> Result<PathBuf> {
    let is_shared = env::var_os("CARGO_INCREMENTAL").is_some_and(|value| value == "0");
    let usual = env::var_os("CARGO_TARGET_DIR").map_or_else(
        || crate::workspace().join("target"),
        |directory| crate::workspace().join(directory),
    );
    let target = if is_shared { usual } else { usual.join("gate") };
    // With the same packages and targets as the tests, cargo chooses the same features.
    let what: &[&str] = if is_shared {
        &["--bins", "--tests"]
    } else {
        &["--bin", "bench"]
    };
    let status = crate::cargo()
        .args(["build", "--quiet", "--workspace"])
        .args(what)
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_TARGET_DIR", &target)
        .current_dir(crate::workspace())
        .status()
        .context("cannot run cargo")?;
    ensure!(status.success(), "the gate cannot be built");
    Ok(target.join("debug/bench"))
}
