//! `avocet import`: adds WARC files of any tool, URLs, search queries or clicks to the store.

mod clicks;
mod lines;
mod queries;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use ledger::{Batch, Ledger};
use page::PageUrl;
use repository::archive::{BLOCK_LIMIT, Inventory, Records};
use serde_json::json;

use super::crawl::refuse_other_files;
use crate::cli::{ImportArguments, ImportKind};
use crate::logs::say;
use node::clock::Clock;
use node::forget::ForgetLog;
use node::number::counted;
use node::recovery;
use node::replay::{GROUP, Home, Replay, memory};
use node::store::{self, Store};

/// Imports files and prints counts.
pub fn run(root: &Path, json: bool, arguments: &ImportArguments) -> Result<()> {
    for file in &arguments.files {
        fs::metadata(file).with_context(|| format!("cannot read {}", file.display()))?;
    }
    refuse_other_files(root, arguments.force)?;
    let store = Store::create(root)?;
    let ImportCounts {
        taken,
        passed,
        known,
    } = match arguments.what {
        ImportKind::Warc => warc(&store, &store.ledger()?, &arguments.files)?,
        ImportKind::Urls => urls(&store, &store.ledger()?, &arguments.files)?,
        ImportKind::Queries => queries::import(&store::log(root), &arguments.files)?.into(),
        ImportKind::Clicks => clicks::import(&store::log(root), &arguments.files)?.into(),
    };
    if json {
        let mut counts = json!({ "taken": taken, "passed_over": passed });
        if let Some(known) = known {
            counts["already_there"] = known.into();
        }
        outln!("{counts}");
    } else {
        let already = known.map(|known| format!(", {known} already in the store"));
        let already = already.unwrap_or_default();
        outln!("{taken} imported, {passed} skipped{already}");
    }
    if taken == 0 && known.is_none_or(|known| known == 0) {
        bail!("nothing was imported: the files have no line or record that can be used");
    }
    Ok(())
}

/// Counts of lines or records.
struct ImportCounts {
    taken: u64,
    /// Skipped: damaged or invalid, or of a kind that is not imported.
    passed: u64,
    /// Already in the store; `None` if that is not checked.
    known: Option<u64>,
}

impl From<(u64, u64)> for ImportCounts {
    fn from((taken, passed): (u64, u64)) -> Self {
        Self {
            taken,
            passed,
            known: None,
        }
    }
}

fn warc(store: &Store, ledger: &Ledger, files: &[PathBuf]) -> Result<ImportCounts> {
    let info = recovery::archive_info(Vec::new());
    let writer = recovery::open_archive(store, ledger, info, GROUP)?;
    // Opening the archive cuts off what a killed import left uncommitted. The inventory must not
    // contain these records, so it is read afterwards.
    let inventory = Inventory::of(&store.archive())?;
    let forgotten = ForgetLog::read(store.root())?;
    let mut replay = Replay::new(ledger, Some(writer), inventory, &forgotten)?;
    let mut damaged = 0;
    for file in files {
        for found in Records::open(file, BLOCK_LIMIT)? {
            match found {
                Ok(found) => replay.take(&found.record, &Home::Elsewhere)?,
                Err(error) => {
                    say(&format!("skipped: {error}"));
                    damaged += 1;
                }
            }
        }
    }
    let counts = ImportCounts {
        taken: replay.answers,
        passed: replay.others + replay.refused + damaged,
        known: Some(replay.known),
    };
    if replay.refused > 0 {
        say(&format!(
            "skipped: {} of pages that were forgotten; `avocet forget --allow` lets them in",
            counted(replay.refused, "response")
        ));
    }
    replay.finish()?;
    drop(recovery::open_index(store, ledger)?);
    Ok(counts)
}

fn urls(store: &Store, ledger: &Ledger, files: &[PathBuf]) -> Result<ImportCounts> {
    let mut frontier = memory(ledger)?;
    let now = Clock::start().now();
    let mut batch = Batch::default();
    let (mut passed, mut known) = (0, 0);
    let forgotten = ForgetLog::read(store.root())?.pages();
    for file in files {
        let text =
            fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match PageUrl::parse(line) {
                Ok(url) if forgotten.iter().any(|pages| pages.has(&url)) => {
                    say(&format!(
                        "{url} was forgotten; `avocet forget --allow` lets it in"
                    ));
                    passed += 1;
                }
                Ok(url) => {
                    let new = frontier.hear_seed(&url, now);
                    known += u64::from(new.is_none());
                    batch.entries.extend(new);
                }
                Err(refusal) => {
                    let place = format!("{}:{}", file.display(), number + 1);
                    say(&format!("{place}: {line:?}: {refusal}"));
                    passed += 1;
                }
            }
        }
    }
    ledger.commit(&batch)?;
    let taken = batch.entries.len() as u64;
    Ok(ImportCounts {
        taken,
        passed,
        known: Some(known),
    })
}
