//! How many instructions does a program take?
//!
//! **Invariant:** counted by callgrind, in user mode and on all threads: what others do on this machine does not change it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::child;

/// Whether they can be counted here; says so if not.
pub fn can_count() -> bool {
    let can = Command::new("valgrind").arg("--version").output().is_ok();
    if !can {
        eprintln!("instructions are not counted: valgrind is not installed");
    }
    can
}

/// Runs a program to its end and counts. What it says on standard error goes to a file.
pub fn count(command: &Command, errors: &Path) -> Result<u64> {
    let mut counting = Command::new("valgrind");
    counting
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(command.get_program())
        .args(command.get_args());
    child::run(&mut counting, errors)?;
    let said = fs::read_to_string(errors)?;
    let line = said
        .lines()
        .find_map(|line| line.split_once("Collected : "));
    let (_, number) = line.context("callgrind named no number of instructions")?;
    Ok(number.trim().parse()?)
}
