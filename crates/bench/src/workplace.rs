//! The temporary directory of a benchmark.
//!
//! The directory is in the directory of the build, because `/tmp` is in memory on many machines: a
//! sync costs nothing there, and figures would be meaningless.
//!
//! **Invariant:** the directory is removed when the benchmark ends, fails or is interrupted.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context, Result};
use tempfile::TempDir;
use tokio::runtime;
use tokio::signal::ctrl_c;

/// The exit code for a program that ended by SIGINT, as shells report it.
const INTERRUPTED: i32 = 130;

/// Runs work with a new directory, and removes the directory.
pub fn with(work: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let place = TempDir::with_prefix_in("bench-", built()?)
        .context("cannot create a temporary directory")?;
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let path = place.path().to_owned();
    runtime.spawn(async move {
        if ctrl_c().await.is_ok() {
            // Child processes get the signal too, but may still write files: try twice.
            let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_dir_all(&path));
            process::exit(INTERRUPTED);
        }
    });
    let done = work(place.path());
    place
        .close()
        .context("cannot remove the temporary directory")?;
    done
}

/// Returns the directory of this program, where cargo also builds `avocet`.
pub fn built() -> Result<PathBuf> {
    let this = env::current_exe().context("cannot find this program")?;
    let built = this.parent().context("this program was moved")?;
    Ok(built.to_owned())
}
