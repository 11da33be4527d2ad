//! Measures how long a crawl of this size takes to restart.
//!
//! The measurement runs in a new process, so the memory of that process at the end is what a crawl
//! needs for these URLs. The files are in the page cache, as after a crash of the program. After a
//! crash of the machine they must be read from disk first.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use frontier::{Known, Said};
use ledger::Ledger;
use policy::Moment;
use serde::{Deserialize, Serialize};

use super::driver::frontier;
use crate::child;
use crate::machine::resident;

/// The content of a reopened frontier, and its cost.
#[derive(Debug, Serialize, Deserialize)]
pub struct Reopened {
    /// Seconds from the start until the frontier is ready for the first claim.
    pub seconds: f64,
    /// Memory of the frontier and the ledger, in bytes.
    pub memory: u64,
    /// URLs known.
    pub known: u64,
    /// URLs among them that wait for a fetch.
    pub waiting: u64,
}

/// Reopens a ledger in a new process.
pub fn measure(ledger: &Path, place: &Path) -> Result<Reopened> {
    Ok(child::measure("reopen", &ledger, place)?.0)
}

/// Reopens a ledger in this process, and prints the cost.
pub fn run(path: &Path) -> Result<()> {
    let mut frontier = frontier();
    let before = resident();
    let began = Instant::now();
    let ledger = Ledger::open(path)?;
    // Later than all entries of the ledger, so that every waiting page is due.
    let now = Moment::from_micros(u64::MAX / 2);
    // A restarted crawl continues with the pages that were never fetched.
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
