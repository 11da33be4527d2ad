//! The facts of slots in the ledger of a node, as the cluster's agent claims and releases them.
//!
//! The note of the ledger says how far the facts of each slot agree with the slot's log.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use cluster::agent::{Applied, SlotStore};
use cluster::copies::{archive_of, files_of};
use cluster::fold::SlotDigest;
use cluster::note::SlotNote;
use cluster::objects::{ARCHIVE, ObjectStore};
use cluster::{Division, Slot};
use frontier::Entry;
use ledger::{Batch, Ledger, decode, encode};
use repository::archive::{self, elsewhere};
use tracing::warn;

use crate::recovery;
use crate::store::Store;

/// For each slot: the sequence of its log that the ledger agrees with, and the digest of its facts.
pub type Digests = BTreeMap<Slot, (u64, SlotDigest)>;

/// How long a takeover waits for an object store that does not answer. Then the pages whose copies
/// are in it count as never visited.
const OBJECTS_WITHIN: Duration = Duration::from_secs(10);

/// Reads the note of a ledger. A ledger that was never part of a cluster has an empty one.
pub fn note_of(ledger: &Ledger) -> Result<SlotNote> {
    let note = ledger.note()?;
    let note = note.map(|note| decode(&note, || "the slots of this node".into()));
    Ok(note.transpose()?.unwrap_or_default())
}

/// The ledger of a node between two terms.
pub struct LedgerSlots<'a> {
    store: &'a Store,
    ledger: Ledger,
    division: Division,
    note: SlotNote,
    /// A page number above all that were ever used, once it is known.
    free: Option<u32>,
    /// Whether the crawl has an index, from which the pages of lost slots are removed.
    indexed: bool,
    /// The object store of the cluster, if it has one.
    objects: Option<ObjectStore>,
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
        Ok(Self {
            note: note_of(&ledger)?,
            store,
            ledger,
            division,
            free: None,
            indexed,
            objects,
            keeps_foreign,
        })
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
        let begun = Instant::now();
        // Files of archive 0 have the same numbers in every store.
        for file in files.into_iter().filter(|file| archive_of(*file) > 0) {
            if archive::is_own(&directory, file) {
                reachable.insert(file);
            } else if let Some(objects) = &self.objects
                && is_stored(objects, file, begun + OBJECTS_WITHIN).await
            {
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

    fn retain(&mut self, slots: &BTreeSet<Slot>) -> Result<()> {
        if !self.keeps_foreign {
            let others = self.division.slots().filter(|slot| !slots.contains(slot));
            self.forget(&others.collect::<Vec<_>>())?;
        }
        self.note.retain(slots);
        self.write_note()
    }
}

/// Returns whether an archive file is in the object store. Tries until `until` if the store does
/// not answer.
async fn is_stored(objects: &ObjectStore, file: u32, until: Instant) -> bool {
    let object = format!("{ARCHIVE}/{}", elsewhere::file_name(file));
    loop {
        match objects.size(&object).await {
            Ok(size) => return size.is_some(),
            Err(error) if Instant::now() >= until => {
                let error = anyhow::Error::from(error);
                warn!(
                    "pages that are taken over without their copies are fetched again: {error:#}"
                );
                return false;
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(500)).await,
        }
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
