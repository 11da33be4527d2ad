//! The records of pages in a base.
//!
//! A record leaves out what it has in common with the record before it: the host, and the beginning
//! of the URL. The first record of a block has everything, so each block can be read alone.

use page::{Fingerprint, HostId, PageId, Simhash, TextDigest};
use policy::history::Measured;
use policy::{History, Moment};

use super::varint::{put, take, take_array, take_u32, unzigzag, zigzag};
use super::{BLOCK, BaseBlocks, DamagedCheckpoint};
use crate::owner::Partition;
use crate::record::{Discovery, Known, PageCopy, PageKey, Visited};

/// The page is of another host than the page before it.
const NEW_HOST: u8 = 1;
/// A page of the same host links to it.
const SOURCE_OF_HOST: u8 = 2;
/// A page of another host links to it.
const SOURCE: u8 = 4;
/// [`Discovery::absent`] is known.
const ABSENT: u8 = 8;
/// It was visited.
const VISITED: u8 = 16;
/// The pattern of its URL follows.
const PATTERN: u8 = 32;

/// The visit ended with an error.
const ERROR: u8 = 1;
/// There is a copy.
const COPY: u8 = 2;
/// The copy has a text.
const TEXT: u8 = 4;
/// Gains were measured.
const MEASURED: u8 = 8;

/// What a record may have in common with the record before it.
#[derive(Default)]
struct PageBefore {
    partition: u8,
    host: u64,
    /// When it was discovered, in microseconds.
    at: u64,
    url: Vec<u8>,
}

/// A block of page records that is being written.
#[derive(Default)]
pub struct PageBlock {
    before: PageBefore,
    bytes: Vec<u8>,
}

