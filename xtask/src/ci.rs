//! Does this change pass?
//!
//! **Invariant:** the first check that fails ends the run, and the quick ones come first. Nothing is
//! built in the release profile, and nothing twice but what clippy, the gate and the tests cannot share.

use std::process::Command;
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
/// nextest runs no examples in documentation; their libraries are built as for the tests.
const DOC_TESTS: &[&str] = &["test", "--workspace", "--doc", "--quiet"];
/// The README's test command, to the letter.
const TESTS: &[&str] = &["nextest", "run", "--workspace"];

/// Runs the checks.
pub fn run(wishes: &Ci) -> Result<()> {
    cargo(FORMAT)?;
    eprintln!("$ cargo xtask tidy");
    tidy::run()?;
    cargo(CLIPPY)?;
    cargo(DOC_TESTS)?;
    gate()?;
    if !wishes.without_tests {
        cargo(TESTS)?;
    }
    Ok(())
}

/// Compares instruction counts with the accepted ones.
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
    let status = Command::new(crate::cargo())
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
