//! The messages of the log of a slot, and the offers of pages between slots, as bytes.
//!
//! A message begins with a version byte and a header that names the node, its epoch and the kind
//! of the message. The last message of a slot therefore says who owns the slot. The body of a
//! batch follows, in the postcard format, compressed with zstd.
//!
//! Facts name pages by host and hash, with a table of the hosts of the batch: 10 bytes instead of
//! 17. Links name pages by the numbers of the owner's ledger. [`Kind::Claim`] says how a new owner
//! numbers the pages that it takes over.

use std::collections::HashMap;

use frontier::{Discovery, Entry, HostFacts, OutLinks, PageKey, Partition, Visited};
use page::{HostId, PageId, PageUrl};
use policy::Moment;
use policy::history::Measured;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::copies::ReachableFiles;

/// The version byte of all messages. A node refuses messages of another version, so nodes of two
/// versions cannot misread each other.
const VERSION: u8 = 3;

/// Compression level of zstd. Higher levels save less than 5 % on batches of this size.
const LEVEL: i32 = 3;

/// Largest size of a decompressed body, in bytes. A damaged message cannot exhaust the memory.
const BODY_LIMIT: usize = 64 << 20;

/// The name of a node. It is unique in its cluster, and stays the same after a restart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeName(String);

impl NodeName {
    /// Returns the name if it has 1 to 40 lower-case letters, digits and hyphens. Names become
    /// parts of broker subjects.
    pub fn new(name: &str) -> Option<Self> {
        let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let fits = (1..=40).contains(&name.len()) && name.bytes().all(legal);
        fits.then(|| Self(name.to_owned()))
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for NodeName {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The beginning of every message of a slot's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The node that wrote the message.
    pub node: NodeName,
    /// The fencing token: it grows with every claim of the slot.
    pub epoch: u64,
    /// What the message says.
    pub kind: Kind,
}

/// What a message of a slot's log says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// The node becomes the owner of the slot.
    Claim {
        /// The number that the node gives to the first page of the slot; the others follow in the
        /// order of their old numbers. The body of the message names the archive files that the
        /// node can read; pages whose copies are in others count as never visited
        /// ([`within_reach`]). `None`: the node has all facts and copies of the slot and keeps its
        /// numbers.
        ///
        /// [`within_reach`]: crate::copies::within_reach
        numbered_from: Option<u32>,
    },
    /// The node no longer owns the slot.
    Release,
    /// The node committed facts.
    Batch,
    /// The node wrote a snapshot of the slot. All earlier messages may be gone.
    Snapshot,
}

/// Facts of one slot that its owner committed together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FactBatch {
    /// The facts, in the order in which they were observed.
    pub entries: Vec<Entry>,
    /// Sequence of the last message of offers whose pages are in these or in earlier facts; 0:
    /// none.
    pub offers_applied: u64,
}

/// A message that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error(
    "a message of the cluster cannot be read ({0}): all nodes must run the same version of Avocet"
)]
pub struct Unreadable(&'static str);

impl Unreadable {
    /// Returns the error with its cause in words.
    pub(crate) fn new(why: &'static str) -> Self {
        Self(why)
    }
}

/// Returns the bytes of a message without facts.
pub fn encode_header(header: &Header) -> Vec<u8> {
    pack(header, vec![VERSION])
}

/// Returns the bytes of a claim by a node that can read these archive files.
pub fn encode_claim(header: &Header, reachable: &ReachableFiles) -> Vec<u8> {
    let mut message = encode_header(header);
    if !reachable.is_empty() {
        message.extend(compress(reachable));
    }
    message
}

/// Reads the rest of a message whose kind is [`Kind::Claim`].
pub fn decode_claim(body: &[u8]) -> Result<ReachableFiles, Unreadable> {
    match body {
        [] => Ok(ReachableFiles::default()),
        body => decompress(body),
    }
}

/// Returns the bytes of a batch with these facts. `offers_applied` is that of [`FactBatch`].
pub fn encode_batch(header: &Header, facts: &[&Entry], offers_applied: u64) -> Vec<u8> {
    let mut table = HostTable::default();
    let entries: Vec<BorrowedEntry<'_>> = facts.iter().map(|fact| table.entry(fact)).collect();
    let mut message = encode_header(header);
    message.extend(compress(&(offers_applied, table.hosts, entries)));
    message
}

/// Reads the header of a message. Returns it with the rest of the message.
pub fn decode_header(message: &[u8]) -> Result<(Header, &[u8]), Unreadable> {
    let header = message.strip_prefix(&[VERSION]);
    let header = header.ok_or(Unreadable("its version is unknown"))?;
    postcard::take_from_bytes(header).map_err(|_| Unreadable("its header is damaged"))
}

/// Reads the rest of a message whose kind is [`Kind::Batch`].
pub fn decode_batch(body: &[u8]) -> Result<FactBatch, Unreadable> {
    decompress::<WireBatch>(body)?.batch()
}

/// A page that one node offers to the owner of its slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct WireOffer {
    url: String,
    depth: u16,
    hops: u8,
    source: Option<PageId>,
}

