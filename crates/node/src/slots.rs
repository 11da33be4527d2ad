//! The facts of slots in the ledger of a node, as the cluster's agent claims and releases them.
//!
//! The note of the ledger says how far the facts of each slot agree with the slot's log.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use cluster::copies::{archive_of, files_of};
use cluster::fold::SlotDigest;
use cluster::note::SlotNote;
use cluster::objects::{ARCHIVE, ObjectStore};
use cluster::server_notes::is_open;
use cluster::slot_store::{Applied, SlotStore};
use cluster::{Division, Slot};
use frontier::bench::ServerKey;
use frontier::{Entry, Facts, ServerFacts};
use ledger::{Batch, Ledger, encode};
use policy::Moment;
use repository::archive::{self, elsewhere};
use tokio::time::Instant;
use tracing::warn;

use crate::recovery;
use crate::slot_note::note_of;
use crate::store::Store;

/// For each slot: the sequence of its log that the ledger agrees with, and the digest of its facts.
pub type Digests = BTreeMap<Slot, (u64, SlotDigest)>;

/// How long a takeover waits for an object store that does not answer. Then the pages whose copies
/// are in it count as never visited.
const OBJECTS_WITHIN: Duration = Duration::from_secs(10);

/// The ledger of a node between two terms.
pub struct LedgerSlots<'a> {
    store: &'a Store,
    ledger: Arc<Ledger>,
    division: Division,
    note: SlotNote,
    /// A page number above all that were ever used, once it is known.
    free: Option<u32>,
    /// Whether the crawl has an index, from which the pages of lost slots are removed.
    indexed: bool,
    /// The object store of the cluster, if it has one.
    objects: Option<ObjectStore>,
    /// When the object store first did not answer.
    away: Cell<Option<Instant>>,
    /// Whether pages of other nodes' slots stay: this node has fetched them itself (`crossover`).
    keeps_foreign: bool,
}

impl<'a> LedgerSlots<'a> {
    /// Opens the ledger of a store. No crawl may be running.
    pub fn open(
        store: &'a Store,
        division: Division,
        indexed: bool,
        objects: Option<ObjectStore>,
        keeps_foreign: bool,
    ) -> Result<Self> {
        let ledger = store.ledger()?;
        if ledger.sequence()? > 0 {
            // What changes here then becomes a part of the checkpoint's tail. Without a checkpoint,
            // the engine makes it again.
            ledger.open_checkpoint(&store.checkpoint()).ok();
        }
        Ok(Self {
            note: note_of(&ledger)?,
            store,
            ledger,
            division,
            free: None,
            indexed,
            objects,
            away: Cell::new(None),
            keeps_foreign,
        })
    }

    /// Returns whether an archive file is in the object store. Waits for a store that does not
    /// answer, for [`OBJECTS_WITHIN`] in all.
    async fn is_stored(&self, file: u32) -> bool {
        let Some(objects) = &self.objects else {
            return false;
        };
        let object = format!("{ARCHIVE}/{}", elsewhere::file_name(file));
        loop {
            let since = self.away.get();
            if since.is_some_and(|since| since.elapsed() >= OBJECTS_WITHIN) {
                return false;
            }
            match objects.size(&object).await {
                Ok(size) => return size.is_some(),
                Err(error) => {
                    if since.is_none() {
                        let error = anyhow::Error::from(error);
                        warn!(
                            "{error:#}; in {} s, pages are taken over without the copies in it and fetched again",
                            OBJECTS_WITHIN.as_secs()
                        );
                        self.away.set(Some(Instant::now()));
                    }
                    tokio::time::sleep(Duration::from_millis(500)).await;
                }
            }
        }
    }

    fn write_note(&self) -> Result<()> {
        Ok(self.ledger.set_note(&encode(&self.note))?)
    }

    /// Deletes the facts of slots, and their pages from the index.
    fn forget(&mut self, slots: &[Slot]) -> Result<()> {
        let mut known = Vec::new();
        for slot in slots {
            let partitions = self.division.partitions(*slot);
            if !self.ledger.is_empty(partitions.clone())? {
                known.push(partitions);
            }
        }
        if known.is_empty() {
            return Ok(());
        }
        if self.indexed {
            let mut index = recovery::open_index(self.store, &self.ledger)?;
            for partitions in &known {
                for page in self.ledger.scan_partitions(partitions.clone()) {
                    index
                        .remove(page?.key.page)
                        .context("cannot write the index")?;
                }
            }
            let sequence = self.ledger.sequence()?;
            index.commit(sequence).context("cannot commit the index")?;
        }
        self.free = Some(self.free_number()?);
        for partitions in known {
            self.ledger.delete(partitions)?;
        }
        Ok(())
    }
}

