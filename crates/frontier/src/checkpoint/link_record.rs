//! The records of links in a base: the links of one page each, with the stored anchor texts.

use page::{HostId, PageId};

use super::page_record::take_bytes;
use super::varint::{bytes_of, put, take_array, take_u32};
use super::{BLOCK, BaseBlocks, DamagedCheckpoint};
use crate::owner::Partition;
use crate::record::{OutLinks, PageKey};

/// What a record may have in common with the record before it: partition and host of the page.
#[derive(Default)]
struct LinkBefore {
    partition: u8,
    host: u64,
}

/// A block of link records that is being written.
#[derive(Default)]
pub struct LinkBlock {
    before: LinkBefore,
    bytes: Vec<u8>,
}

impl LinkBlock {
    /// Appends the links of a page. Pages must come in the order of their keys.
    pub fn push(&mut self, key: PageKey, links: &OutLinks) {
        let (before, out) = (&mut self.before, &mut self.bytes);
        let host = key.page.host().0;
        let new_host = host != before.host || key.partition.0 != before.partition;
        out.push(u8::from(new_host));
        if new_host {
            (before.partition, before.host) = (key.partition.0, host);
            out.push(before.partition);
            out.extend(before.host.to_le_bytes());
        }
        out.extend(key.page.within_host().to_le_bytes());
        put_links(links, out);
    }

    /// Returns whether the block should be written now.
    pub fn is_full(&self) -> bool {
        self.bytes.len() >= BLOCK
    }

    /// Returns the bytes of the block.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Appends the links of a page.
pub(super) fn put_links(links: &OutLinks, out: &mut Vec<u8>) {
    put(u64::from(links.out_links), out);
    put(links.steps().len() as u64, out);
    for step in links.steps() {
        put(u64::from(*step), out);
    }
    let anchors = links.anchors();
    let header = |place: u32, text: &str| bytes_of(place.into()) + bytes_of(text.len() as u64);
    let bytes = |(place, text): &(u32, String)| header(*place, text) + text.len();
    put(anchors.iter().map(bytes).sum::<usize>() as u64, out);
    for (place, text) in anchors {
        put(u64::from(*place), out);
        put(text.len() as u64, out);
        out.extend(text.as_bytes());
    }
}

/// Removes the links of a page from the front of `bytes`. Skips the anchor texts unless they are
/// wanted.
pub(super) fn take_links(bytes: &mut &[u8], wanted: bool) -> Option<OutLinks> {
    let out_links = take_u32(bytes)?;
    let count = take_u32(bytes)? as usize;
    // Each step takes at least a byte.
    let mut steps = Vec::with_capacity(count.min(bytes.len()));
    for _ in 0..count {
        steps.push(take_u32(bytes)?);
    }
    let mut rest = take_bytes(bytes)?;
    let mut anchors = Vec::new();
    while wanted && !rest.is_empty() {
        let place = take_u32(&mut rest)?;
        let text = std::str::from_utf8(take_bytes(&mut rest)?).ok()?;
        anchors.push((place, text.to_owned()));
    }
    Some(OutLinks::of_steps(out_links, steps, anchors))
}

impl LinkBefore {
    fn take(&mut self, bytes: &mut &[u8], anchors: bool) -> Option<(PageKey, OutLinks)> {
        let [new_host] = take_array(bytes)?;
        if new_host != 0 {
            [self.partition] = take_array(bytes)?;
            self.host = u64::from_le_bytes(take_array(bytes)?);
        }
        let within = u64::from_le_bytes(take_array(bytes)?);
        let key = PageKey {
            partition: Partition(self.partition),
            page: PageId::new(HostId(self.host), within),
        };
        Some((key, take_links(bytes, anchors)?))
    }
}

/// The link records of a base, in the order of their keys.
pub(super) struct LinkRecords<'a, B> {
    base: &'a B,
    /// Number of blocks that were read.
    blocks: usize,
    block: Vec<u8>,
    /// Number of bytes of the block that were read.
    at: usize,
    before: LinkBefore,
    /// Whether anchor texts are wanted.
    anchors: bool,
}

impl<'a, B: BaseBlocks> LinkRecords<'a, B> {
    pub fn new(base: &'a B, anchors: bool) -> Self {
        Self {
            anchors,
            base,
            blocks: 0,
            block: Vec::new(),
            at: 0,
            before: LinkBefore::default(),
        }
    }

    /// Returns the next record; `None` after the last one.
    fn read(&mut self) -> Result<Option<(PageKey, OutLinks)>, DamagedCheckpoint> {
        while self.at == self.block.len() {
            if !self.base.read_links(self.blocks, &mut self.block)? {
                return Ok(None);
            }
            self.blocks += 1;
            self.at = 0;
            self.before = LinkBefore::default();
        }
        let mut rest = &self.block[self.at..];
        let record = self.before.take(&mut rest, self.anchors);
        let record = record.ok_or(DamagedCheckpoint)?;
        self.at = self.block.len() - rest.len();
        Ok(Some(record))
    }
}

impl<B: BaseBlocks> Iterator for LinkRecords<'_, B> {
    type Item = Result<(PageKey, OutLinks), DamagedCheckpoint>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}
