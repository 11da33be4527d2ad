//! `avocet import`: WARC files of any tool, lists of URLs, and what people searched for and clicked.

mod clicks;
mod lines;
mod queries;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use ledger::{Batch, Ledger};
use page::PageUrl;
use repository::archive::{BLOCK_LIMIT, Inventory, Records};
use serde_json::json;

use crate::cli::{Import, Imported};
use node::clock::Clock;
use node::recovery;
use node::replay::{GROUP, Home, Replay, memory};
use node::store::{self, Store};

/// Imports.
pub fn run(root: &Path, json: bool, wishes: &Import) -> Result<()> {
    for file in &wishes.files {
        fs::metadata(file).with_context(|| format!("cannot read {}", file.display()))?;
    }
    let store = Store::create(root)?;
    let Counts {
        taken,
        passed,
        known,
    } = match wishes.what {
        Imported::Warc => warc(&store, &store.ledger()?, &wishes.files)?,
        Imported::Urls => urls(&store.ledger()?, &wishes.files)?.into(),
        Imported::Queries => queries::import(&store::log(root), &wishes.files)?.into(),
        Imported::Clicks => clicks::import(&store::log(root), &wishes.files)?.into(),
    };
    if json {
        let mut counts = json!({ "taken": taken, "passed_over": passed });
        if let Some(known) = known {
            counts["already_there"] = known.into();
        }
        outln!("{counts}");
    } else {
        let known = known.map(|known| format!(", {known} were there already"));
        let known = known.unwrap_or_default();
        outln!("{taken} taken in, {passed} passed over{known}");
    }
    Ok(())
}

/// What became of the lines or records of the files.
struct Counts {
    taken: u64,
    /// Of a kind that is not taken in, or damaged.
    passed: u64,
    /// In the store already; `None` where that is not looked at.
    known: Option<u64>,
}

impl From<(u64, u64)> for Counts {
    fn from((taken, passed): (u64, u64)) -> Self {
        Self {
            taken,
            passed,
            known: None,
        }
    }
}

fn warc(store: &Store, ledger: &Ledger, files: &[PathBuf]) -> Result<Counts> {
    let info = recovery::archive_info(Vec::new());
    let writer = recovery::open_archive(store, ledger, info, GROUP)?;
    // After the archive was opened: what a killed import left uncommitted is not in it any more.
    let inventory = Inventory::of(&store.archive())?;
    let mut replay = Replay::new(ledger, Some(writer), inventory)?;
    let mut damaged = 0;
    for file in files {
        for found in Records::open(file, BLOCK_LIMIT)? {
            match found {
                Ok(found) => replay.take(&found.record, &Home::Elsewhere)?,
                Err(error) => {
                    eprintln!("passed over: {error}");
                    damaged += 1;
                }
            }
        }
    }
    let counts = Counts {
        taken: replay.answers,
        passed: replay.others + damaged,
        known: Some(replay.known),
    };
    replay.finish()?;
    drop(recovery::open_index(store, ledger)?);
    Ok(counts)
}

fn urls(ledger: &Ledger, files: &[PathBuf]) -> Result<(u64, u64)> {
    let mut frontier = memory(ledger)?;
    let now = Clock::start().now();
    let mut batch = Batch::default();
    let mut passed = 0;
    for file in files {
        let text =
            fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match PageUrl::parse(line) {
                Ok(url) => batch.entries.extend(frontier.hear_seed(&url, now)),
                Err(refusal) => {
                    eprintln!("{}:{}: {line:?}: {refusal}", file.display(), number + 1);
                    passed += 1;
                }
            }
        }
    }
    ledger.commit(&batch)?;
    Ok((batch.entries.len() as u64, passed))
}
