//! The facts, kept through any stop: what was discovered, what each visit found, what a host said.
//!
//! **Invariant:** a [`Batch`] is applied whole or not at all, and once [`Ledger::commit`] returns it
//! survives a power cut. Nothing here is anyone's opinion: no worth, no due time, no queue.
//!
//! Keys begin with the partition and then sort by host, so that a host's pages are neighbours and
//! compress well. `urls` is written once a page, `visits` once a visit, `links` when a visit brought news: a
//! page waits if it is in the first and not in the second. `servers` is written outside of batches, before a
//! request is made: see [`Ledger::keep_server`].

mod present;
mod record;
mod scan;

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use page::HostId;
use policy::Moment;

pub use present::{Ahead, Present};
pub use record::{
    Discovery, HostFacts, OutLinks, PageCopy, Place, Probe, RobotsFact, ServerFacts, Speed, Visited,
};
#[doc(hidden)]
pub use record::{decode, encode};
pub use scan::{Known, Scan};

use crate::bench::ServerKey;
use crate::owner::Partition;

/// Memory for blocks read from disk.
const CACHE: u64 = 32 << 20;
/// Memory for one keyspace's unwritten records.
const MEMTABLE: u64 = 12 << 20;
/// Journal on disk before the oldest memtable must be written out.
const JOURNAL: u64 = 96 << 20;

/// The key of the run that has not ended.
const RUN: &[u8] = b"run";
/// The key of [`Ledger::at_risk`].
const AT_RISK: &[u8] = b"at-risk";
/// The key of [`Ledger::passed_over`].
const PASSED_OVER: &[u8] = b"passed-over";
/// The key of the moment at which facts from the future were first noticed.
const AHEAD: &[u8] = b"ahead";
/// What the keys of redirected seeds begin with.
const SEED: &[u8] = b"seed:";

/// Where a page is in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageKey {
    /// The share of the web it belongs to.
    pub partition: Partition,
    /// The page.
    pub page: page::PageId,
}

/// One fact.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// A page was heard of for the first time.
    Admitted(PageKey, Discovery),
    /// A page was visited; the record takes the place of the one before.
    Visited(PageKey, Box<Visited>),
    /// A page was read, and leads here; the record takes the place of the one before.
    Links(PageKey, OutLinks),
    /// A page that was visited is said to have changed since; told to its record, unless it was visited later.
    Signalled(PageKey, Moment),
    /// What is known of a host; the record takes the place of the one before.
    Host(Partition, HostId, HostFacts),
    /// A seed was redirected here, and so this is a seed too.
    Seed(String),
}

/// Facts that become true together.
#[derive(Debug, Default)]
pub struct Batch {
    /// The facts, in the order they were learned.
    pub entries: Vec<Entry>,
    /// The end of the archive that these facts speak of; bytes behind it are not committed.
    pub archive_end: Option<(u32, u64)>,
}

/// What went wrong with the ledger. The web has no part in it.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// It cannot be opened.
    #[error(
        "cannot open the ledger in {path}: if it is damaged, `avocet rebuild` makes it again from the archive"
    )]
    Open {
        /// The directory.
        path: String,
        /// The cause.
        source: fjall::Error,
    },
    /// It cannot be read.
    #[error(
        "cannot read the ledger: if it is damaged, `avocet rebuild` makes it again from the archive"
    )]
    Read(#[source] fjall::Error),
    /// A batch was not committed; what was committed before is safe.
    #[error(
        "cannot commit to the ledger: what was committed before is safe, and the same command goes on once the cause is mended"
    )]
    Commit(#[source] fjall::Error),
    /// A record is not what was written.
    #[error("the ledger's record of {what} is damaged: run `avocet rebuild`")]
    Damaged {
        /// Which one.
        what: String,
    },
}

/// Makes the names of all directories below this one survive a power cut.
///
/// fjall syncs the directory of its keyspaces before it makes a keyspace, and not after. If a power
/// cut takes the directory of a keyspace, fjall makes another one at the next start, and drops what
/// the journal holds for the first.
fn sync_directories(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_directories(&entry.path())?;
        }
    }
    File::open(path)?.sync_all()
}