/// Returns the bytes of a message of offers.
pub fn encode_offers(offers: &[crawl::Offer]) -> Vec<u8> {
    let wire = |offer: &crawl::Offer| WireOffer {
        url: offer.url.as_str().to_owned(),
        depth: offer.depth,
        hops: offer.hops,
        source: offer.source,
    };
    let offers: Vec<WireOffer> = offers.iter().map(wire).collect();
    let mut message = vec![VERSION];
    message.extend(compress(&offers));
    message
}

/// Reads a message of offers.
pub fn decode_offers(message: &[u8]) -> Result<Vec<crawl::Offer>, Unreadable> {
    let body = message.strip_prefix(&[VERSION]);
    let body = body.ok_or(Unreadable("its version is unknown"))?;
    let offers: Vec<WireOffer> = decompress(body)?;
    let read = |offer: WireOffer| {
        let url = PageUrl::parse(&offer.url).map_err(|_| Unreadable("a URL is damaged"))?;
        Ok(crawl::Offer {
            url,
            depth: offer.depth,
            hops: offer.hops,
            source: offer.source,
        })
    };
    offers.into_iter().map(read).collect()
}

/// A page, by the index of its host in the table of the batch and its hash within the host.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct PageRef {
    host: u32,
    within: u64,
}

#[derive(Debug, Deserialize)]
enum WireEntry {
    Admitted(PageRef, Discovery),
    Visited(PageRef, Box<Visited>, Measured),
    Links(PageRef, OutLinks),
    Signalled(PageRef, Moment),
    Host(u32, HostFacts),
    Seed(String),
}

