//! `bench gate`: compares the instruction counts of eight workloads with `crates/bench/gate.toml`.
//!
//! A workload is a process under callgrind. It runs twice, once completely and once only its
//! set-up. The difference is the cost of the work, on all threads. Instruction counts do not
//! depend on other load of the machine. So a growth of more than 3 % is due to the code, or to
//! the compiler, whose version the file has.

mod baseline;
mod workload;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};

use crate::{child, instructions};
use baseline::{Baseline, Counts};
use workload::WORKLOADS;

/// Options of `bench gate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench gate
  cargo xtask bench gate --accept \"links keep their tag path\"

Counts the instructions of eight fixed workloads under callgrind and compares them with crates/bench/gate.toml. Exits
with status 1 if a count grew by more than 3 %, or if a workload is new or missing. --accept writes the counts that
differ by more than 3 % into that file, with the reason and the date; commit the file together with the change that
caused it.")]
pub struct GateOptions {
    /// Write the new counts to crates/bench/gate.toml, with this reason
    #[arg(long, value_name = "REASON", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub accept: Option<String>,
}

/// Counts instructions, and compares them with the accepted counts or accepts them.
pub fn run(options: &GateOptions, place: &Path) -> Result<()> {
    if !instructions::can_count() {
        // As with the browser tests, CI must not pass because a tool is missing.
        ensure!(
            env::var_os("CI").is_none(),
            "the gate needs valgrind in CI (the variable CI is set): install it"
        );
        eprintln!("the gate is skipped");
        return Ok(());
    }
    let rustc = rustc()?;
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/gate.toml"));
    let baseline = match fs::read_to_string(&file) {
        Ok(text) => Baseline::parse(&text).with_context(|| file.display().to_string())?,
        Err(_) if options.accept.is_some() => Baseline::default(),
        Err(error) => bail!("cannot read {}: {error}", file.display()),
    };
    let counts = count_all(place)?;
    let comparison = baseline.compare(&counts);
    print!("{comparison}");
    if let Some(reason) = &options.accept {
        let accepted = baseline.accept(&counts, rustc);
        let today = jiff::Zoned::now().date();
        fs::write(&file, accepted.text(&format!("{today}: {reason}")))
            .with_context(|| format!("cannot write {}", file.display()))?;
        println!("wrote {}", file.display());
        return Ok(());
    }
    if baseline.rustc != rustc {
        println!(
            "counted with {rustc}; the accepted counts are from {}",
            baseline.rustc
        );
    }
    ensure!(
        !comparison.fails(),
        "a count has grown, see the table; to accept it: cargo xtask bench gate --accept \"reason\""
    );
    Ok(())
}

/// One run of a workload.
#[derive(Debug, Serialize, Deserialize)]
pub struct WorkloadRun {
    workload: String,
    /// An empty directory; for `search-300-times`, one with an index.
    place: PathBuf,
    /// Whether to stop after the set-up.
    only_set_up: bool,
}

/// Runs a workload in this process.
pub fn run_workload(options: &WorkloadRun) -> Result<()> {
    let named = |(name, _): &&(&str, _)| *name == options.workload;
    let (_, work) = WORKLOADS.iter().find(named).context("no such workload")?;
    work(&options.place, options.only_set_up)
}

/// Returns the instructions of every workload without its set-up, on all cores at the same time.
fn count_all(place: &Path) -> Result<Counts> {
    let waiting = Mutex::new(WORKLOADS.iter());
    let counts = Mutex::new(Counts::new());
    let work = || -> Result<()> {
        loop {
            let next = waiting.lock().expect("no thread panics here").next();
            let Some((name, _)) = next else {
                return Ok(());
            };
            let count = count(name, place).with_context(|| name.to_string())?;
            let mut counts = counts.lock().expect("no thread panics here");
            counts.insert(name.to_string(), count);
        }
    };
    thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let mut results = threads.into_iter().map(|thread| thread.join());
        results.try_for_each(|result| result.expect("a thread does not panic"))
    })?;
    Ok(counts.into_inner().expect("all threads have ended"))
}

/// Returns the instructions of a workload without its set-up.
fn count(workload: &str, place: &Path) -> Result<u64> {
    let whole = count_run(workload, place, false)?;
    let set_up = count_run(workload, place, true)?;
    let difference = whole.checked_sub(set_up);
    difference.context("the set-up took more instructions than the whole run")
}

fn count_run(workload: &str, place: &Path, only_set_up: bool) -> Result<u64> {
    let own = place.join(workload);
    fs::create_dir(&own)?;
    workload::prepare(workload, &own)?;
    let run = WorkloadRun {
        workload: workload.to_owned(),
        place: own.clone(),
        only_set_up,
    };
    let mut command = child::part("gate-workload", &run)?;
    // By default mimalloc returns memory to the system after a delay, which makes counts vary.
    command.env("MIMALLOC_PURGE_DELAY", "-1");
    let errors = place.join(format!("{workload}.txt"));
    let counted = instructions::count(&command, &errors)?;
    fs::remove_dir_all(&own)?;
    Ok(counted)
}

/// Returns the version of the compiler, which also affects the counts.
fn rustc() -> Result<String> {
    let output = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .arg("--version")
        .output()
        .context("cannot run rustc")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
