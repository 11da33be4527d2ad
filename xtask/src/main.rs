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
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus};

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

/// Returns a call of cargo without the variables that `cargo xtask` has for its own package.
///
/// Build scripts such as that of ring run again when these variables change, so the same build
/// without `cargo xtask` would compile them and all that uses them a second time.
fn cargo() -> Command {
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    let names = env::vars_os().map(|(name, _)| name);
    let own = |name: &OsString| {
        let name = name.to_string_lossy();
        name.starts_with("CARGO_MANIFEST_") || name.starts_with("CARGO_PKG_")
    };
    names.filter(own).for_each(|name| {
        command.env_remove(name);
    });
    command
}

/// Returns the root directory of the workspace that this program was built from.
fn workspace() -> PathBuf {
    let mut path = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    path.pop();
    path
}
