//! `cargo xtask ci`: runs every check that a change must pass.
//!
//! The quick checks come first, and the first check that fails ends the run. Nothing is built in
//! the release profile. Doc tests, gate and tests share one build; clippy cannot use it.

use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use crate::cli::Ci;
use crate::{bench, tidy};

const FORMAT: &[&str] = &["fmt", "--all", "--check"];
const CLIPPY: &[&str] = &[
    "clippy",
    "--workspace",
    "--all-targets",
    "--",
    "-D",
    "warnings",
];
/// With the flags of the tests, so that they find everything built.
const BUILD: &[&str] = &["nextest", "run", "--workspace", "--no-run"];
/// nextest does not run the examples in doc comments, so `cargo test` does.
const DOC_TESTS: &[&str] = &["test", "--workspace", "--doc", "--quiet"];
/// The test command that README.md gives.
const TESTS: &[&str] = &["nextest", "run", "--workspace"];

/// Runs the checks and returns the first failure.
pub fn run(options: &Ci) -> Result<()> {
    cargo(FORMAT)?;
    eprintln!("$ cargo xtask tidy");
    tidy::run()?;
    cargo(CLIPPY)?;
    cargo(BUILD)?;
    cargo(DOC_TESTS)?;
    if options.until_built {
        return Ok(());
    }
    gate()?;
    cargo(TESTS)
}

/// Compares the instruction counts of the gate's workloads with the accepted ones.
fn gate() -> Result<()> {
    eprintln!("$ cargo xtask bench gate");
    let began = Instant::now();
    let status = bench::run(&["gate".into()])?;
    ensure!(
        status.success(),
        "cargo xtask bench gate ended with {status}"
    );
    eprintln!("  passed in {:.0} s", began.elapsed().as_secs_f64());
    Ok(())
}

fn cargo(arguments: &[&str]) -> Result<()> {
    let command = format!("cargo {}", arguments.join(" "));
    eprintln!("$ {command}");
    let began = Instant::now();
    let status = crate::cargo()
        .args(arguments)
        .current_dir(crate::workspace())
        .status()
        .with_context(|| format!("cannot run {command}"))?;
    if !status.success() {
        bail!("{command} ended with {status}");
    }
    eprintln!("  passed in {:.0} s", began.elapsed().as_secs_f64());
    Ok(())
}
