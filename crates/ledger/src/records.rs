//! Raw access to the records of the ledger: in the database of this process, in a consistent
//! snapshot of it, or in the database of another process.

use std::io;
use std::sync::Arc;

use fjall::{Database, Keyspace, Readable, Slice, Snapshot};
use serde::{Deserialize, Serialize};

use crate::LedgerError;

/// A key above all keys of pages, hosts, servers and redirected seeds: the longest of the first
/// three has 17 bytes, and a URL has no byte 255.
const LAST: [u8; 18] = [u8::MAX; 18];
/// The size in bytes at which a [`RecordsAnswer`] ends. It is a compromise between memory and round
/// trips.
const PIECE: usize = 256 << 10;

/// A keyspace of the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LedgerPart {
    /// Discovered pages.
    Urls,
    /// Last visits.
    Visits,
    /// Links of pages.
    Links,
    /// Facts of hosts.
    Hosts,
    /// Politeness facts of servers.
    Servers,
    /// Single values.
    Meta,
}

/// A request for records of a ledger that another process has open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecordsRequest {
    /// The value of one key.
    Get(LedgerPart, Vec<u8>),
    /// The records from a key on, or after it, up to a last key, as many as an answer holds.
    Range {
        /// The keyspace.
        part: LedgerPart,
        /// The key to begin at.
        from: Vec<u8>,
        /// Whether to begin after the key.
        after: bool,
        /// The last key.
        to: Vec<u8>,
    },
    /// The bytes that the ledger takes on disk.
    DiskBytes,
}

/// An answer to a [`RecordsRequest`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecordsAnswer {
    /// The value of a key, if there is one.
    Value(Option<Vec<u8>>),
    /// Records in the order of their keys, and whether there are more.
    Records(Vec<(Vec<u8>, Vec<u8>)>, bool),
    /// The bytes that the ledger takes on disk.
    DiskBytes(u64),
    /// The records could not be read.
    Failed(String),
}

/// The way to a ledger that another process has open.
pub trait RemoteRecords: Send + Sync {
    /// Returns the answer of the other process.
    fn ask(&self, request: &RecordsRequest) -> io::Result<RecordsAnswer>;
}

/// The keyspaces of an open database.
#[derive(Clone)]
pub(crate) struct Keyspaces {
    pub database: Database,
    pub urls: Keyspace,
    pub visits: Keyspace,
    pub links: Keyspace,
    pub hosts: Keyspace,
    pub servers: Keyspace,
    pub meta: Keyspace,
}

impl Keyspaces {
    fn of(&self, part: LedgerPart) -> &Keyspace {
        match part {
            LedgerPart::Urls => &self.urls,
            LedgerPart::Visits => &self.visits,
            LedgerPart::Links => &self.links,
            LedgerPart::Hosts => &self.hosts,
            LedgerPart::Servers => &self.servers,
            LedgerPart::Meta => &self.meta,
        }
    }
}

/// Where records are read.
#[derive(Clone)]
pub(crate) enum RecordSource {
    /// The newest records of the database.
    Newest(Keyspaces),
    /// The records of the database at one moment.
    Snapshot(Keyspaces, Snapshot),
    /// The records of another process.
    Remote(Arc<dyn RemoteRecords>),
}

impl RecordSource {
    /// Returns the value of a key.
    pub fn get(&self, part: LedgerPart, key: &[u8]) -> Result<Option<Slice>, LedgerError> {
        match self {
            Self::Newest(all) => all.of(part).get(key).map_err(LedgerError::Read),
            Self::Snapshot(all, moment) => moment.get(all.of(part), key).map_err(LedgerError::Read),
            Self::Remote(remote) => {
                let request = RecordsRequest::Get(part, key.to_vec());
                match remote.ask(&request).map_err(LedgerError::Remote)? {
                    RecordsAnswer::Value(value) => Ok(value.map(Slice::from)),
                    other => Err(unexpected(other)),
                }
            }
        }
    }

    /// Returns all records of a keyspace.
    pub fn all(&self, part: LedgerPart) -> RawRecords {
        self.range(part, &[], &LAST)
    }

