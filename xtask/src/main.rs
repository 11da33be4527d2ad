//! `cargo xtask`: the tools of this workspace, in the language of this workspace.

use std::env;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use clap::Parser;
use xtask::cli::{Arguments, Task};
use xtask::{ci, tidy, torture};

fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Ci(wishes) => ci::run(&wishes),
        Task::Tidy => tidy::run(),
        Task::Torture(wishes) => torture::run(&wishes),
        Task::Bench(_) => bench(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Builds the benchmarks optimised and hands them the same arguments, which are known to be right.
fn bench() -> Result<()> {
    let status = Command::new(xtask::cargo())
        .args([
            "run",
            "--quiet",
            "--release",
            "--package",
            "xtask",
            "--example",
            "bench",
            "--",
        ])
        .args(env::args_os().skip(2))
        .status()
        .context("cannot run cargo")?;
    if !status.success() {
        bail!("the benchmark ended with {status}");
    }
    Ok(())
}
