//! Groups the 256 partitions of the ledger into the slots that a cluster moves between nodes.
//!
//! A slot is a range of neighbouring ledger partitions, so a slot is one range of ledger keys. A
//! cluster of few nodes uses few slots: a node sends one message per slot and group commit.

use std::ops::RangeInclusive;

use crawl::Ownership;
use frontier::Partition;
use serde::{Deserialize, Serialize};

/// A part of the web that one node owns at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Slot(pub u16);

/// How many slots there are. All nodes of a cluster use the same division.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Division {
    slots: u16,
}

impl Division {
    /// Divides the web into this number of slots. Returns `None` unless it is a power of two from
    /// 1 to 256.
    pub fn new(slots: u16) -> Option<Self> {
        let fits = slots.is_power_of_two() && slots <= 256;
        fits.then_some(Self { slots })
    }

    /// Returns all slots.
    pub fn slots(self) -> impl Iterator<Item = Slot> {
        (0..self.slots).map(Slot)
    }

    /// Returns the slot of a ledger partition.
    pub fn slot(self, partition: Partition) -> Slot {
        Slot(u16::from(partition.0) / self.width())
    }

    /// Returns the first and the last ledger partition of a slot.
    pub fn partitions(self, slot: Slot) -> RangeInclusive<u8> {
        let first = slot.0 * self.width();
        first as u8..=(first + self.width() - 1) as u8
    }

    /// Returns the ledger partitions of these slots, in the form that the core uses.
    pub fn ownership(self, slots: impl IntoIterator<Item = Slot>) -> Ownership {
        let partitions = slots.into_iter().flat_map(|slot| self.partitions(slot));
        Ownership::of(partitions.map(Partition))
    }

    fn width(self) -> u16 {
        256 / self.slots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_partition_is_in_the_range_of_its_slot_and_in_no_other() {
        for slots in [1, 2, 64, 256] {
            let division = Division::new(slots).unwrap();
            assert_eq!(division.slots().count(), usize::from(slots));
            for partition in 0..=255 {
                let slot = division.slot(Partition(partition));
                let owners = division
                    .slots()
                    .filter(|slot| division.partitions(*slot).contains(&partition));
                assert_eq!(owners.collect::<Vec<_>>(), [slot]);
            }
        }
        for slots in [0, 3, 512] {
            assert_eq!(Division::new(slots), None, "{slots}");
        }
    }
}
