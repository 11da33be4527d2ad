//! The checkpoint: a compact copy of the facts that a start reads, as bytes.
//!
//! A start needs few fields of each record, and needs them in the order of the keys. The ledger has
//! the records in full, so a start that reads it takes several times as long. A checkpoint has two
//! parts:
//!
//! - The *base* has all pages with their last visits, and the links of all pages, in the order of
//!   their keys. It consists of blocks that can be read one by one ([`PageBlock`], [`LinkBlock`]).
//! - The *tail* has the facts of each commit after the base ([`tail_block`]).
//!
//! [`CheckpointFacts`] merges the two and is a source of facts like the ledger.
//!
//! **Invariant:** base and tail give the same facts as the ledger at the sequence number of the
//! last commit in the tail, as far as [`Frontier::recall`](crate::Frontier::recall) reads them
//! ([`Known::for_start`]). So a core that is restored from a checkpoint takes the same actions as
//! one that is restored from the ledger. A checkpoint has no opinion of a policy, so it is good for
//! every policy.
//!
//! This module has no I/O. The crate `ledger` writes the bytes to a file and guards them by
//! checksums.

mod link_record;
mod merge;
mod page_record;
mod tail;
mod varint;

use page::HostId;
use policy::Moment;

use crate::bench::ServerKey;
use crate::facts::Facts;
use crate::record::{HostFacts, Known, OutLinks, PageKey, ServerFacts};

use link_record::LinkRecords;
use merge::{MergedLinks, MergedPages};
use page_record::PageRecords;

pub use link_record::LinkBlock;
pub use page_record::PageBlock;
pub use tail::{TailEvents, deletion_block, tail_block};

/// Size in bytes from which a block of the base is full.
const BLOCK: usize = 1 << 16;

/// The checkpoint contains bytes that are no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DamagedCheckpoint;

/// The blocks of a base.
pub trait BaseBlocks {
    /// Replaces `into` by the block of pages with this index. Returns `false` if there is none.
    fn read_pages(&self, index: usize, into: &mut Vec<u8>) -> Result<bool, DamagedCheckpoint>;

    /// Replaces `into` by the block of links with this index. Returns `false` if there is none.
    fn read_links(&self, index: usize, into: &mut Vec<u8>) -> Result<bool, DamagedCheckpoint>;
}

/// A base in memory.
#[derive(Debug, Clone, Default)]
pub struct MemoryBase {
    /// The blocks of pages.
    pub pages: Vec<Vec<u8>>,
    /// The blocks of links.
    pub links: Vec<Vec<u8>>,
}

impl BaseBlocks for MemoryBase {
    fn read_pages(&self, index: usize, into: &mut Vec<u8>) -> Result<bool, DamagedCheckpoint> {
        Ok(copy(self.pages.get(index), into))
    }

    fn read_links(&self, index: usize, into: &mut Vec<u8>) -> Result<bool, DamagedCheckpoint> {
        Ok(copy(self.links.get(index), into))
    }
}

fn copy(block: Option<&Vec<u8>>, into: &mut Vec<u8>) -> bool {
    into.clear();
    into.extend(block.into_iter().flatten());
    block.is_some()
}

/// The facts of a checkpoint. Hosts, servers and single values come from the ledger.
pub struct CheckpointFacts<'a, B, F> {
    base: &'a B,
    tail: &'a TailEvents,
    ledger: &'a F,
    /// Whether links have their anchor texts.
    anchors: bool,
}

impl<'a, B: BaseBlocks, F: Facts> CheckpointFacts<'a, B, F> {
    /// Returns the facts of base and tail. `ledger` has the other facts.
    pub fn new(base: &'a B, tail: &'a TailEvents, ledger: &'a F) -> Self {
        Self {
            base,
            tail,
            ledger,
            anchors: true,
        }
    }

    /// Leaves out the anchor texts of links, for policies that do not need them.
    #[must_use]
    pub fn without_anchors(self) -> Self {
        Self {
            anchors: false,
            ..self
        }
    }

    fn damaged(_: DamagedCheckpoint) -> F::Error {
        F::damaged("the checkpoint".to_owned())
    }
}

impl<B: BaseBlocks, F: Facts> Facts for CheckpointFacts<'_, B, F> {
    type Error = F::Error;

    fn pages(&self) -> impl Iterator<Item = Result<Known, F::Error>> {
        let kept = |page: &Result<Known, DamagedCheckpoint>| match page {
            Ok(known) => !self.tail.deletes(known.key.partition),
            Err(_) => true,
        };
        let pages = PageRecords::new(self.base).filter(kept);
        let pages = MergedPages::new(pages, self.tail);
        pages.map(|page| page.map_err(Self::damaged))
    }

    fn links(&self) -> impl Iterator<Item = Result<(PageKey, OutLinks), F::Error>> {
        let kept = |links: &Result<(PageKey, OutLinks), DamagedCheckpoint>| match links {
            Ok((key, _)) => !self.tail.deletes(key.partition),
            Err(_) => true,
        };
        let links = LinkRecords::new(self.base, self.anchors).filter(kept);
        let links = MergedLinks::new(links, self.tail, self.anchors);
        links.map(|links| links.map_err(Self::damaged))
    }

    fn hosts(&self) -> impl Iterator<Item = Result<(HostId, HostFacts), F::Error>> {
        self.ledger.hosts()
    }

    fn servers(&self) -> impl Iterator<Item = Result<(ServerKey, ServerFacts), F::Error>> {
        self.ledger.servers()
    }

    fn noticed_ahead(&self) -> Result<Option<Moment>, F::Error> {
        self.ledger.noticed_ahead()
    }

    fn first_free(&self) -> Result<u32, F::Error> {
        self.ledger.first_free()
    }

    fn damaged(what: String) -> F::Error {
        F::damaged(what)
    }
}

/// Writes a base from the facts of a ledger or of an earlier checkpoint. Passes each full block to
/// `pages` or `links`.
pub fn write_base<F: Facts, E: From<F::Error>>(
    facts: &F,
    mut pages: impl FnMut(&[u8]) -> Result<(), E>,
    mut links: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut block = PageBlock::default();
    for known in facts.pages() {
        block.push(&known?);
        if block.is_full() {
            pages(block.bytes())?;
            block = PageBlock::default();
        }
    }
    if !block.bytes().is_empty() {
        pages(block.bytes())?;
    }
    let mut block = LinkBlock::default();
    for record in facts.links() {
        let (key, found) = record?;
        block.push(key, &found);
        if block.is_full() {
            links(block.bytes())?;
            block = LinkBlock::default();
        }
    }
    if !block.bytes().is_empty() {
        links(block.bytes())?;
    }
    Ok(())
}

impl MemoryBase {
    /// Returns the base of these facts.
    pub fn of<F: Facts>(facts: &F) -> Result<Self, F::Error> {
        let (mut pages, mut links) = (Vec::new(), Vec::new());
        write_base::<F, F::Error>(
            facts,
            |block| {
                pages.push(block.to_vec());
                Ok(())
            },
            |block| {
                links.push(block.to_vec());
                Ok(())
            },
        )?;
        Ok(Self { pages, links })
    }
}

#[cfg(test)]
mod tests;
