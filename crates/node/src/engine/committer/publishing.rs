//! The committer's way to the other nodes of a cluster.
//!
//! **Order:** after the ledger's commit, the broker stores the offers of the group, then its facts.
//! Only then are the requests of the group safe from a repetition by another node.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::Result;
use cluster::agent::Agent;
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

/// The longest time that a group waits for more work while another node has hardly any pages to
/// fetch, and the group has offers.
const AWAITED: Duration = Duration::from_secs(1);

/// Time without further work after which a group is published: the crawl rests.
const QUIET: Duration = Duration::from_secs(1);

/// Publishes the groups of a committer.
pub struct Publishing {
    publisher: Publisher,
    agent: Arc<Agent>,
    note: SlotNote,
    division: Division,
    /// The longest time that a group waits for more work. A group costs one message per slot,
    /// whatever its size.
    every: Duration,
    /// Number of messages of a log at which it is trimmed to a snapshot.
    snapshot_after: u64,
}

impl Publishing {
    /// Begins a term.
    pub fn new(term: &Term, ledger: &Ledger) -> Result<Self> {
        let note = note_of(ledger)?;
        announce_unindexed(&term.agent, &note);
        Ok(Self {
            publisher: term.publisher(),
            agent: term.agent.clone(),
            note,
            division: term.division,
            every: term.publish_every,
            snapshot_after: term.snapshot_after,
        })
    }

    /// Collects work for one group: until it has enough pages for its number of messages, or for
    /// `[cluster] publish_every`. Does not wait when the crawl rests or ends, when a digest is
    /// requested, or when other nodes need the offers of the group.
    pub(super) fn gather(
        &mut self,
        first: CommitWork,
        work: &Receiver<CommitWork>,
    ) -> Vec<CommitWork> {
        if matches!(first, CommitWork::Hurry) {
            self.every = Duration::ZERO;
        }
        let begun = Instant::now();
        let mut size = GroupSize::default();
        size.add(&first, self.division);
        let mut group = vec![first];
        while !size.is_enough() {
            let most = match size.offers && self.publisher.is_awaited() {
                true => self.every.min(AWAITED),
                false => self.every,
            };
            let left = most.saturating_sub(begun.elapsed()).min(QUIET);
            match work.recv_timeout(left) {
                Ok(next) => {
                    if matches!(next, CommitWork::Hurry) {
                        self.every = Duration::ZERO;
                    }
                    size.add(&next, self.division);
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
        announce_unindexed(&self.agent, &self.note);
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

/// Announces how many slots have copies that are not in the index of this node yet.
fn announce_unindexed(agent: &Agent, note: &SlotNote) {
    let slots = note.unread().len() as u64;
    agent.report(|figures| figures.unindexed = slots);
}

/// What a group has so far.
#[derive(Debug, Default)]
struct GroupSize {
    pages: usize,
    /// The slots of its pages. Each costs a message.
    slots: BTreeSet<Slot>,
    /// Whether it has offers to other nodes.
    offers: bool,
    /// Whether someone waits for its end.
    urgent: bool,
}

impl GroupSize {
    fn add(&mut self, work: &CommitWork, division: Division) {
        match work {
            CommitWork::Core(Work::Pages(pages)) => {
                self.pages += pages.len();
                let slots = pages.iter().map(|page| division.slot(page.key.partition));
                self.slots.extend(slots);
            }
            CommitWork::Arrival(ArrivalWork::Copies(copies, _)) => self.pages += copies.len(),
            CommitWork::Offer(_) => self.offers = true,
            CommitWork::Digest(_) => self.urgent = true,
            #[cfg(test)]
            CommitWork::Hold(_) => self.urgent = true,
            _ => {}
        }
    }

    fn is_enough(&self) -> bool {
        self.urgent || self.pages >= Term::group(self.slots.len())
    }
}
