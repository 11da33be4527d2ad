//! Counts the instructions of a program with callgrind.
//!
//! **Invariant:** the count covers user mode on all threads. Other load of the machine does not
//! change it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::child;

/// Returns whether valgrind is installed; prints a message if not.
pub fn can_count() -> bool {
    let can = Command::new("valgrind").arg("--version").output().is_ok();
    if !can {
        eprintln!("instructions are not counted: valgrind is not installed");
    }
    can
}

/// Runs a program to its end and returns its instruction count. Its standard error goes to a file.
///
/// The program gets only the environment variables that the command sets. Other variables would be
/// on its stack, and could change the count.
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
    collected(&fs::read_to_string(errors)?).context("callgrind printed no number of instructions")
}

/// Parses the number of instructions from the output of callgrind.
fn collected(output: &str) -> Option<u64> {
    let mut lines = output.lines().rev();
    let (_, number) = lines.find_map(|line| line.split_once("Collected : "))?;
    number.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_parsed_from_the_output_of_callgrind() {
        let output = "\
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
        assert_eq!(collected(output), Some(1_234_567_890));
        assert_eq!(
            collected("==4711== Collected : 12 34\n"),
            None,
            "another tool's events"
        );
        assert_eq!(collected("valgrind: no such file\n"), None);
    }
}
