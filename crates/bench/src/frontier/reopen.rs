//! How long does a crawl of this size take to go on?
//!
//! In a process of its own, which has used no memory yet: what it has in the end is what a crawl needs
//! for so many URLs. The files are in the page cache, as after a crash of the program; after one of
//! the machine the disk has to read them first.

use std::env;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};
use frontier::{Known, Said};
use ledger::Ledger;
use policy::Moment;
use serde::{Deserialize, Serialize};

use super::driver::frontier;
use crate::child;
use crate::machine::resident;

/// What a reopened frontier knows, and what that cost.
#[derive(Debug, Serialize, Deserialize)]
pub struct Reopened {
    /// From nothing to the first claim.
    pub seconds: f64,
    /// Memory in use for it, in bytes.
    pub memory: u64,
    /// URLs known.
    pub known: u64,
    /// Of these, how many wait.
    pub waiting: u64,
}

/// Reopens in a new process.
pub fn measure(ledger: &Path, place: &Path) -> Result<Reopened> {
    let mut command = Command::new(env::current_exe()?);
    let ended = child::run(command.arg("reopen").arg(ledger), &place.join("errors.txt"))?;
    serde_json::from_str(&ended.output).context("cannot read what the new process prints")
}

/// Reopens here, and prints what it cost.
pub fn run(path: &Path) -> Result<()> {
    let mut frontier = frontier();
    let before = resident();
    let began = Instant::now();
    let ledger = Ledger::open(path)?;
    // Later than all that is in there, so that everything that waits is due.
    let now = Moment::from_micros(u64::MAX / 2);
    // A run goes on with what was never asked for.
    let wanted = |known: &Known| known.visited.is_none();
    frontier.recall(&ledger, wanted, |_, tell| tell(Said::default()), now)?;
    let seconds = began.elapsed().as_secs_f64();
    let reopened = Reopened {
        seconds,
        memory: resident().saturating_sub(before),
        known: frontier.known() as u64,
        waiting: frontier.bench.waiting() as u64,
    };
    println!("{}", serde_json::to_string(&reopened)?);
    Ok(())
}
