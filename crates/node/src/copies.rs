//! The copies of pages in a cluster: how they come into the object store, and from there to the
//! nodes that take over their pages.

pub mod arrivals;
pub mod uploads;

use std::path::Path;

use anyhow::{Context, Result};
use cluster::broker::Broker;
use cluster::copies::{archive_of, first_file, is_used_up};
use cluster::log::SlotLog;
use cluster::objects::{ARCHIVE, ObjectStore};
use ledger::{Batch, Ledger};
use repository::archive::{ArchiveError, elsewhere};
use tracing::{info, warn};

use crate::recovery;
use crate::store::Store;

/// Gives the archive of a store a number that no other archive of the cluster has, unless it has
/// one. Returns the number of the first file that is not complete.
///
/// The number is changed if the object store has later files of this archive: then the store was
/// restored from a backup, and would use their numbers again.
pub async fn number_archive(store: &Store, broker: &Broker) -> Result<u32> {
    let ledger = store.ledger()?;
    let (file, offset) = ledger.archive_end()?.unwrap_or((0, 0));
    let numbered = archive_of(file) > 0 && !is_used_up(file);
    let restored = match broker.objects().filter(|_| numbered) {
        Some(objects) => is_restored(objects, file, offset).await,
        None => false,
    };
    if numbered && !restored {
        let complete = elsewhere::complete_files(&store.archive(), file + 1)?;
        let last = complete.last().filter(|last| last.number == file);
        let length = last.and_then(|last| std::fs::metadata(&last.path).ok());
        let ended = length.is_some_and(|length| length.len() == offset);
        return Ok(file + u32::from(ended));
    }
    if restored {
        warn!(
            "the object store has later files of this archive: the store is an older state. Its archive goes on under a new number"
        );
    }
    complete_archive(store, &ledger)?;
    let number = broker.new_archive().await?;
    info!(number, "the archive of this store has a number");
    ledger.commit(&Batch {
        archive_end: Some((first_file(number), 0)),
        ..Batch::default()
    })?;
    Ok(first_file(number))
}

/// Returns whether the object store has bytes of an archive after its committed end.
async fn is_restored(objects: &ObjectStore, file: u32, offset: u64) -> bool {
    let size = async |file| {
        let object = format!("{ARCHIVE}/{}", elsewhere::file_name(file));
        // While the object store is away nothing is uploaded either, and the next start looks
        // again.
        objects.size(&object).await.ok().flatten()
    };
    let same = size(file).await.is_some_and(|found| found != offset);
    same || size(file + 1).await.is_some()
}

/// Completes the open file of an archive, so that the archive can go on under another number.
fn complete_archive(store: &Store, ledger: &Ledger) -> Result<()> {
    if !store.archive().exists() {
        return Ok(());
    }
    let at_risk = usize::try_from(ledger.at_risk()?.unwrap_or(0))?;
    let info = recovery::archive_info(Vec::new());
    let writer = recovery::open_archive(store, ledger, info, at_risk)?;
    writer.close().context("cannot close the archive")
}

/// Makes the files of an object store that is a directory visible in the archive.
pub fn share(archive: &Path, objects: &ObjectStore) -> Result<(), ArchiveError> {
    match objects.directory(ARCHIVE) {
        Some(directory) => elsewhere::share(archive, &directory),
        None => Ok(()),
    }
}