impl SlotStore for LedgerSlots<'_> {
    type Error = anyhow::Error;

    fn applied(&self, slot: Slot) -> Result<Option<Applied>> {
        Ok(self.note.applied(slot))
    }

    fn free_number(&self) -> Result<u32> {
        match self.free {
            Some(free) => Ok(free),
            None => Ok(self.ledger.free_number()?),
        }
    }

    async fn reachable(&self, files: BTreeSet<u32>) -> Result<BTreeSet<u32>> {
        let directory = self.store.archive();
        let mut reachable = BTreeSet::new();
        // Files of archive 0 have the same numbers in every store.
        for file in files.into_iter().filter(|file| archive_of(*file) > 0) {
            if archive::is_own(&directory, file) || self.is_stored(file).await {
                reachable.insert(file);
            }
        }
        Ok(reachable)
    }

    fn replace(&mut self, slot: Slot, facts: &[Entry], applied: Applied) -> Result<()> {
        self.forget(&[slot])?;
        let visits = facts.iter().filter_map(|fact| match fact {
            Entry::Visited(_, visited) => Some(&**visited),
            _ => None,
        });
        let directory = self.store.archive();
        let files = files_of(visits);
        let copied = files.iter().any(|file| !archive::is_own(&directory, *file));
        let unread = copied.then(|| self.division.partitions(slot));
        let highest = facts.iter().filter_map(|fact| match fact {
            Entry::Admitted(_, discovery) => Some(discovery.order),
            _ => None,
        });
        let above = highest.max().map_or(0, |order| order + 1);
        let free = self.free_number()?.max(u32::try_from(above)?);
        self.note.replaced(slot, applied, unread);
        self.ledger.commit(&Batch {
            entries: facts.to_vec(),
            note: Some(encode(&self.note)),
            ..Batch::default()
        })?;
        self.free = Some(free);
        Ok(())
    }

    fn record(&mut self, slot: Slot, applied: Applied) -> Result<()> {
        self.note.record(slot, applied);
        self.write_note()
    }

    fn waits(&self, now: Moment) -> Result<Vec<(ServerKey, ServerFacts)>> {
        let mut waits = Vec::new();
        for server in self.ledger.servers() {
            let (server, facts) = server?;
            if is_open(&facts, now) {
                waits.push((server, facts));
            }
        }
        Ok(waits)
    }

    fn keep_waits(&mut self, waits: Vec<(ServerKey, ServerFacts)>, now: Moment) -> Result<()> {
        for (server, facts) in waits {
            self.ledger.keep_server(server, &facts, || now)?;
        }
        Ok(())
    }

    fn retain(&mut self, slots: &BTreeSet<Slot>) -> Result<()> {
        if !self.keeps_foreign {
            let others = self.division.slots().filter(|slot| !slots.contains(slot));
            self.forget(&others.collect::<Vec<_>>())?;
        }
        self.note.retain(slots);
        self.write_note()
    }
}

/// Returns count and checksum of the facts of a slot in a ledger.
pub fn digest(ledger: &Ledger, division: Division, slot: Slot) -> Result<SlotDigest> {
    let mut digest = SlotDigest::default();
    for known in ledger.scan_partitions(division.partitions(slot)) {
        digest.add(&known?);
    }
    Ok(digest)
}

#[cfg(test)]
mod tests {
    use cluster::copies::first_file;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn copies_are_reachable_in_the_own_archive_and_in_the_object_store() {
        let (root, mount) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = Store::create(root.path()).unwrap();
        let objects = ObjectStore::in_directory(mount.path(), "docs");
        let (own, stored) = (first_file(1), first_file(2));
        std::fs::create_dir(store.archive()).unwrap();
        for file in [own, 1] {
            let path = store.archive().join(elsewhere::file_name(file));
            std::fs::write(path, "").unwrap();
        }
        for file in [stored, 2] {
            let object = format!("{ARCHIVE}/{}", elsewhere::file_name(file));
            objects.put_bytes(&object, b"").await.unwrap();
        }
        let division = Division::new(64).unwrap();
        let open = |objects| LedgerSlots::open(&store, division, false, objects, false).unwrap();
        let files = BTreeSet::from([1, 2, own, stored, stored + 1, stored + 2]);
        let slots = open(Some(objects.clone()));
        let reachable = slots.reachable(files.clone()).await.unwrap();
        assert_eq!(
            reachable,
            BTreeSet::from([own, stored]),
            "files 1 and 2 have no archive"
        );
        drop(slots);

        // The object store goes away. All files together wait for it once.
        std::fs::remove_dir_all(mount.path().join("docs")).unwrap();
        let slots = open(Some(objects));
        let begun = Instant::now();
        for _ in 0..3 {
            let reachable = slots.reachable(files.clone()).await.unwrap();
            assert_eq!(reachable, BTreeSet::from([own]));
        }
        let waited = begun.elapsed();
        assert!(
            (OBJECTS_WITHIN..OBJECTS_WITHIN * 2).contains(&waited),
            "{waited:?}"
        );
        drop(slots);
        assert_eq!(
            open(None).reachable(files).await.unwrap(),
            BTreeSet::from([own])
        );
    }
}