/// The facts on disk.
pub struct Ledger {
    database: Database,
    urls: Keyspace,
    visits: Keyspace,
    links: Keyspace,
    hosts: Keyspace,
    servers: Keyspace,
    meta: Keyspace,
}

impl Ledger {
    /// Opens the ledger in a directory, or makes one there.
    pub fn open(path: &Path) -> Result<Self, LedgerError> {
        let opened = || -> fjall::Result<Self> {
            let database = Database::builder(path)
                .cache_size(CACHE)
                .worker_threads(1)
                .max_journaling_size(JOURNAL)
                .manual_journal_persist(true)
                .open()?;
            let options = || KeyspaceCreateOptions::default().max_memtable_size(MEMTABLE);
            let keyspace = |name: &str| database.keyspace(name, options);
            // Whoever looks up a URL record was told its id by the record itself: it is there.
            let urls = database.keyspace("urls", || options().expect_point_read_hits(true))?;
            let visits = keyspace("visits")?;
            let links = keyspace("links")?;
            let (hosts, meta) = (keyspace("hosts")?, keyspace("meta")?);
            // A store of format 4 that has none yet gets an empty one.
            let servers = keyspace("servers")?;
            sync_directories(path)?;
            Ok(Self {
                servers,
                urls,
                visits,
                links,
                hosts,
                meta,
                database,
            })
        };
        opened().map_err(|source| LedgerError::Open {
            path: path.display().to_string(),
            source,
        })
    }

    /// Commits a batch; returns its number in the sequence of all batches.
    pub fn commit(&self, batch: &Batch) -> Result<u64, LedgerError> {
        let sequence = self.sequence()? + 1;
        let is_signal = |entry: &Entry| matches!(entry, Entry::Signalled(..));
        let signalled = batch.entries.iter().any(is_signal);
        let mut writes = self
            .database
            .batch()
            .durability(Some(PersistMode::SyncData));
        let mut latest: HashMap<PageKey, Visited> = HashMap::new();
        for entry in &batch.entries {
            match entry {
                Entry::Admitted(key, discovery) => {
                    writes.insert(&self.urls, key.bytes(), encode(discovery));
                }
                Entry::Visited(key, visited) => {
                    let visited = Visited {
                        sequence,
                        ..(**visited).clone()
                    };
                    writes.insert(&self.visits, key.bytes(), encode(&visited));
                    if signalled {
                        latest.insert(*key, visited);
                    }
                }
                Entry::Signalled(key, at) => {
                    let known = match latest.remove(key) {
                        Some(visited) => Some(visited),
                        None => self.visited(*key)?,
                    };
                    let earlier = |visited: &Visited| visited.history.asked < Some(*at);
                    if let Some(mut visited) = known.filter(earlier) {
                        visited.history = visited.history.signalled(*at);
                        writes.insert(&self.visits, key.bytes(), encode(&visited));
                        latest.insert(*key, visited);
                    }
                }
                Entry::Links(key, links) => {
                    writes.insert(&self.links, key.bytes(), encode(links));
                }
                Entry::Host(partition, host, facts) => {
                    writes.insert(&self.hosts, host_key(*partition, *host), encode(facts));
                }
                Entry::Seed(url) => {
                    writes.insert(&self.meta, [SEED, url.as_bytes()].concat(), Vec::new());
                }
            }
        }
        if let Some(end) = batch.archive_end {
            writes.insert(&self.meta, b"archive-end", encode(&end));
        }
        writes.insert(&self.meta, b"sequence", encode(&sequence));
        writes.commit().map_err(LedgerError::Commit)?;
        Ok(sequence)
    }

    /// The number of the last batch; zero before the first.
    pub fn sequence(&self) -> Result<u64, LedgerError> {
        Ok(self.read(&self.meta, b"sequence")?.unwrap_or(0))
    }

