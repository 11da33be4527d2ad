//! Snapshots of slots in the object store, so that their logs can be trimmed.
//!
//! The owner of a slot writes its facts as an object, then appends a message to the log that names
//! the object, and then removes all earlier messages. So the first message of a trimmed log names
//! its snapshot.
//!
//! **The fence:** the message is an append like any other. The broker refuses it if another node
//! has written to the log, so a node that was replaced trims nothing.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use frontier::{Entry, RobotsFact};

use crate::division::Slot;
use crate::message::{FactBatch, Header, Kind, Unreadable, decode_batch, decode_header};
use crate::message::{compress, decompress, encode_batch, encode_header, pack};
use crate::objects::SNAPSHOTS;

/// Approximate size of one part of a snapshot in bytes, before compression. So the memory for the
/// compression is bounded, and a part is below the limit of [`decode_batch`].
const PART: usize = 16 << 20;

/// The body of a message whose kind is [`Kind::Snapshot`]: the snapshot and its checksum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotMark {
    /// The name of the object.
    pub object: String,
    /// Sequence of the message before this one, the last whose facts are in the snapshot.
    pub after: u64,
    /// Checksum of the object (XXH3, 64 bits).
    pub checksum: u64,
}

/// The beginning of the object.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SnapshotHead {
    slot: Slot,
    after: u64,
    /// The owner and its epoch.
    owner: Header,
    /// Sizes of the parts in bytes.
    parts: Vec<u64>,
}

/// Why a snapshot cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The object store has no such object.
    #[error(
        "the snapshot {object} is not in the object store, and the log of slot {slot} is trimmed to it: restore the object from a \
         backup, or start the crawl under a new --name"
    )]
    Missing {
        /// The object.
        object: String,
        /// The number of the slot.
        slot: u16,
    },
    /// The object has other bytes than its owner wrote.
    #[error(
        "the snapshot {object} is damaged, and the log of slot {slot} is trimmed to it: restore the object from a backup, or start \
         the crawl under a new --name"
    )]
    Damaged {
        /// The object.
        object: String,
        /// The number of the slot.
        slot: u16,
    },
    /// No object store is configured.
    #[error(
        "the log of slot {slot} is trimmed to the snapshot {object}: set [cluster] object_store (--object-store) to the object \
         store of the crawl"
    )]
    NoStore {
        /// The object.
        object: String,
        /// The number of the slot.
        slot: u16,
    },
}

/// The state of a slot at one message of its log.
#[derive(Debug, PartialEq)]
pub struct SlotSnapshot {
    /// The owner and its epoch.
    pub owner: Header,
    /// Its facts.
    pub facts: Vec<Entry>,
    /// Sequence of the last message of offers that is in the facts; 0: none.
    pub offers_applied: u64,
}

impl SlotSnapshot {
    /// Returns the object, and the body of the message that names it. `after`: the last message of
    /// the log whose facts are in the snapshot.
    pub fn encode(&self, slot: Slot, after: u64) -> (Vec<u8>, SnapshotMark) {
        let encode = |part: &[&Entry]| encode_batch(&self.owner, part, self.offers_applied);
        let (mut parts, mut part, mut size) = (Vec::new(), Vec::new(), 0);
        for fact in &self.facts {
            size += approximate_size(fact);
            part.push(fact);
            if size >= PART {
                parts.push(encode(&part));
                (part, size) = (Vec::new(), 0);
            }
        }
        // Not empty, because it has the offers.
        parts.push(encode(&part));
        let head = SnapshotHead {
            slot,
            after,
            owner: self.owner.clone(),
            parts: parts.iter().map(|part| part.len() as u64).collect(),
        };
        let object = [pack(&head, Vec::new()), parts.concat()].concat();
        let mark = SnapshotMark {
            object: object_name(slot, after),
            after,
            checksum: xxh3_64(&object),
        };
        (object, mark)
    }

    /// Reads the object that a message names. A wrong checksum, or the snapshot of another slot or
    /// message, is damage.
    pub fn decode(slot: Slot, mark: &SnapshotMark, object: &[u8]) -> Result<Self, SnapshotError> {
        let sound = xxh3_64(object) == mark.checksum;
        let read = sound.then(|| Self::read(slot, mark, object).ok()).flatten();
        read.ok_or_else(|| SnapshotError::Damaged {
            object: mark.object.clone(),
            slot: slot.0,
        })
    }

