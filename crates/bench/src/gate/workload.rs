//! The workloads of the gate.
//!
//! **Invariant:** each run executes nearly the same instructions. Pages, URLs and queries are
//! functions of their number. No workload reads a clock or waits for another process. Threads are
//! those of the production code: of the index writer and of the ledger.

mod committing;
mod deciding;
mod discovery;
mod document;
mod indexing;
mod reading;

use std::fmt;
use std::path::Path;

use anyhow::Result;
use clap::ValueEnum;

use crate::cli::WorkloadName;

impl WorkloadName {
    /// Prepares the directory of the workload; not counted.
    pub fn prepare(self, place: &Path) -> Result<()> {
        match self {
            Self::Search => indexing::make_index(place),
            _ => Ok(()),
        }
    }

    /// Runs the workload, or only its set-up.
    pub fn run(self, place: &Path, only_set_up: bool) -> Result<()> {
        match self {
            Self::Read => reading::read(only_set_up),
            Self::Discover => discovery::discover(only_set_up),
            Self::Commit => committing::commit(place, only_set_up),
            Self::Decide => deciding::decide(only_set_up),
            Self::Put => indexing::put(place, only_set_up),
            Self::Search => indexing::search(place, only_set_up),
        }
    }
}

impl fmt::Display for WorkloadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_possible_value() {
            Some(value) => f.write_str(value.get_name()),
            None => fmt::Debug::fmt(self, f),
        }
    }
}
