//! The binary encoding of records and their keys.
//!
//! A record is one version byte, then the data in the postcard format. A record with an unknown
//! version byte is rejected as damaged, so that it is never misread. The record of a visit ends
//! with the sums of the measured gains of its page. Format 4 of the store had no such sums, and
//! format 5 had other ones. For these records, the sums are computed from the last revisits, which
//! are in the record.

use std::net::{IpAddr, Ipv6Addr};

use frontier::{PageCopy, PageKey, Partition, ServerKey, Visited};
use page::{HostId, PageId, RecordLocation};
use policy::History;
use policy::history::Measured;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::LedgerError;

/// The version byte of all records except visits, and of visits in formats 4 and 5 of the store.
const VERSION: u8 = 4;
/// The version byte of visits since format 6 of the store, which changed the sums.
const VISIT_VERSION: u8 = 6;

/// Bytes that are allocated for a record at first: most records need fewer.
const USUAL: usize = 256;

/// Returns the key of a page's records.
pub(crate) fn page_key(key: PageKey) -> [u8; 17] {
    let mut bytes = [0; 17];
    bytes[0] = key.partition.0;
    bytes[1..].copy_from_slice(&key.page.0.to_be_bytes());
    bytes
}

/// Returns the page that a key names. Returns `None` if the key is no page key.
pub(crate) fn page_of(bytes: &[u8]) -> Option<PageKey> {
    let (&partition, id) = bytes.split_first()?;
    let id = u128::from_be_bytes(id.try_into().ok()?);
    Some(PageKey {
        partition: Partition(partition),
        page: PageId(id),
    })
}

/// Returns the key of a host's record.
pub(crate) fn host_key(partition: Partition, host: HostId) -> [u8; 9] {
    let mut bytes = [partition.0; 9];
    bytes[1..].copy_from_slice(&host.0.to_be_bytes());
    bytes
}

/// Returns the host that a key names. Returns `None` if the key is no host key.
pub(crate) fn host_of(bytes: &[u8]) -> Option<HostId> {
    let id = bytes.get(1..)?.try_into().ok()?;
    Some(HostId(u64::from_be_bytes(id)))
}

/// Returns the key of a server that is known by its address: 16 bytes, an IPv4 address as an
/// IPv4-mapped one.
pub(crate) fn address_bytes(address: IpAddr) -> [u8; 16] {
    let address = match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    };
    address.octets()
}

/// Returns the server that a key names. Returns `None` if the key is neither an address nor a
/// host.
pub(crate) fn server_key(bytes: &[u8]) -> Option<ServerKey> {
    if let Ok(host) = bytes.try_into() {
        return Some(ServerKey::Host(HostId(u64::from_be_bytes(host))));
    }
    let address: [u8; 16] = bytes.try_into().ok()?;
    let address = IpAddr::V6(Ipv6Addr::from(address));
    Some(ServerKey::Address(address.to_canonical()))
}

/// Encodes a record.
pub fn encode<T: Serialize>(record: &T) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(USUAL);
    bytes.push(VERSION);
    // postcard fails only on full buffers and on sequences of unknown length.
    postcard::to_extend(record, bytes)
        .expect("a record is plain data of known length, written to memory that grows")
}

/// Decodes a record, which must fill `bytes` exactly. `what` names the record in an error.
pub fn decode<T: DeserializeOwned>(
    bytes: &[u8],
    what: impl Fn() -> String,
) -> Result<T, LedgerError> {
    let record = bytes.strip_prefix(&[VERSION]);
    match record.map(postcard::take_from_bytes) {
        Some(Ok((record, []))) => Ok(record),
        _ => Err(LedgerError::Damaged { what: what() }),
    }
}

/// A visit with another sequence number. The fields are those of [`Visited`], in the same order.
#[derive(Serialize)]
struct NumberedVisit<'a> {
    history: &'a History,
    sequence: u64,
    status: &'a Option<u16>,
    error: &'a Option<String>,
    bytes: u64,
    kept_share: &'a Option<f32>,
    place: &'a Option<RecordLocation>,
    copy: &'a Option<PageCopy>,
}

/// Encodes the record of a visit that a commit with this sequence number stores.
pub(crate) fn encode_visit(visited: &Visited, sequence: u64) -> Vec<u8> {
    let mut record = encode(&NumberedVisit {
        history: &visited.history,
        sequence,
        status: &visited.status,
        error: &visited.error,
        bytes: visited.bytes,
        kept_share: &visited.kept_share,
        place: &visited.place,
        copy: &visited.copy,
    });
    record[0] = VISIT_VERSION;
    postcard::to_extend(&visited.history.measured, record)
        .expect("sums are plain data of known length, written to memory that grows")
}

/// Decodes the record of a visit. `what` names it in an error.
pub(crate) fn decode_visit(
    bytes: &[u8],
    what: impl Fn() -> String,
) -> Result<Visited, LedgerError> {
    let decoded = || {
        let (version, record) = bytes.split_first()?;
        let (mut visited, sums): (Visited, &[u8]) = postcard::take_from_bytes(record).ok()?;
        visited.history.measured = match *version {
            VISIT_VERSION => match postcard::take_from_bytes(sums) {
                Ok((measured, [])) => measured,
                _ => return None,
            },
            // Formats 4 and 5: without sums, or with other sums.
            VERSION => Measured::of_window(&visited.history.recent),
            _ => return None,
        };
        Some(visited)
    };
    decoded().ok_or_else(|| LedgerError::Damaged { what: what() })
}