    fn read(slot: Slot, mark: &SnapshotMark, object: &[u8]) -> Result<Self, Unreadable> {
        let head = postcard::take_from_bytes(object);
        let (head, mut rest): (SnapshotHead, &[u8]) =
            head.map_err(|_| Unreadable::new("the head of a snapshot is damaged"))?;
        if (head.slot, head.after) != (slot, mark.after) {
            return Err(Unreadable::new("it is the snapshot of another message"));
        }
        let (mut facts, mut offers_applied) = (Vec::new(), 0);
        for length in head.parts {
            let part = usize::try_from(length).ok();
            let part = part.and_then(|length| rest.split_at_checked(length));
            let (part, after) = part.ok_or(Unreadable::new("a snapshot ends too early"))?;
            let (_, body) = decode_header(part)?;
            let FactBatch {
                entries,
                offers_applied: applied,
            } = decode_batch(body)?;
            facts.extend(entries);
            offers_applied = applied;
            rest = after;
        }
        Ok(Self {
            owner: head.owner,
            facts,
            offers_applied,
        })
    }
}

/// Returns the approximate size of a fact in bytes.
fn approximate_size(fact: &Entry) -> usize {
    let further = match fact {
        Entry::Admitted(_, discovery) => discovery.url.len(),
        Entry::Links(_, links) => links.links().map(|(_, words)| 8 + words.len()).sum(),
        Entry::Host(_, _, facts) => match &facts.robots {
            Some(RobotsFact::Found { text, .. }) => text.len(),
            _ => 0,
        },
        Entry::Visited(..) | Entry::Signalled(..) | Entry::Seed(_) => 0,
    };
    200 + further
}

/// Returns the bytes of the message that names a snapshot.
pub fn encode_mark(header: &Header, mark: &SnapshotMark) -> Vec<u8> {
    debug_assert_eq!(header.kind, Kind::Snapshot);
    let mut message = encode_header(header);
    message.extend(compress(mark));
    message
}

/// Reads the rest of a message whose kind is [`Kind::Snapshot`].
pub fn decode_mark(body: &[u8]) -> Result<SnapshotMark, Unreadable> {
    decompress(body)
}

/// Returns the name of the snapshot of a slot after a message. Names of later snapshots of a slot
/// sort after those of earlier ones.
fn object_name(slot: Slot, after: u64) -> String {
    format!("{}{after:020}", prefix(slot))
}

/// Returns the beginning of the names of a slot's snapshots.
pub fn prefix(slot: Slot) -> String {
    format!("{SNAPSHOTS}/{:03}-", slot.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::NodeName;

    fn snapshot(seeds: usize) -> SlotSnapshot {
        let seed = |number: usize| Entry::Seed(format!("http://example.org/{number}"));
        SlotSnapshot {
            owner: Header {
                node: NodeName::new("a").unwrap(),
                epoch: 3,
                kind: Kind::Batch,
            },
            facts: (0..seeds).map(seed).collect(),
            offers_applied: 9,
        }
    }

    #[test]
    fn a_snapshot_has_the_facts_of_its_slot_whatever_their_number() {
        for (seeds, parts) in [(0, 1), (1, 1), (PART / 200, 1), (2 * PART / 200 + 3, 3)] {
            let snapshot = snapshot(seeds);
            let (object, mark) = snapshot.encode(Slot(7), 41);
            assert_eq!(mark.object, "snapshots/007-00000000000000000041");
            let (head, _): (SnapshotHead, &[u8]) = postcard::take_from_bytes(&object).unwrap();
            assert_eq!(head.parts.len(), parts, "{seeds}");
            let read = SlotSnapshot::decode(Slot(7), &mark, &object).unwrap();
            assert_eq!(read, snapshot);
        }
    }

    #[test]
    fn a_damaged_snapshot_is_an_error_that_names_it() {
        let (object, mark) = snapshot(3).encode(Slot(7), 41);
        let damaged = |mark: &SnapshotMark, object: &[u8]| {
            let error = SlotSnapshot::decode(Slot(7), mark, object).unwrap_err();
            let text = error.to_string();
            assert!(
                text.contains(&mark.object) && text.contains("slot 7"),
                "{text}"
            );
        };
        for place in 0..object.len() {
            let mut changed = object.clone();
            changed[place] ^= 1;
            damaged(&mark, &changed);
        }
        damaged(&mark, &object[..object.len() - 1]);
        damaged(&mark, &[]);
        // Intact, but not what the message names.
        let other = SnapshotMark {
            after: 40,
            ..mark.clone()
        };
        damaged(&other, &object);
        assert!(SlotSnapshot::decode(Slot(6), &mark, &object).is_err());
    }

    #[test]
    fn marks_survive_the_wire() {
        let (_, mark) = snapshot(3).encode(Slot(7), 41);
        let header = Header {
            kind: Kind::Snapshot,
            ..snapshot(0).owner
        };
        let message = encode_mark(&header, &mark);
        let (read, body) = decode_header(&message).unwrap();
        assert_eq!((read, decode_mark(body).unwrap()), (header, mark));
    }
}