/// A [`WireEntry`] that borrows its facts, so that they are not copied to be sent. The variants
/// have the same order.
#[derive(Debug, Serialize)]
enum BorrowedEntry<'a> {
    Admitted(PageRef, &'a Discovery),
    Visited(PageRef, &'a Visited, Measured),
    Links(PageRef, &'a OutLinks),
    Signalled(PageRef, Moment),
    Host(u32, &'a HostFacts),
    Seed(&'a str),
}

/// The table of the hosts of a batch.
#[derive(Default)]
struct HostTable {
    hosts: Vec<(Partition, HostId)>,
    places: HashMap<(Partition, HostId), u32>,
}

impl HostTable {
    fn host(&mut self, key: (Partition, HostId)) -> u32 {
        let hosts = &mut self.hosts;
        *self.places.entry(key).or_insert_with(|| {
            hosts.push(key);
            hosts.len() as u32 - 1
        })
    }

    fn page(&mut self, key: &PageKey) -> PageRef {
        PageRef {
            host: self.host((key.partition, key.page.host())),
            within: key.page.within_host(),
        }
    }

    fn entry<'a>(&mut self, entry: &'a Entry) -> BorrowedEntry<'a> {
        match entry {
            Entry::Admitted(key, discovery) => BorrowedEntry::Admitted(self.page(key), discovery),
            Entry::Visited(key, visited) => {
                let measured = visited.history.measured;
                BorrowedEntry::Visited(self.page(key), visited, measured)
            }
            Entry::Links(key, links) => BorrowedEntry::Links(self.page(key), links),
            Entry::Signalled(key, at) => BorrowedEntry::Signalled(self.page(key), *at),
            Entry::Host(partition, id, facts) => {
                BorrowedEntry::Host(self.host((*partition, *id)), facts)
            }
            Entry::Seed(url) => BorrowedEntry::Seed(url),
        }
    }
}

#[derive(Debug, Deserialize)]
struct WireBatch {
    offers_applied: u64,
    hosts: Vec<(Partition, HostId)>,
    entries: Vec<WireEntry>,
}

impl WireBatch {
    fn batch(self) -> Result<FactBatch, Unreadable> {
        let host = |index: u32| {
            let host = self.hosts.get(index as usize).copied();
            host.ok_or(Unreadable("a host is missing from its table"))
        };
        let page = |page: PageRef| {
            let (partition, id) = host(page.host)?;
            let page = PageId::new(id, page.within);
            Ok::<_, Unreadable>(PageKey { partition, page })
        };
        let read = |entry: WireEntry| {
            Ok(match entry {
                WireEntry::Admitted(key, discovery) => Entry::Admitted(page(key)?, discovery),
                WireEntry::Visited(key, mut visited, measured) => {
                    visited.history.measured = measured;
                    Entry::Visited(page(key)?, visited)
                }
                WireEntry::Links(key, links) => Entry::Links(page(key)?, links),
                WireEntry::Signalled(key, at) => Entry::Signalled(page(key)?, at),
                WireEntry::Host(index, facts) => {
                    let (partition, id) = host(index)?;
                    Entry::Host(partition, id, facts)
                }
                WireEntry::Seed(url) => Entry::Seed(url),
            })
        };
        Ok(FactBatch {
            offers_applied: self.offers_applied,
            entries: self
                .entries
                .into_iter()
                .map(read)
                .collect::<Result<_, _>>()?,
        })
    }
}

/// Appends a value in the postcard format.
pub(crate) fn pack<T: Serialize>(value: &T, to: Vec<u8>) -> Vec<u8> {
    postcard::to_extend(value, to)
        .expect("a message is plain data of known length, written to memory that grows")
}

/// Returns a value in the postcard format, compressed.
pub(crate) fn compress<T: Serialize>(value: &T) -> Vec<u8> {
    zstd::bulk::compress(&pack(value, Vec::new()), LEVEL).expect("zstd compresses in memory")
}

/// Reads a value that [`compress`] wrote.
pub(crate) fn decompress<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Unreadable> {
    let plain = zstd::bulk::decompress(bytes, BODY_LIMIT);
    let plain = plain.map_err(|_| Unreadable("its body cannot be decompressed"))?;
    match postcard::take_from_bytes(&plain) {
        Ok((value, [])) => Ok(value),
        _ => Err(Unreadable("its body is damaged")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(kind: Kind) -> Header {
        Header {
            node: NodeName::new("a-1").unwrap(),
            epoch: 7,
            kind,
        }
    }

    #[test]
    fn every_kind_of_fact_survives_the_wire() {
        let url = PageUrl::parse("http://example.org/a").unwrap();
        let key = PageKey::of(&url);
        let discovery = Discovery {
            url: url.as_str().into(),
            order: 3,
            at: Moment::from_micros(5),
            depth: 2,
            hops: 1,
            source: Some(url.id()),
            absent: Some(Moment::from_micros(4)),
        };
        let mut visited = Visited {
            status: Some(200),
            error: Some("bad".into()),
            bytes: 9,
            ..Visited::default()
        };
        visited.history = visited.history.gained(2.5);
        let batch = FactBatch {
            entries: vec![
                Entry::Admitted(key, discovery),
                Entry::Visited(key, Box::new(visited)),
                Entry::Links(
                    key,
                    OutLinks::new(3, vec![(1, "one".into()), (9, String::new())]),
                ),
                Entry::Signalled(key, Moment::from_micros(8)),
                Entry::Host(key.partition, url.host(), HostFacts::default()),
                Entry::Seed("http://example.org/".into()),
            ],
            offers_applied: 11,
        };
        let facts: Vec<&Entry> = batch.entries.iter().collect();
        let message = encode_batch(&header(Kind::Batch), &facts, 11);
        let (read, body) = decode_header(&message).unwrap();
        assert_eq!(read, header(Kind::Batch));
        assert_eq!(decode_batch(body).unwrap(), batch);
    }

    #[test]
    fn offers_survive_the_wire() {
        let offers = ["http://a.org/", "https://b.org/x?y=1"].map(|url| crawl::Offer {
            url: PageUrl::parse(url).unwrap(),
            depth: 4,
            hops: 2,
            source: Some(PageUrl::parse("http://c.org/").unwrap().id()),
        });
        assert_eq!(decode_offers(&encode_offers(&offers)).unwrap(), offers);
    }

    #[test]
    fn damaged_messages_are_refused() {
        let claim = encode_header(&header(Kind::Claim {
            numbered_from: Some(1),
        }));
        assert!(decode_header(&claim[..2]).is_err());
        assert!(decode_header(&[1, 0, 0]).is_err(), "another version");
        let batch = encode_batch(&header(Kind::Batch), &[], 0);
        let (_, body) = decode_header(&batch).unwrap();
        assert!(decode_batch(&body[..body.len() - 1]).is_err());
        assert!(decode_offers(&batch).is_err());
    }

    #[test]
    fn names_of_nodes_fit_into_subjects() {
        for (name, fits) in [
            ("a", true),
            ("node-7", true),
            ("", false),
            ("a.b", false),
            ("A", false),
        ] {
            assert_eq!(NodeName::new(name).is_some(), fits, "{name}");
        }
        assert!(NodeName::new(&"a".repeat(41)).is_none());
    }
}
