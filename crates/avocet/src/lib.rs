//! Avocet: a web crawler and search repository that spends every fetch where it pays most.
//!
//! The program: command line and output. [`node`] crawls, [`server`] serves.

#[macro_use]
mod output;

mod cli;
mod command;
mod logs;
mod progress;
mod signal;

use std::process::ExitCode;

use clap::Parser;
use node::panics;
use node::settings::Usage;

/// Runs the command line of this process. Returns its exit code.
pub fn main() -> ExitCode {
    let arguments = cli::Arguments::parse();
    if let Err(wrong) = logs::start(arguments.log_format, arguments.log_level.as_deref()) {
        eprintln!("avocet: {wrong}");
        return ExitCode::from(2);
    }
    panics::install(logs::is_json());
    signal::ignore_file_size_limit();
    match panics::seen(|| command::run(arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("avocet: {error:#}");
            ExitCode::from(if is_wrong_usage(&error) { 2 } else { 1 })
        }
    }
}

/// Whether the user asked for a policy or a world that there is not: wrong usage, like a flag that there is
/// not, which clap answers with 2 as well.
fn is_wrong_usage(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let wish = cause.downcast_ref::<lab::LabError>();
        wish.is_some_and(lab::LabError::is_wrong_usage)
            || cause.is::<policy::CatalogError>()
            || cause.is::<policy::query::QueryError>()
            || cause.is::<Usage>()
    })
}

/// Whether whoever read our output has read enough, as `head` does.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
