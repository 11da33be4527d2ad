//! `avocet rebuild`: makes ledger, index and CDXJ files again from the archive, which is the truth.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use frontier::Visited;
use ledger::Ledger;
use repository::archive::{self, ArchiveError};
use serde_json::json;

use crate::cli::Rebuild;
use node::recovery;
use node::replay::{Home, Replay};
use node::store::Store;

/// Rebuilds.
pub fn run(root: &Path, json: bool, wishes: &Rebuild) -> Result<()> {
    let store = Store::open_to_rebuild(root)?;
    if !wishes.accept_loss {
        refuse_loss(&store)?;
    }
    let (answers, others, problems) = {
        let ledger = store.fresh_ledger()?;
        let mut replay = Replay::new(&ledger, None, archive::Inventory::default())?;
        let mut end = None;
        let problems = archive::verify(&store.archive(), |place, record| {
            end = Some((place.file, place.offset + u64::from(place.length)));
            replay.take(record, &Home::Here(*place))
        })?;
        let passed_over: Vec<(u32, u64)> = problems
            .iter()
            .filter_map(ArchiveError::place)
            .map(|place| (place.file, place.offset))
            .collect();
        let counts = (replay.answers, replay.others, problems);
        replay.finish()?;
        ledger.set_passed_over(&passed_over)?;
        ledger.commit(&ledger::Batch {
            entries: Vec::new(),
            archive_end: end,
        })?;
        counts
    };
    let mut damaged = Vec::new();
    let mut indexes = 0;
    for problem in problems {
        match problem {
            ArchiveError::WrongIndex { file, .. } => {
                archive::make_index(&store.archive(), file)?;
                indexes += 1;
            }
            ArchiveError::Torn { path, offset } => eprintln!(
                "passed over: {} ends in a torn record at byte {offset}",
                path.display()
            ),
            other => {
                eprintln!("passed over: {other}");
                damaged.push(other.to_string());
            }
        }
    }
    // The index first: it may be ahead of the new ledger's sequence, as that of a damaged one is.
    remove(&store.index())?;
    store.sync()?;
    store.take_fresh_ledger()?;
    store.write_format()?;
    let ledger = store.ledger()?;
    drop(recovery::open_index(&store, &ledger)?);
    if json {
        outln!(
            "{}",
            json!({ "answers": answers, "other_records": others, "damaged": damaged, "indexes": indexes })
        );
    } else {
        outln!(
            "{answers} answers taken from the archive, {} damaged records passed over, {indexes} CDXJ files made again",
            damaged.len()
        );
    }
    Ok(())
}

/// Refuses to go on if the ledger names records that the archive no longer has. A ledger that
/// cannot be read, or is of an older format, says nothing: then the archive is all there is.
fn refuse_loss(store: &Store) -> Result<()> {
    let Some(named) = store
        .existing_ledger()
        .and_then(|ledger| named(&ledger).ok())
    else {
        return Ok(());
    };
    let sizes: BTreeMap<u32, u64> = match store.archive().exists() {
        true => archive::sizes(&store.archive())?.into_iter().collect(),
        false => BTreeMap::new(),
    };
    let lost: Vec<String> = named
        .into_iter()
        .filter_map(|(file, (pages, end))| match sizes.get(&file) {
            Some(size) if *size >= end => None,
            Some(size) => Some(format!(
                "avocet-{file:08}.warc.gz is cut off after {size} of {end} bytes ({pages} pages lie in it)"
            )),
            None => Some(format!("avocet-{file:08}.warc.gz is missing ({pages} pages lay in it)")),
        })
        .collect();
    if lost.is_empty() {
        return Ok(());
    }
    bail!(
        "the archive in {} lacks what the ledger names:\n  {}\nNothing was changed. Bring the files back from a backup, \
         or run `avocet rebuild --accept-loss --store {}` to forget what they held",
        store.archive().display(),
        lost.join("\n  "),
        store.root().display()
    )
}

/// For each file of the archive that the ledger names: pages whose copy lies in it, and where the
/// last of them ends.
fn named(ledger: &Ledger) -> Result<BTreeMap<u32, (u64, u64)>> {
    let mut files = BTreeMap::new();
    for known in ledger.scan() {
        let copy = known?.visited.and_then(|visited: Visited| visited.copy);
        if let Some(place) = copy.and_then(|copy| copy.place) {
            let (pages, end) = files.entry(place.file).or_insert((0, 0));
            *pages += 1;
            *end = (*end).max(place.offset + u64::from(place.length));
        }
    }
    Ok(files)
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}
