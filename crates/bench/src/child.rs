//! Runs a program as a child process, and measures its wall time, CPU time and memory.
//!
//! A *part* is this program again, started by a benchmark for one measurement. Its options and its
//! result are JSON.
//!
//! **Invariant:** CPU time and memory are those that the kernel charged to this one process
//! (`wait4`). Other load of the machine is not included.

use std::env;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wait4::Wait4;

/// The output and the cost of a process that ended with success.
#[derive(Debug)]
pub struct EndedProcess {
    /// The standard output.
    pub output: String,
    /// Wall time from start to end.
    pub wall: Duration,
    /// CPU time in user and system mode, on all cores.
    pub cpu: Duration,
    /// Peak resident memory, in bytes.
    pub peak: u64,
}

/// Runs a program to its end. Its standard error goes to a file, and into the error if it fails.
pub fn run(command: &mut Command, errors: &Path) -> Result<EndedProcess> {
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
            .with_context(|| format!("cannot read the output of {name}"))?;
    }
    let used = child
        .wait4()
        .with_context(|| format!("cannot wait for {name}"))?;
    let wall = began.elapsed();
    if !used.status.success() {
        let message = std::fs::read_to_string(errors).unwrap_or_default();
        bail!("{name} ended with {}:\n{message}", used.status);
    }
    let cpu = used.rusage.utime + used.rusage.stime;
    Ok(EndedProcess {
        output,
        wall,
        cpu,
        peak: used.rusage.maxrss,
    })
}

/// Returns the command that starts a part with its options.
pub fn part(name: &str, options: &impl Serialize) -> Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    command.args(["part", name, &serde_json::to_string(options)?]);
    Ok(command)
}

/// Runs a part to its end. Returns its result, and its cost.
pub fn measure<T: DeserializeOwned>(
    name: &str,
    options: &impl Serialize,
    place: &Path,
) -> Result<(T, EndedProcess)> {
    let ended = run(&mut part(name, options)?, &place.join("errors.txt"))?;
    let result = serde_json::from_str(&ended.output);
    let result = result.with_context(|| format!("cannot parse the output of {name}"))?;
    Ok((result, ended))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<EndedProcess> {
        let place = tempfile::tempdir()?;
        run(
            Command::new("sh").args(["-c", script]),
            &place.path().join("errors"),
        )
    }

    #[test]
    fn cpu_time_grows_with_work_and_memory_is_in_bytes() {
        let idle = shell("echo done").unwrap();
        let busy = shell("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done").unwrap();
        assert_eq!(idle.output, "done\n");
        assert!(busy.cpu > idle.cpu, "{busy:?} {idle:?}");
        // The memory of a shell is within these bounds if the unit is bytes.
        assert!((100_000..100_000_000).contains(&idle.peak), "{idle:?}");
    }

    #[test]
    fn the_error_of_a_failed_program_has_its_standard_error_and_status() {
        let error = shell("echo broken >&2; exit 3").unwrap_err().to_string();
        assert!(error.contains("broken") && error.contains('3'), "{error}");
    }
}
