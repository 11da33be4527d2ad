//! Avocet: a web crawler and search repository that spends every fetch where it pays most.
//!
//! The program is a library so that the fuzz targets (`fuzz/`) can call its reader of `avocet.toml`. The
//! library has no API: [`main`] is what others may call, and the hidden items are for `fuzz/` alone.

#[macro_use]
mod output;

mod answer;
mod cli;
mod clock;
mod command;
mod config;
mod engine;
mod explain;
mod fault;
mod holdings;
mod live;
mod logs;
mod panics;
mod place;
mod planning;
mod polling;
mod progress;
mod ranking;
mod readable;
mod recover;
mod replay;
mod scope;
mod searchable;
mod serve;
mod signal;
mod sources;
mod stated;
mod store;
mod topic;
mod topical;
mod upkeep;
mod usage;
mod verdict;

use std::process::ExitCode;

use clap::Parser;

#[doc(hidden)]
pub use config::check::check as check_config;
#[doc(hidden)]
pub use live::wish::Wish;

/// Runs the command line of this process. Returns its exit code.
pub fn main() -> ExitCode {
    let arguments = cli::Arguments::parse();
    if let Err(wrong) = logs::start(arguments.log_format, arguments.log_level.as_deref()) {
        eprintln!("avocet: {wrong}");
        return ExitCode::from(2);
    }
    panics::install();
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
            || cause.is::<usage::Usage>()
    })
}

/// Whether whoever read our output has read enough, as `head` does.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
