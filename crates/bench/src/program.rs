//! How is the real program run?
//!
//! **Invariant:** a crawl starts from nothing and leaves nothing: its store is new and gone afterwards.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::child::{self, Ended};
use crate::workplace;

/// `avocet`, optimised.
pub struct Program {
    path: PathBuf,
}

/// What `avocet crawl --json` prints, as far as it is of interest.
#[derive(Debug, Deserialize)]
pub struct Summary {
    /// Pages fetched.
    pub pages: u64,
    /// Pages left.
    pub queued: u64,
}

impl Program {
    /// Builds it.
    pub fn build() -> Result<Self> {
        let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["build", "--quiet", "--release", "--package", "avocet"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .context("cannot run cargo")?;
        ensure!(status.success(), "avocet does not build");
        let path = workplace::built()?.join("avocet");
        Ok(Self { path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Crawls loopback addresses, keeping facts only.
    pub fn crawl(
        &self,
        place: &Path,
        seeds: &Path,
        flags: impl IntoIterator<Item = String>,
    ) -> Result<(Ended, Summary)> {
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
        let summary =
            serde_json::from_str(&ended.output).context("cannot read what avocet crawl prints")?;
        Ok((ended, summary))
    }
}
