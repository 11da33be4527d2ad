//! `avocet import`: adds WARC files of any tool, URLs, search queries or clicks to the store.

mod clicks;
mod lines;
mod queries;
mod urls;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use ledger::Ledger;
use repository::archive::{BLOCK_LIMIT, Inventory, Records};
use serde_json::json;

use super::crawl::refuse_other_files;
use crate::cli::{ImportArguments, ImportKind};
use crate::progress_bar::Bar;
use node::access::StoreToWrite;
use node::forget::ForgetLog;
use node::number::counted;
use node::recovery;
use node::replay::{GROUP, Home, Replay};
use node::store::{self, Store};
use node::work_progress::{WorkProgress, WorkUnit};

/// Imports files and prints counts.
pub fn run(root: &Path, json: bool, arguments: &ImportArguments) -> Result<()> {
    for file in &arguments.files {
        fs::metadata(file).with_context(|| format!("cannot read {}", file.display()))?;
    }
    refuse_other_files(root, arguments.force)?;
    // Logs have several writers at any time.
    if arguments.what.is_log() && store::must_exist(root).is_err() {
        drop(StoreToWrite::create(root)?);
    }
    let ImportCounts {
        taken,
        passed,
        known,
    } = match arguments.what {
        ImportKind::Warc => {
            let store = StoreToWrite::create(root)?;
            warc(&store, &*store.ledger()?, &arguments.files)?
        }
        ImportKind::Urls => {
            let store = StoreToWrite::create(root)?;
            urls::import(&store, &*store.ledger()?, &arguments.files)?
        }
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
    let size = |file: &PathBuf| fs::metadata(file).map_or(0, |data| data.len());
    let bar = Bar::new();
    bar.begin("importing", files.iter().map(size).sum(), WorkUnit::Bytes);
    let mut before = 0;
    for file in files {
        for found in Records::open(file, BLOCK_LIMIT)? {
            match found {
                Ok(found) => {
                    bar.reach(before + found.offset);
                    replay.take(&found.record, &Home::Elsewhere)?;
                }
                Err(error) => {
                    bar.say(&format!("skipped: {error}"));
                    damaged += 1;
                }
            }
        }
        before += size(file);
    }
    let counts = ImportCounts {
        taken: replay.answers,
        passed: replay.others + replay.refused + damaged,
        known: Some(replay.known),
    };
    if replay.refused > 0 {
        bar.say(&format!(
            "skipped: {} of pages that were forgotten; `avocet forget --allow` lets them in",
            counted(replay.refused, "response")
        ));
    }
    replay.finish()?;
    drop(recovery::open_index_and_show(store, ledger, &bar)?);
    bar.finish();
    Ok(counts)
}