    /// Returns the records from one key to another, both included.
    pub fn range(&self, part: LedgerPart, from: &[u8], to: &[u8]) -> RawRecords {
        match self {
            Self::Newest(all) => RawRecords::Here(all.of(part).range(from..=to)),
            Self::Snapshot(all, moment) => {
                RawRecords::Here(moment.range::<&[u8], _>(all.of(part), from..=to))
            }
            Self::Remote(remote) => RawRecords::There(RemoteRange {
                remote: remote.clone(),
                next: Some(RecordsRequest::Range {
                    part,
                    from: from.to_vec(),
                    after: false,
                    to: to.to_vec(),
                }),
                records: Vec::new().into_iter(),
            }),
        }
    }

    /// Returns the bytes that the ledger takes on disk.
    pub fn disk_bytes(&self) -> Result<u64, LedgerError> {
        match self {
            Self::Newest(all) | Self::Snapshot(all, _) => {
                all.database.disk_space().map_err(LedgerError::Read)
            }
            Self::Remote(remote) => {
                let answer = remote.ask(&RecordsRequest::DiskBytes);
                match answer.map_err(LedgerError::Remote)? {
                    RecordsAnswer::DiskBytes(bytes) => Ok(bytes),
                    other => Err(unexpected(other)),
                }
            }
        }
    }

    /// Returns the answer to the request of another process.
    pub fn answer(&self, request: &RecordsRequest) -> RecordsAnswer {
        let answer = match request {
            RecordsRequest::Get(part, key) => {
                let value = self.get(*part, key);
                value.map(|value| RecordsAnswer::Value(value.map(|value| value.to_vec())))
            }
            RecordsRequest::Range {
                part,
                from,
                after,
                to,
            } => self.piece(*part, from, *after, to),
            RecordsRequest::DiskBytes => self.disk_bytes().map(RecordsAnswer::DiskBytes),
        };
        answer.unwrap_or_else(|error| RecordsAnswer::Failed(error.to_string()))
    }

    fn piece(
        &self,
        part: LedgerPart,
        from: &[u8],
        after: bool,
        to: &[u8],
    ) -> Result<RecordsAnswer, LedgerError> {
        let (mut records, mut size) = (Vec::new(), 0);
        for record in self.range(part, from, to) {
            let (key, value) = record?;
            if after && *key == *from {
                continue;
            }
            size += key.len() + value.len();
            records.push((key.to_vec(), value.to_vec()));
            if size >= PIECE {
                return Ok(RecordsAnswer::Records(records, true));
            }
        }
        Ok(RecordsAnswer::Records(records, false))
    }
}

fn unexpected(answer: RecordsAnswer) -> LedgerError {
    let why = match answer {
        RecordsAnswer::Failed(why) => why,
        _ => "the answer is of another kind".to_owned(),
    };
    LedgerError::Remote(io::Error::other(why))
}

/// Iterates over raw records: keys and values.
pub(crate) enum RawRecords {
    Here(fjall::Iter),
    There(RemoteRange),
}

impl Iterator for RawRecords {
    type Item = Result<(Slice, Slice), LedgerError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Here(records) => {
                let record = records.next()?;
                Some(record.into_inner().map_err(LedgerError::Read))
            }
            Self::There(records) => records.next(),
        }
    }
}

/// Iterates over the records of another process, which come in pieces.
pub(crate) struct RemoteRange {
    remote: Arc<dyn RemoteRecords>,
    /// The request for the next piece, if there is one.
    next: Option<RecordsRequest>,
    records: std::vec::IntoIter<(Vec<u8>, Vec<u8>)>,
}

impl Iterator for RemoteRange {
    type Item = Result<(Slice, Slice), LedgerError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((key, value)) = self.records.next() {
                return Some(Ok((key.into(), value.into())));
            }
            let request = self.next.take()?;
            let records = match self.remote.ask(&request).map_err(LedgerError::Remote) {
                Ok(RecordsAnswer::Records(records, more)) => {
                    let last = records.last().filter(|_| more);
                    self.next = last.and_then(|(key, _)| request.after(key));
                    records
                }
                Ok(other) => return Some(Err(unexpected(other))),
                Err(error) => return Some(Err(error)),
            };
            self.records = records.into_iter();
        }
    }
}

impl RecordsRequest {
    /// Returns the request for the records after a key; `None` for a single value.
    fn after(self, key: &[u8]) -> Option<Self> {
        match self {
            Self::Range { part, to, .. } => Some(Self::Range {
                part,
                from: key.to_vec(),
                after: true,
                to,
            }),
            _ => None,
        }
    }
}