    /// File and offset where the committed archive ends.
    pub fn archive_end(&self) -> Result<Option<(u32, u64)>, LedgerError> {
        self.read(&self.meta, b"archive-end")
    }

    /// How many pages had a copy when the run began that has not ended yet; `None`: all have ended.
    pub fn open_run(&self) -> Result<Option<u64>, LedgerError> {
        self.read(&self.meta, RUN)
    }

    /// Stores that a run has begun, with this number of pages copied before it, or that it has ended.
    pub fn mark_run(&self, begun: Option<u64>) -> Result<(), LedgerError> {
        self.set(RUN, begun)
    }

    /// How many records the archive can have behind its committed end after a kill; `None`: no
    /// process has said so yet.
    pub fn at_risk(&self) -> Result<Option<u64>, LedgerError> {
        self.read(&self.meta, AT_RISK)
    }

    /// Stores how many records this process can lose by a kill, before it writes the first.
    pub fn set_at_risk(&self, records: u64) -> Result<(), LedgerError> {
        self.set(AT_RISK, Some(records))
    }

    /// Where records of the archive begin, as file and byte, that the rebuild which made this ledger
    /// could not read.
    pub fn passed_over(&self) -> Result<Vec<(u32, u64)>, LedgerError> {
        let places = self.read(&self.meta, PASSED_OVER)?;
        Ok(places.unwrap_or_default())
    }

    /// Stores which records a rebuild could not read.
    pub fn set_passed_over(&self, places: &[(u32, u64)]) -> Result<(), LedgerError> {
        self.set(PASSED_OVER, Some(places))
    }

    /// Stores one value durably, or removes it.
    fn set<T: serde::Serialize>(&self, key: &[u8], value: Option<T>) -> Result<(), LedgerError> {
        let mut writes = self
            .database
            .batch()
            .durability(Some(PersistMode::SyncData));
        match value {
            Some(value) => writes.insert(&self.meta, key, encode(&value)),
            None => writes.remove(&self.meta, key),
        }
        writes.commit().map_err(LedgerError::Commit)
    }

    /// When facts from the future were first noticed, while there are any.
    pub fn noticed_ahead(&self) -> Result<Option<Moment>, LedgerError> {
        self.read(&self.meta, AHEAD)
    }

    /// Stores when facts from the future were first noticed, or that there are none any more.
    pub fn notice_ahead(&self, noticed: Option<Moment>) -> Result<(), LedgerError> {
        if noticed == self.noticed_ahead()? {
            return Ok(());
        }
        self.set(AHEAD, noticed)
    }

    /// Stores when a server was asked and how long it is left alone, in place of the record before.
    ///
    /// Hands the record to the operating system and does not wait for the disk: once this returns, a kill of
    /// the process loses nothing. A power cut may lose what was stored since the last commit; a machine
    /// takes longer to start than almost any server wants to be left alone.
    pub fn keep_server(&self, key: ServerKey, facts: &ServerFacts) -> Result<(), LedgerError> {
        let mut writes = self.database.batch().durability(Some(PersistMode::Buffer));
        match key {
            ServerKey::Address(address) => {
                let bytes = record::address_bytes(address);
                writes.insert(&self.servers, bytes, encode(facts));
            }
            ServerKey::Host(host) => {
                writes.insert(&self.servers, host.0.to_be_bytes(), encode(facts));
            }
        }
        writes.commit().map_err(LedgerError::Commit)
    }

    /// What is known of all servers.
    pub fn all_servers(
        &self,
    ) -> impl Iterator<Item = Result<(ServerKey, ServerFacts), LedgerError>> {
        self.servers.iter().map(|guard| {
            let (key, value) = guard.into_inner().map_err(LedgerError::Read)?;
            let what = || format!("server {key:02x?}");
            let server = record::server_key(&key);
            let server = server.ok_or_else(|| LedgerError::Damaged { what: what() })?;
            Ok((server, decode(&value, what)?))
        })
    }

    /// How a page was discovered; `None`: it never was.
    pub fn discovery(&self, key: PageKey) -> Result<Option<Discovery>, LedgerError> {
        self.read(&self.urls, &key.bytes())
    }

