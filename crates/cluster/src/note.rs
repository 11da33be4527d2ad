//! How the facts in a node's ledger agree with the logs of its slots. The ledger stores it as a
//! note.
//!
//! **Invariant:** a group commit first marks its slots as unpublished, in the same batch as its
//! facts. The mark goes when the broker has stored them. If the process dies in between, the next
//! claim of these slots takes their facts from the log.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::division::Slot;
use crate::slot_store::Applied;

/// How the facts in the ledger agree with the logs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotNote {
    applied: BTreeMap<Slot, Applied>,
    unpublished: BTreeSet<Slot>,
    /// Slots with copies of other nodes that this node has not fetched and indexed yet.
    /// Each with its first and last ledger partition.
    unread: BTreeMap<Slot, RangeInclusive<u8>>,
}

impl SlotNote {
    /// Returns how far the facts of a slot agree with its log. Returns `None` if there are facts
    /// that may not be in the log, or no record.
    pub fn applied(&self, slot: Slot) -> Option<Applied> {
        let published = !self.unpublished.contains(&slot);
        self.applied.get(&slot).copied().filter(|_| published)
    }

    /// Returns the slots that have a record, with the sequence of their logs.
    pub fn sequences(&self) -> impl Iterator<Item = (Slot, u64)> {
        let applied = self.applied.iter();
        applied.map(|(slot, applied)| (*slot, applied.sequence))
    }

    /// Slots get facts that are not in their logs yet.
    pub fn mark_unpublished(&mut self, slots: impl IntoIterator<Item = Slot>) {
        self.unpublished.extend(slots);
    }

    /// All facts of these slots are in their logs. Slots that another node has claimed keep their
    /// marks, so that their facts here do not count.
    pub fn published(&mut self, applied: BTreeMap<Slot, Applied>) {
        self.unpublished.retain(|slot| !applied.contains_key(slot));
        self.applied = applied;
    }

    /// The facts of a slot were replaced by those of its log. `unread`: its
    /// ledger partitions, if copies in them are those of other nodes.
    pub fn replaced(&mut self, slot: Slot, applied: Applied, unread: Option<RangeInclusive<u8>>) {
        self.unpublished.remove(&slot);
        self.applied.insert(slot, applied);
        match unread {
            Some(partitions) => self.unread.insert(slot, partitions),
            None => self.unread.remove(&slot),
        };
    }

    /// Returns the slots with copies of other nodes that are still to be fetched and indexed, with
    /// their ledger partitions.
    pub fn unread(&self) -> &BTreeMap<Slot, RangeInclusive<u8>> {
        &self.unread
    }

    /// The copies of a slot were fetched and are in the index.
    pub fn read(&mut self, slot: Slot) {
        self.unread.remove(&slot);
    }

    /// The log of a slot has a further message, which has no facts.
    pub fn record(&mut self, slot: Slot, applied: Applied) {
        self.applied.insert(slot, applied);
    }

    /// The facts of all slots except these were deleted.
    pub fn retain(&mut self, slots: &BTreeSet<Slot>) {
        self.applied.retain(|slot, _| slots.contains(slot));
        self.unpublished.retain(|slot| slots.contains(slot));
        self.unread.retain(|slot, _| slots.contains(slot));
    }
}
