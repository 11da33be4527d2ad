//! Builds `avocet` in the release profile, and runs crawls with it.
//!
//! **Invariant:** each crawl has a new store, which is removed afterwards.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::child::{self, EndedProcess};
use crate::workplace;

/// The program `avocet`, built with optimisations.
pub struct AvocetProgram {
    path: PathBuf,
}

/// The part of the output of `avocet crawl --json` that is used.
#[derive(Debug, Deserialize)]
pub struct CrawlSummary {
    /// Pages fetched.
    pub pages: u64,
    /// Pages that still wait for a fetch.
    pub queued: u64,
}

impl AvocetProgram {
    /// Builds the program.
    pub fn build() -> Result<Self> {
        let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["build", "--quiet", "--release", "--package", "avocet"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .context("cannot run cargo")?;
        ensure!(
            status.success(),
            "cannot build avocet; see the messages of cargo above"
        );
        let path = workplace::built()?.join("avocet");
        Ok(Self { path })
    }

    /// Returns the path of the program.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Crawls loopback addresses, without archive and index.
    pub fn crawl(
        &self,
        place: &Path,
        seeds: &Path,
        flags: impl IntoIterator<Item = String>,
    ) -> Result<(EndedProcess, CrawlSummary)> {
        let store = place.join("store");
        let mut command = Command::new(&self.path);
        command
            .args(["crawl", "--json", "--scope", "any", "--allow-private"])
            .args(["--no-archive", "--no-index", "--seeds"])
            .arg(seeds)
            .args(flags)
            .arg("--store")
            .arg(&store);
        let ended = child::run(&mut command, &place.join("errors.txt"))?;
        fs::remove_dir_all(&store).context("cannot remove the store")?;
        let summary = serde_json::from_str(&ended.output)
            .context("cannot parse the output of avocet crawl")?;
        Ok((ended, summary))
    }
}
