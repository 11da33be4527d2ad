//! `cargo xtask`: runs every check ([`ci`]), checks the rules that no compiler knows ([`tidy`]), runs the
//! torture tests for as long as wanted ([`torture`]) and starts the benchmarks ([`bench`]).
//!
//! **Invariant:** nothing here depends on a crate that it checks, so it builds in seconds and works
//! when they do not build.

mod bench;
mod ci;
mod cli;
mod tidy;
mod torture;

use std::env;
use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};

use clap::Parser;
use cli::{Arguments, Task};

fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Ci(wishes) => ci::run(&wishes).map(|()| ExitCode::SUCCESS),
        Task::Tidy => tidy::run().map(|()| ExitCode::SUCCESS),
        Task::Torture(wishes) => torture::run(&wishes).map(|()| ExitCode::SUCCESS),
        Task::Bench(wishes) => bench::run(&wishes.arguments).map(exit_code),
    };
    done.unwrap_or_else(|error| {
        eprintln!("xtask: {error:#}");
        ExitCode::FAILURE
    })
}

/// The exit code of a program that this one stands for.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}

/// The cargo that runs this program, or the one on the path.
fn cargo() -> PathBuf {
    env::var_os("CARGO")
        .unwrap_or_else(|| "cargo".into())
        .into()
}

/// The directory of the workspace that this program was built from.
fn workspace() -> PathBuf {
    let mut path = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    path.pop();
    path
}
