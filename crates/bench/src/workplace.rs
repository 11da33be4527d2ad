//! Where may a benchmark write?
//!
//! Beside the build, and not in `/tmp`, which is memory on many machines: a sync there costs nothing
//! and a figure means nothing. **Invariant:** the directory is removed when the benchmark ends, fails
//! or is interrupted.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context, Result};
use tempfile::TempDir;
use tokio::runtime;
use tokio::signal::ctrl_c;

/// What a shell reports for a program that ended by SIGINT.
const INTERRUPTED: i32 = 130;

/// Works in a new directory and removes it.
pub fn with(work: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let place = TempDir::with_prefix_in("bench-", built()?)
        .context("cannot make a directory for the stores")?;
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let path = place.path().to_owned();
    runtime.spawn(async move {
        if ctrl_c().await.is_ok() {
            // Children got the signal too. Files that appear meanwhile are worth a second try.
            let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_dir_all(&path));
            process::exit(INTERRUPTED);
        }
    });
    let done = work(place.path());
    place.close().context("cannot remove the stores")?;
    done
}

/// The directory with the optimised programs, of which this is one.
pub fn built() -> Result<PathBuf> {
    let this = env::current_exe().context("cannot find this program")?;
    let built = this.parent().context("this program was moved")?;
    Ok(built.to_owned())
}
