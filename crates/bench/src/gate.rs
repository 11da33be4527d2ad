//! `bench gate`: compares the instruction counts of six workloads with `crates/bench/gate.toml`.
//!
//! A workload is a process under callgrind. It runs twice, once completely and once only its
//! set-up. The difference is the cost of the work, on all threads. Instruction counts do not
//! depend on other load of the machine. So a growth of 3 % is due to the code, or to the
//! compiler, which the file names.

mod baseline;
pub mod workload;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;

use crate::cli::{GateOptions, WorkloadName};
use crate::instructions;
use baseline::{Baseline, Counts};

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
    let mut counts = Counts::new();
    for workload in WorkloadName::value_variants() {
        counts.insert(workload.to_string(), count(*workload, place)?);
    }
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

/// Returns the instructions of a workload without its set-up.
fn count(workload: WorkloadName, place: &Path) -> Result<u64> {
    let whole = count_run(workload, place, false)?;
    let set_up = count_run(workload, place, true)?;
    whole.checked_sub(set_up).with_context(|| {
        format!("{workload}: the set-up took more instructions than the whole run")
    })
}

fn count_run(workload: WorkloadName, place: &Path, only_set_up: bool) -> Result<u64> {
    let own = place.join("run");
    fs::create_dir(&own)?;
    workload.prepare(&own)?;
    let mut command = Command::new(env::current_exe()?);
    command
        .arg("gate-workload")
        .arg(workload.to_string())
        .arg(&own)
        .args(only_set_up.then_some("--only-set-up"))
        // By default mimalloc returns memory to the system after a delay, which makes counts vary.
        .env("MIMALLOC_PURGE_DELAY", "-1");
    let counted = instructions::count(&command, &place.join("errors.txt"))
        .with_context(|| workload.to_string())?;
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
