//! The committer's way to the other nodes of a cluster.
//!
//! **Order:** after the ledger's commit, the broker stores the offers of the group, then its facts.
//! Only then are the requests of the group safe from a repetition by another node.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::Result;
use cluster::note::SlotNote;
use cluster::publisher::{Exchange, Publisher};
use cluster::{Division, Slot};
use crawl::Work;
use frontier::Entry;
use ledger::{Ledger, encode};

use super::CommitWork;
use crate::copies::arrivals::ArrivalWork;
use crate::engine::term::Term;
use crate::fault;
use crate::slot_note::note_of;
use crate::slots::{Digests, digest};

/// The longest time that a group waits for more work. A group costs one message per slot, whatever
/// its size.
const GATHER: Duration = Duration::from_secs(1);

/// Publishes the groups of a committer.
pub struct Publishing {
    publisher: Publisher,
    note: SlotNote,
    division: Division,
    enough: usize,
    /// Number of messages of a log at which it is trimmed to a snapshot.
    snapshot_after: u64,
}

impl Publishing {
    /// Begins a term.
    pub fn new(term: &Term, ledger: &Ledger) -> Result<Self> {
        Ok(Self {
            publisher: term.publisher(),
            note: note_of(ledger)?,
            division: term.division,
            enough: term.group(),
            snapshot_after: term.snapshot_after,
        })
    }

    /// Collects work for one group: until it has enough pages, for a second at most.
    pub(super) fn gather(&self, first: CommitWork, work: &Receiver<CommitWork>) -> Vec<CommitWork> {
        let until = Instant::now() + GATHER;
        let mut pages = pages_of(&first);
        let mut group = vec![first];
        while pages < self.enough {
            match work.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(next) => {
                    pages += pages_of(&next);
                    group.push(next);
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        group
    }

    /// Returns the note for a batch of facts: their slots have facts that are not published.
    pub(super) fn mark_unpublished(&mut self, facts: &[Entry]) -> Vec<u8> {
        let slots = facts.iter().filter_map(|fact| self.publisher.slot_of(fact));
        self.note.mark_unpublished(slots);
        encode(&self.note)
    }

    /// Publishes a group, and removes the marks of its slots.
    pub(super) fn publish(
        &mut self,
        facts: &[Entry],
        exchange: Exchange,
        ledger: &Ledger,
    ) -> Result<()> {
        self.publisher.publish(facts, exchange)?;
        self.note.published(self.publisher.applied());
        Ok(ledger.set_note(&encode(&self.note))?)
    }

    /// Trims a log to a snapshot, if one is long enough. Everything in the ledger is published now.
    pub(super) fn trim(&mut self, ledger: &Ledger) -> Result<()> {
        let Some(slot) = self.publisher.snapshot_due(self.snapshot_after) else {
            return Ok(());
        };
        let mut facts = ledger.facts_of(self.division.partitions(slot))?;
        let seeds = ledger.seeds()?.into_iter().map(Entry::Seed);
        facts.extend(seeds.filter(|seed| self.publisher.slot_of(seed) == Some(slot)));
        self.publisher.snapshot(slot, facts, self.snapshot_after)?;
        fault::point("trimmed");
        self.note.published(self.publisher.applied());
        Ok(ledger.set_note(&encode(&self.note))?)
    }

    /// The copies of these slots are in the index.
    pub(super) fn copies_read(&mut self, slots: &[Slot], ledger: &Ledger) -> Result<()> {
        slots.iter().for_each(|slot| self.note.read(*slot));
        Ok(ledger.set_note(&encode(&self.note))?)
    }

    /// Returns the digests of all slots. Everything in the ledger is published now.
    pub(super) fn digests(&self, ledger: &Ledger) -> Result<Digests> {
        let sequences = self.note.sequences();
        sequences
            .map(|(slot, sequence)| {
                let digest = digest(ledger, self.division, slot)?;
                Ok((slot, (sequence, digest)))
            })
            .collect()
    }
}

fn pages_of(work: &CommitWork) -> usize {
    match work {
        CommitWork::Core(Work::Pages(pages)) => pages.len(),
        CommitWork::Arrival(ArrivalWork::Copies(copies, _)) => copies.len(),
        _ => 0,
    }
}
