//! `cargo xtask`: the development tasks of this workspace.
//!
//! [`ci`] runs every check. [`tidy`] checks the rules that the compiler does not know. [`torture`]
//! runs the torture tests for a given time. [`bench`] builds and starts the benchmarks.
//!
//! **Invariant:** this crate depends on no other crate of the workspace. So it builds in seconds,
//! and works while other crates do not compile.

mod bench;
mod ci;
mod cli;
mod tidy;
mod torture;

use std::env;
use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};

use clap::Parser;
use cli::{Task, XtaskArguments};

fn main() -> ExitCode {
    let done = match XtaskArguments::parse().task {
        Task::Ci(options) => ci::run(&options).map(|()| ExitCode::SUCCESS),
        Task::Tidy => tidy::run().map(|()| ExitCode::SUCCESS),
        Task::Torture(options) => torture::run(&options).map(|()| ExitCode::SUCCESS),
        Task::Bench(options) => bench::run(&options.arguments).map(exit_code),
    };
    done.unwrap_or_else(|error| {
        eprintln!("xtask: {error:#}");
        ExitCode::FAILURE
    })
}

/// Returns the exit code of a child process, to be passed on.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Returns the cargo that started this program, or the one on the `PATH`.
fn cargo() -> PathBuf {
    env::var_os("CARGO")
        .unwrap_or_else(|| "cargo".into())
        .into()
}

/// Returns the root directory of the workspace that this program was built from.
fn workspace() -> PathBuf {
    let mut path = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    path.pop();
    path
}
