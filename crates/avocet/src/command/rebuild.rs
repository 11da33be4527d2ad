//! `avocet rebuild`: rebuilds ledger, index and CDXJ files from the archive, the source of truth.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use frontier::Visited;
use ledger::Ledger;
use repository::archive::{self, ArchiveError, RecordLocation, elsewhere};
use serde_json::json;

use crate::archive_position::ArchivePosition;
use crate::cli::RebuildArguments;
use crate::logs::say;
use crate::progress_bar::Bar;
use node::access::StoreToWrite;
use node::forget::ForgetLog;
use node::number::counted;
use node::recovery;
use node::replay::{Home, Replay};
use node::store::Store;
use node::work_progress::{WorkProgress, WorkUnit};

/// Replays the archive into a new ledger, replaces the old one, and rebuilds the index.
pub fn run(root: &Path, json: bool, arguments: &RebuildArguments) -> Result<()> {
    let store = StoreToWrite::open_to_rebuild(root)?;
    if !arguments.accept_loss {
        refuse_loss(&store)?;
    }
    let bar = Bar::new();
    let old = store.existing_ledger();
    let arrived = old.and_then(|ledger| arrived(&store, &ledger).ok());
    let arrived = arrived.unwrap_or_default();
    let (answers, others, problems) = {
        let ledger = store.fresh_ledger()?;
        let forgotten = ForgetLog::read(root)?;
        let mut replay = Replay::new(&ledger, None, archive::Inventory::default(), &forgotten)?;
        let mut end = None;
        take_arrived(&store, arrived, &mut replay)?;
        let position = ArchivePosition::of(&store.archive())?;
        bar.begin("reading the archive", position.size(), WorkUnit::Bytes);
        let problems = archive::verify(&store.archive(), |place, record| {
            bar.reach(position.before(place.file, place.offset));
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
            archive_end: end,
            ..ledger::Batch::default()
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
            ArchiveError::Torn { path, offset } => bar.say(&format!(
                "skipped: {} ends in a torn record at byte {offset}",
                path.display()
            )),
            other => {
                bar.say(&format!("skipped: {other}"));
                damaged.push(other.to_string());
            }
        }
    }
    // The index is removed before the new ledger replaces the old one: an index whose sequence
    // number is ahead of that of its ledger would look like a damaged ledger.
    remove(&store.index())?;
    store.sync()?;
    store.take_fresh_ledger()?;
    store.write_format()?;
    let ledger = store.ledger()?;
    drop(recovery::open_index_and_show(&store, &ledger, &bar)?);
    bar.finish();
    if json {
        outln!(
            "{}",
            json!({ "answers": answers, "other_records": others, "damaged": damaged, "indexes": indexes })
        );
    } else {
        outln!(
            "{} read from the archive, {} skipped, {} rebuilt",
            counted(answers, "response"),
            counted(damaged.len(), "damaged record"),
            counted(indexes, "CDXJ file")
        );
    }
    Ok(())
}

/// Fails if the ledger names records that the archive no longer has.
///
/// A ledger that cannot be read, or has an older format, is not checked.
fn refuse_loss(store: &Store) -> Result<()> {
    let Some(named) = store
        .existing_ledger()
        .and_then(|ledger| named(&ledger).ok())
    else {
        return Ok(());
    };
    let lost: Vec<String> = named
        .into_iter()
        .filter_map(|(file, (pages, end))| {
            let state = match elsewhere::length(&store.archive(), file) {
                Some(size) if size >= end => return None,
                Some(size) => format!("truncated to {size} of {end} bytes"),
                None => "missing".to_owned(),
            };
            let held = counted(pages, "page");
            Some(format!(
                "avocet-{file:08}.warc.gz is {state} (it held {held})"
            ))
        })
        .collect();
    if lost.is_empty() {
        return Ok(());
    }
    bail!(
        "the archive in {} lacks records that the ledger names:\n  {}\nNothing was changed. Restore the files from a backup, \
         or run `avocet rebuild --accept-loss --store {}` to forget their pages",
        store.archive().display(),
        lost.join("\n  "),
        store.root().display()
    )
}

/// Returns the copies of the ledger that are in files of other nodes of a cluster, in the order of
/// these files.
fn arrived(store: &Store, ledger: &Ledger) -> Result<Vec<RecordLocation>> {
    let mut places = Vec::new();
    for known in ledger.scan() {
        let copy = known?.visited.and_then(|visited: Visited| visited.copy);
        let place = copy.and_then(|copy| copy.place);
        places.extend(place.filter(|place| !archive::is_own(&store.archive(), place.file)));
    }
    places.sort_unstable();
    Ok(places)
}

/// Replays the copies that are in files of other nodes. The archive itself says which of their
/// links are in scope.
fn take_arrived(
    store: &Store,
    arrived: Vec<RecordLocation>,
    replay: &mut Replay<'_>,
) -> Result<()> {
    let archive = store.archive();
    if arrived.is_empty() {
        return Ok(());
    }
    if let Some(Ok((at, record))) = archive::scan(&archive)?.next() {
        replay.take(&record, &Home::Here(at))?;
    }
    for place in arrived {
        match archive::read(&archive, &place) {
            Ok(record) => replay.take_arrived(&record, place)?,
            Err(error) => say(&format!("skipped: {:#}", anyhow::Error::from(error))),
        }
    }
    Ok(())
}

/// Returns, for each archive file that the ledger names, the number of copies in it and the end of
/// the last one in bytes.
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
