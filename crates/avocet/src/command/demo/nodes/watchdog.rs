//! Kills the processes of the demo if the demo itself is killed.
//!
//! A shell waits for the end of its input, a pipe that the demo holds open. The system closes the
//! pipe when the demo ends, whatever ends it.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

/// Waits for the end of the input, then kills the processes in the arguments.
const SCRIPT: &str = "cat > /dev/null; kill -KILL \"$@\" 2> /dev/null";

/// A process that outlives the demo, to end the others. Without need it is ended when dropped.
pub struct Watchdog(Child);

impl Watchdog {
    /// Watches over the processes with these numbers.
    pub fn over(processes: &[u32]) -> Result<Self> {
        let shell = Command::new("sh")
            .args(["-c", SCRIPT, "avocet-demo"])
            .args(processes.iter().map(u32::to_string))
            // Ctrl-C in a terminal must not end it before the others.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Ok(Self(shell.context("cannot start the shell `sh`")?))
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        // Before `wait`, which closes the pipe.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}
