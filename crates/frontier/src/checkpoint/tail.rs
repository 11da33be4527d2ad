//! The tail: the facts of commits after the base.

use std::ops::RangeInclusive;

use page::PageId;
use policy::Moment;

use super::DamagedCheckpoint;
use super::link_record::{put_links, take_links};
use super::page_record::{deserialize, put_visit, serialize, take_visit};
use super::varint::{put, take, take_array};
use crate::owner::Partition;
use crate::record::{Discovery, Entry, OutLinks, PageKey, Visited};

const ADMITTED: u8 = 1;
const VISITED: u8 = 2;
const LINKS: u8 = 3;
const SIGNALLED: u8 = 4;
const DELETED: u8 = 5;

/// Returns the facts of a commit that a start reads, as a block.
pub fn tail_block(entries: &[Entry]) -> Vec<u8> {
    let mut block = Vec::new();
    let mut content = Vec::new();
    for entry in entries {
        content.clear();
        let (kind, key) = match entry {
            Entry::Admitted(key, discovery) => {
                serialize(discovery, &mut content);
                (ADMITTED, key)
            }
            Entry::Visited(key, visited) => {
                put_visit(visited, &mut content);
                (VISITED, key)
            }
            Entry::Links(key, links) => {
                put_links(links, &mut content);
                (LINKS, key)
            }
            Entry::Signalled(key, at) => {
                put(at.micros(), &mut content);
                (SIGNALLED, key)
            }
            // A start reads hosts and the targets of seeds from the ledger.
            Entry::Host(..) | Entry::Seed(_) => continue,
        };
        block.push(kind);
        block.push(key.partition.0);
        block.extend(key.page.0.to_le_bytes());
        put(content.len() as u64, &mut block);
        block.extend(&content);
    }
    block
}

/// Returns the block of a deletion: all pages of these partitions.
pub fn deletion_block(partitions: RangeInclusive<u8>) -> Vec<u8> {
    vec![DELETED, *partitions.start(), *partitions.end()]
}

/// The facts of a tail, in memory.
#[derive(Debug, Clone, Default)]
pub struct TailEvents {
    bytes: Vec<u8>,
    /// The partitions whose pages in the base are deleted.
    deleted: Vec<RangeInclusive<u8>>,
    /// Sorted by key, and those of one page in the order of the commits.
    events: Vec<TailEvent>,
    sorted: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TailEvent {
    pub key: PageKey,
    /// The index of its content in the bytes of the tail.
    at: usize,
}

/// A fact of the tail.
pub(super) enum TailFact {
    Admitted(Discovery),
    Visited(Box<Visited>),
    Links(OutLinks),
    Signalled(Moment),
}

impl TailEvents {
    /// Appends the block of the next commit.
    pub fn push(&mut self, block: &[u8]) -> Result<(), DamagedCheckpoint> {
        if let &[DELETED, first, last] = block {
            let partitions = first..=last;
            self.events
                .retain(|event| !partitions.contains(&event.key.partition.0));
            self.deleted.push(partitions);
            return Ok(());
        }
        let begin = self.bytes.len();
        self.bytes.extend(block);
        self.sorted = false;
        let mut rest = block;
        while !rest.is_empty() {
            let at = begin + block.len() - rest.len();
            let key = take_header(&mut rest).ok_or(DamagedCheckpoint)?;
            self.events.push(TailEvent { key, at });
        }
        Ok(())
    }

    /// Sorts the facts. The caller must do so after the last block.
    pub fn sort(&mut self) {
        if !self.sorted {
            self.events.sort_unstable();
            self.sorted = true;
        }
    }

    /// Returns whether the pages of the base in this partition are deleted.
    pub(super) fn deletes(&self, partition: Partition) -> bool {
        self.deleted
            .iter()
            .any(|partitions| partitions.contains(&partition.0))
    }

    /// Number of facts.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Returns whether there are no facts.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Returns all facts by page.
    pub(super) fn events(&self) -> &[TailEvent] {
        debug_assert!(self.sorted || self.events.is_empty(), "the tail is sorted");
        &self.events
    }

    /// Returns the content of a fact.
    pub(super) fn fact(&self, event: &TailEvent) -> Result<TailFact, DamagedCheckpoint> {
        self.read(event).ok_or(DamagedCheckpoint)
    }

    fn read(&self, event: &TailEvent) -> Option<TailFact> {
        let kind = self.bytes.get(event.at)?;
        let mut rest = self.bytes.get(event.at + HEADER..)?;
        let length = usize::try_from(take(&mut rest)?).ok()?;
        let mut content = rest.get(..length)?;
        let fact = match *kind {
            ADMITTED => TailFact::Admitted(deserialize(&mut content)?),
            VISITED => TailFact::Visited(Box::new(take_visit(&mut content)?)),
            LINKS => TailFact::Links(take_links(&mut content, true)?),
            SIGNALLED => TailFact::Signalled(Moment::from_micros(take(&mut content)?)),
            _ => return None,
        };
        content.is_empty().then_some(fact)
    }
}

/// Bytes before the length of a fact: its kind, and the key of its page.
const HEADER: usize = 18;

/// Removes a fact from the front of `bytes`, and returns the key of its page.
fn take_header(bytes: &mut &[u8]) -> Option<PageKey> {
    let [_, partition] = take_array(bytes)?;
    let page = PageId(u128::from_le_bytes(take_array(bytes)?));
    let length = usize::try_from(take(bytes)?).ok()?;
    *bytes = bytes.get(length..)?;
    Some(PageKey {
        partition: Partition(partition),
        page,
    })
}
