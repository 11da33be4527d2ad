//! The facts of slots in the ledger of a node, as the cluster's agent claims and releases them.
//!
//! The note of the ledger says how far the facts of each slot agree with the slot's log.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use cluster::agent::{Applied, SlotStore};
use cluster::fold::SlotDigest;
use cluster::note::SlotNote;
use cluster::{Division, Slot};
use frontier::Entry;
use ledger::{Batch, Ledger, decode, encode};

use crate::recovery;
use crate::store::Store;

/// For each slot: the sequence of its log that the ledger agrees with, and the digest of its facts.
pub type Digests = BTreeMap<Slot, (u64, SlotDigest)>;

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
}

impl<'a> LedgerSlots<'a> {
    /// Opens the ledger of a store. No crawl may be running.
    pub fn open(store: &'a Store, division: Division, indexed: bool) -> Result<Self> {
        let ledger = store.ledger()?;
        Ok(Self {
            note: note_of(&ledger)?,
            store,
            ledger,
            division,
            free: None,
            indexed,
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

    fn replace(&mut self, slot: Slot, facts: &[Entry], applied: Applied) -> Result<()> {
        self.forget(&[slot])?;
        let highest = facts.iter().filter_map(|fact| match fact {
            Entry::Admitted(_, discovery) => Some(discovery.order),
            _ => None,
        });
        let above = highest.max().map_or(0, |order| order + 1);
        let free = self.free_number()?.max(u32::try_from(above)?);
        self.note.replaced(slot, applied);
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
        let others = self.division.slots().filter(|slot| !slots.contains(slot));
        self.forget(&others.collect::<Vec<_>>())?;
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
