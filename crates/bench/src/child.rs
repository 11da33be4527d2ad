//! What did a program cost?
//!
//! **Invariant:** CPU time and memory are what the kernel charged that one process, from its start to
//! its end, read as it is waited for; nobody else's work is in them.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use wait4::Wait4;

/// A program that ended well.
#[derive(Debug)]
pub struct Ended {
    /// What it printed.
    pub output: String,
    /// From start to end.
    pub wall: Duration,
    /// In user and system mode, on all cores.
    pub cpu: Duration,
    /// The most memory it had at once, in bytes.
    pub peak: u64,
}

/// Runs a program to its end. What it says on standard error goes to a file, and is shown if it fails.
pub fn run(command: &mut Command, errors: &Path) -> Result<Ended> {
    let name = command.get_program().to_string_lossy().into_owned();
    let file =
        File::create(errors).with_context(|| format!("cannot write {}", errors.display()))?;
    let began = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(file)
        .spawn()
        .with_context(|| format!("cannot start {name}"))?;
    let mut output = String::new();
    if let Some(mut pipe) = child.stdout.take() {
        pipe.read_to_string(&mut output)
            .with_context(|| format!("cannot read what {name} prints"))?;
    }
    let used = child
        .wait4()
        .with_context(|| format!("cannot wait for {name}"))?;
    let wall = began.elapsed();
    if !used.status.success() {
        let said = std::fs::read_to_string(errors).unwrap_or_default();
        bail!("{name} ended with {}:\n{said}", used.status);
    }
    let cpu = used.rusage.utime + used.rusage.stime;
    Ok(Ended {
        output,
        wall,
        cpu,
        peak: used.rusage.maxrss,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<Ended> {
        let place = tempfile::tempdir()?;
        run(
            Command::new("sh").args(["-c", script]),
            &place.path().join("errors"),
        )
    }

    #[test]
    fn a_program_is_charged_for_its_own_work_only() {
        let idle = shell("echo done").unwrap();
        let busy = shell("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done").unwrap();
        assert_eq!(idle.output, "done\n");
        assert!(busy.cpu > idle.cpu, "{busy:?} {idle:?}");
        // A shell fits between these, in whatever unit the kernel counts.
        assert!((100_000..100_000_000).contains(&idle.peak), "{idle:?}");
    }

    #[test]
    fn a_program_that_fails_is_quoted() {
        let error = shell("echo broken >&2; exit 3").unwrap_err().to_string();
        assert!(error.contains("broken") && error.contains('3'), "{error}");
    }
}