impl PageBlock {
    /// Appends what a start reads of a page. Pages must come in the order of their keys.
    pub fn push(&mut self, known: &Known) {
        let (before, out) = (&mut self.before, &mut self.bytes);
        let (page, discovery) = (known.key.page, &known.discovery);
        let new_host = page.host().0 != before.host || known.key.partition.0 != before.partition;
        let source_of_host = discovery.source.is_some_and(|of| of.host() == page.host());
        // A start needs the patterns of pages with a text.
        let pattern = known.text().and_then(|_| known.pattern());
        let mut flags = 0;
        for (flag, set) in [
            (PATTERN, pattern.is_some()),
            (NEW_HOST, new_host),
            (SOURCE_OF_HOST, source_of_host),
            (SOURCE, discovery.source.is_some() && !source_of_host),
            (ABSENT, discovery.absent.is_some()),
            (VISITED, known.visited.is_some()),
        ] {
            flags |= if set { flag } else { 0 };
        }
        out.push(flags);
        if new_host {
            (before.partition, before.host) = (known.key.partition.0, page.host().0);
            out.push(before.partition);
            out.extend(before.host.to_le_bytes());
        }
        out.extend(page.within_host().to_le_bytes());
        put(discovery.order, out);
        let at = discovery.at.micros();
        put(zigzag(at.wrapping_sub(before.at) as i64), out);
        before.at = at;
        put(u64::from(discovery.depth), out);
        out.push(discovery.hops);
        match discovery.source {
            Some(source) if source_of_host => out.extend(source.within_host().to_le_bytes()),
            Some(source) => out.extend(source.0.to_le_bytes()),
            None => {}
        }
        if let Some(absent) = discovery.absent {
            put(absent.micros(), out);
        }
        put_url(discovery.url.as_bytes(), &mut before.url, out);
        if let Some(pattern) = pattern {
            out.extend(pattern.to_le_bytes());
        }
        if let Some(visited) = &known.visited {
            put_visit(visited, out);
        }
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

/// Appends a URL without the bytes at its start that it has in common with the URL before it.
fn put_url(url: &[u8], before: &mut Vec<u8>, out: &mut Vec<u8>) {
    let common = url.iter().zip(before.iter());
    let common = common.take_while(|(a, b)| a == b).count();
    put(common as u64, out);
    put((url.len() - common) as u64, out);
    out.extend(&url[common..]);
    before.truncate(common);
    before.extend(&url[common..]);
}

/// Appends what a start reads of a visit.
pub(super) fn put_visit(visited: &Visited, out: &mut Vec<u8>) {
    let copy = visited.copy.as_ref();
    let text = copy.and_then(|copy| copy.text.as_ref());
    let measured = visited.history.measured != Measured::default();
    let mut flags = 0;
    for (flag, set) in [
        (ERROR, visited.error.is_some()),
        (COPY, copy.is_some()),
        (TEXT, text.is_some()),
        (MEASURED, measured),
    ] {
        flags |= if set { flag } else { 0 };
    }
    out.push(flags);
    serialize(&visited.history, out);
    if measured {
        serialize(&visited.history.measured, out);
    }
    if let Some(error) = &visited.error {
        put(error.len() as u64, out);
        out.extend(error.as_bytes());
    }
    if let Some(text) = text {
        out.extend(text.fingerprint.0.to_le_bytes());
        out.extend(text.simhash.0.to_le_bytes());
        put(u64::from(text.words), out);
    }
}

/// Removes a visit from the front of `bytes`.
pub(super) fn take_visit(bytes: &mut &[u8]) -> Option<Visited> {
    let [flags] = take_array(bytes)?;
    let mut history: History = deserialize(bytes)?;
    if flags & MEASURED != 0 {
        history.measured = deserialize(bytes)?;
    }
    let error = match flags & ERROR {
        0 => None,
        _ => Some(String::from_utf8(take_bytes(bytes)?.to_vec()).ok()?),
    };
    let text = match flags & TEXT {
        0 => None,
        _ => Some(TextDigest {
            fingerprint: Fingerprint(u64::from_le_bytes(take_array(bytes)?)),
            simhash: Simhash(u64::from_le_bytes(take_array(bytes)?)),
            words: take_u32(bytes)?,
            shingles: page::Shingles::default(),
        }),
    };
    let copy = PageCopy {
        text,
        ..PageCopy::default()
    };
    Some(Visited {
        history,
        error,
        copy: (flags & COPY != 0).then_some(copy),
        ..Visited::default()
    })
}

pub(super) fn take_bytes<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take(bytes)?).ok()?;
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

/// Appends a record in the postcard format.
pub(super) fn serialize<T: serde::Serialize>(record: &T, out: &mut Vec<u8>) {
    *out = postcard::to_extend(record, std::mem::take(out))
        .expect("a record is plain data of known length, written to memory that grows");
}

/// Removes a record in the postcard format from the front of `bytes`.
pub(super) fn deserialize<'a, T: serde::Deserialize<'a>>(bytes: &mut &'a [u8]) -> Option<T> {
    let (record, rest) = postcard::take_from_bytes(bytes).ok()?;
    *bytes = rest;
    Some(record)
}

impl PageBefore {
    /// Removes the next record from the front of `bytes`.
    fn take(&mut self, bytes: &mut &[u8]) -> Option<Known> {
        let [flags] = take_array(bytes)?;
        if flags & NEW_HOST != 0 {
            [self.partition] = take_array(bytes)?;
            self.host = u64::from_le_bytes(take_array(bytes)?);
        }
        let host = HostId(self.host);
        let page = PageId::new(host, u64::from_le_bytes(take_array(bytes)?));
        let order = take(bytes)?;
        self.at = self.at.wrapping_add(unzigzag(take(bytes)?) as u64);
        let depth = u16::try_from(take(bytes)?).ok()?;
        let [hops] = take_array(bytes)?;
        let source = match flags & (SOURCE | SOURCE_OF_HOST) {
            0 => None,
            SOURCE_OF_HOST => Some(PageId::new(host, u64::from_le_bytes(take_array(bytes)?))),
            _ => Some(PageId(u128::from_le_bytes(take_array(bytes)?))),
        };
        let absent = match flags & ABSENT {
            0 => None,
            _ => Some(Moment::from_micros(take(bytes)?)),
        };
        let common = usize::try_from(take(bytes)?).ok()?;
        let rest = take_bytes(bytes)?;
        (common <= self.url.len()).then(|| self.url.truncate(common))?;
        self.url.extend(rest);
        let url = std::str::from_utf8(&self.url).ok()?.to_owned();
        let pattern = match flags & PATTERN {
            0 => None,
            _ => Some(u64::from_le_bytes(take_array(bytes)?)),
        };
        let visited = match flags & VISITED {
            0 => None,
            _ => Some(take_visit(bytes)?),
        };
        Some(Known {
            key: PageKey {
                partition: Partition(self.partition),
                page,
            },
            discovery: Discovery {
                url,
                order,
                at: Moment::from_micros(self.at),
                depth,
                hops,
                source,
                absent,
            },
            visited,
            pattern,
        })
    }
}

/// The page records of a base, in the order of their keys.
pub(super) struct PageRecords<'a, B> {
    base: &'a B,
    /// Number of blocks that were read.
    blocks: usize,
    block: Vec<u8>,
    /// Number of bytes of the block that were read.
    at: usize,
    before: PageBefore,
}

impl<'a, B: BaseBlocks> PageRecords<'a, B> {
    pub fn new(base: &'a B) -> Self {
        Self {
            base,
            blocks: 0,
            block: Vec::new(),
            at: 0,
            before: PageBefore::default(),
        }
    }

    /// Returns the next record; `None` after the last one.
    fn read(&mut self) -> Result<Option<Known>, DamagedCheckpoint> {
        while self.at == self.block.len() {
            if !self.base.read_pages(self.blocks, &mut self.block)? {
                return Ok(None);
            }
            self.blocks += 1;
            self.at = 0;
            self.before = PageBefore::default();
        }
        let mut rest = &self.block[self.at..];
        let known = self.before.take(&mut rest).ok_or(DamagedCheckpoint)?;
        self.at = self.block.len() - rest.len();
        Ok(Some(known))
    }
}

impl<B: BaseBlocks> Iterator for PageRecords<'_, B> {
    type Item = Result<Known, DamagedCheckpoint>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}
