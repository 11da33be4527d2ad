//! Counts the instructions of a program, by callgrind.
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

/// Runs a program to its end and counts. What it says on standard error goes to a file. It gets the
/// variables that the command names and no others: those of a shell are on its stack, and may change what it does.
pub fn count(command: &Command, errors: &Path) -> Result<u64> {
    let mut counting = Command::new("valgrind");
    counting
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear()
        .envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
    child::run(&mut counting, errors)?;
    collected(&fs::read_to_string(errors)?).context("callgrind named no number of instructions")
}

/// The number of instructions in what callgrind says at the end.
fn collected(said: &str) -> Option<u64> {
    let mut lines = said.lines().rev();
    let (_, number) = lines.find_map(|line| line.split_once("Collected : "))?;
    number.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_read_from_what_callgrind_says() {
        let said = "\
==4711== Callgrind, a call-graph generating cache profiler
==4711== Command: ./bench gate-workload read-300-pages
==4711==
the program says Collected : something
==4711==
==4711== Events    : Ir
==4711== Collected : 1234567890
==4711==
==4711== I   refs:      1,234,567,890
";
        assert_eq!(collected(said), Some(1_234_567_890));
        assert_eq!(
            collected("==4711== Collected : 12 34\n"),
            None,
            "another tool's events"
        );
        assert_eq!(collected("valgrind: no such file\n"), None);
    }
}
