//! Avocet: a web crawler and search repository that spends every fetch where it pays most.
//!
//! This crate is the program: command line and output. [`node`] crawls, [`server`] serves.

#[macro_use]
mod output;

mod archive_position;
mod cli;
mod command;
mod logs;
mod progress;
mod progress_bar;
mod signal;

use std::process::ExitCode;

use node::settings::Usage;
use node::{documents, panics};

/// Runs the command line of this process. Returns its exit code.
pub fn main() -> ExitCode {
    if let Some(code) = documents::child::run_if_asked() {
        return code;
    }
    node::memory::use_small_pages();
    let arguments = cli::CommandLine::read();
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

/// Returns whether an error is wrong usage, such as the name of an unknown policy or world.
///
/// Wrong usage ends with exit code 2, as clap does for an unknown flag.
fn is_wrong_usage(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let lab_error = cause.downcast_ref::<lab::LabError>();
        lab_error.is_some_and(lab::LabError::is_wrong_usage)
            || cause.is::<policy::CatalogError>()
            || cause.is::<policy::query::QueryError>()
            || cause.is::<Usage>()
            || cause.is::<fetch::ProxyError>()
            || cause.is::<toml::de::Error>()
    })
}

/// Returns whether the reader of our output has closed it, as `head` does after its last line.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