    /// What the last visit to a page found; `None`: there was none.
    pub fn visited(&self, key: PageKey) -> Result<Option<Visited>, LedgerError> {
        self.read(&self.visits, &key.bytes())
    }

    /// Where a page led when it was last read; `None`: it never was.
    pub fn links(&self, key: PageKey) -> Result<Option<OutLinks>, LedgerError> {
        self.read(&self.links, &key.bytes())
    }

    /// Every page that was read, with where it led.
    pub fn all_links(&self) -> impl Iterator<Item = Result<(PageKey, OutLinks), LedgerError>> {
        records(self.links.iter())
    }

    /// What is known of all hosts.
    pub fn all_hosts(&self) -> impl Iterator<Item = Result<(HostId, HostFacts), LedgerError>> {
        self.hosts.iter().map(|guard| {
            let (key, value) = guard.into_inner().map_err(LedgerError::Read)?;
            let what = || format!("host {key:02x?}");
            let id = key.get(1..).and_then(|id| id.try_into().ok());
            let id = id.ok_or_else(|| LedgerError::Damaged { what: what() })?;
            Ok((HostId(u64::from_be_bytes(id)), decode(&value, what)?))
        })
    }

    /// What is known of a host.
    pub fn host(&self, key: (Partition, HostId)) -> Result<Option<HostFacts>, LedgerError> {
        self.read(&self.hosts, &host_key(key.0, key.1))
    }

    /// What redirects of seeds led to.
    pub fn seeds(&self) -> Result<Vec<String>, LedgerError> {
        let key = |guard: fjall::Guard| guard.key().map_err(LedgerError::Read);
        let url = |key: fjall::Slice| String::from_utf8_lossy(&key[SEED.len()..]).into_owned();
        self.meta
            .prefix(SEED)
            .map(|guard| key(guard).map(url))
            .collect()
    }

    /// Every page, sorted by partition, host and id, each with its last visit.
    pub fn scan(&self) -> Scan {
        Scan::new(&self.urls, &self.visits)
    }

    /// Bytes on disk.
    pub fn disk_bytes(&self) -> Result<u64, LedgerError> {
        self.database.disk_space().map_err(LedgerError::Read)
    }

    fn read<T: serde::de::DeserializeOwned>(
        &self,
        keyspace: &Keyspace,
        key: &[u8],
    ) -> Result<Option<T>, LedgerError> {
        let value = keyspace.get(key).map_err(LedgerError::Read)?;
        value
            .map(|value| decode(&value, || format!("key {key:02x?}")))
            .transpose()
    }
}

impl PageKey {
    /// The key of a URL.
    pub fn of(url: &page::PageUrl) -> Self {
        Self {
            partition: Partition::of(url),
            page: url.id(),
        }
    }

    fn bytes(self) -> [u8; 17] {
        let mut bytes = [0; 17];
        bytes[0] = self.partition.0;
        bytes[1..].copy_from_slice(&self.page.0.to_be_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&partition, id) = bytes.split_first()?;
        let id = u128::from_be_bytes(id.try_into().ok()?);
        Some(Self {
            partition: Partition(partition),
            page: page::PageId(id),
        })
    }
}

/// Records whose keys begin with that of a page.
fn records<T: serde::de::DeserializeOwned>(
    iter: fjall::Iter,
) -> impl Iterator<Item = Result<(PageKey, T), LedgerError>> {
    iter.map(|guard| {
        let (key, value) = guard.into_inner().map_err(LedgerError::Read)?;
        let what = || format!("key {key:02x?}");
        let page = key.get(..17).and_then(PageKey::from_bytes);
        let page = page.ok_or_else(|| LedgerError::Damaged { what: what() })?;
        Ok((page, decode(&value, what)?))
    })
}

fn host_key(partition: Partition, host: HostId) -> [u8; 9] {
    let mut bytes = [partition.0; 9];
    bytes[1..].copy_from_slice(&host.0.to_be_bytes());
    bytes
}

#[cfg(test)]
mod tests;
