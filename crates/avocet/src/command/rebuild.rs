//! `avocet rebuild`: the archive is the truth; ledger and index are made from it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use repository::archive::{self, ArchiveError};
use serde_json::json;

use crate::place::place;
use crate::recover;
use crate::replay::{Home, Replay};
use crate::store::Store;

/// Rebuilds.
pub fn run(root: &Path, json: bool) -> Result<()> {
    let store = Store::open_to_rebuild(root)?;
    let mut damaged = Vec::new();
    let (answers, others) = {
        let ledger = store.fresh_ledger()?;
        let mut replay = Replay::new(&ledger, None)?;
        let mut end = None;
        for found in archive::scan(&store.archive())? {
            match found {
                Ok((location, record)) => {
                    let place = place(location);
                    end = Some((place.file, place.offset + u64::from(place.length)));
                    replay.take(&record, &Home::Here(place))?;
                }
                Err(ArchiveError::Torn { path, offset }) => {
                    eprintln!(
                        "{} ends in a torn record at byte {offset}: it is cut off at the next crawl",
                        path.display()
                    );
                }
                Err(error @ ArchiveError::Damaged { .. }) => {
                    eprintln!("passed over: {error}");
                    damaged.push(error.to_string());
                }
                Err(error) => return Err(error.into()),
            }
        }
        let counts = (replay.answers, replay.others);
        replay.finish()?;
        ledger.commit(&frontier::Batch {
            entries: Vec::new(),
            archive_end: end,
        })?;
        counts
    };
    store.take_fresh_ledger()?;
    store.write_format()?;
    remove(&store.index())?;
    let ledger = store.ledger()?;
    drop(recover::open_index(&store, &ledger)?);
    if json {
        println!(
            "{}",
            json!({ "answers": answers, "other_records": others, "damaged": damaged })
        );
    } else {
        println!(
            "{answers} answers taken from the archive, {} damaged records passed over",
            damaged.len()
        );
    }
    Ok(())
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}
