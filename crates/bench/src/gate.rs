//! The gate on instruction counts: compares six fixed workloads with `crates/bench/gate.toml`.
//!
//! A workload is a process of its own under callgrind. It runs twice, once to the end and once only
//! until it is set up; the difference is what the work took, on all threads. Instructions do not
//! depend on what else the machine does, so a growth of 3 % is a change of the code (or of the
//! compiler, which the file names).

mod baseline;
pub mod workload;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;

use crate::cli::{Gate, Workload};
use crate::instructions;
use baseline::{Baseline, Counts};

/// Counts, and compares or accepts.
pub fn run(wishes: &Gate, place: &Path) -> Result<()> {
    if !instructions::can_count() {
        // Tests in a browser are treated alike: CI must not pass because a tool is missing.
        ensure!(
            env::var_os("CI").is_none(),
            "the gate needs valgrind, and the variable CI is set"
        );
        eprintln!("the gate is skipped");
        return Ok(());
    }
    let rustc = rustc()?;
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/gate.toml"));
    let baseline = match fs::read_to_string(&file) {
        Ok(text) => Baseline::parse(&text).with_context(|| file.display().to_string())?,
        Err(_) if wishes.accept.is_some() => Baseline::default(),
        Err(error) => bail!("cannot read {}: {error}", file.display()),
    };
    let mut counts = Counts::new();
    for workload in Workload::value_variants() {
        counts.insert(workload.to_string(), count(*workload, place)?);
    }
    let comparison = baseline.compare(&counts);
    print!("{comparison}");
    if let Some(reason) = &wishes.accept {
        let accepted = baseline.accept(&counts, rustc);
        let today = jiff::Zoned::now().date();
        fs::write(&file, accepted.text(&format!("{today}: {reason}")))
            .with_context(|| format!("cannot write {}", file.display()))?;
        println!("{} is written", file.display());
        return Ok(());
    }
    if baseline.rustc != rustc {
        println!("counted by {rustc}; the file is by {}", baseline.rustc);
    }
    ensure!(
        !comparison.fails(),
        "see the table; if the change is worth it: cargo xtask bench gate --accept \"reason\""
    );
    Ok(())
}

/// Counts the instructions of a workload's work.
fn count(workload: Workload, place: &Path) -> Result<u64> {
    let whole = count_run(workload, place, false)?;
    let set_up = count_run(workload, place, true)?;
    whole
        .checked_sub(set_up)
        .with_context(|| format!("{workload}: the set-up took more than all"))
}

fn count_run(workload: Workload, place: &Path, only_set_up: bool) -> Result<u64> {
    let own = place.join("run");
    fs::create_dir(&own)?;
    workload.prepare(&own)?;
    let mut command = Command::new(env::current_exe()?);
    command
        .arg("gate-workload")
        .arg(workload.to_string())
        .arg(&own)
        .args(only_set_up.then_some("--only-set-up"))
        // By default mimalloc returns memory to the system by the clock, which makes counts vary.
        .env("MIMALLOC_PURGE_DELAY", "-1");
    let counted = instructions::count(&command, &place.join("errors.txt"))
        .with_context(|| workload.to_string())?;
    fs::remove_dir_all(&own)?;
    Ok(counted)
}

/// The compiler, which decides about instructions too.
fn rustc() -> Result<String> {
    let asked = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .arg("--version")
        .output()
        .context("cannot run rustc")?;
    Ok(String::from_utf8_lossy(&asked.stdout).trim().to_owned())
}
