//! The ledger: the facts of a crawl on disk, kept through any stop.
//!
//! **Invariant:** a [`Batch`] is applied whole or not at all, and once [`Ledger::commit`] returns it
//! survives a power cut. Nothing here is anyone's opinion: no worth, no due time, no queue.
//!
//! Keys begin with the partition and then sort by host, so that a host's pages are neighbours and
//! compress well. `urls` is written once a page, `visits` once a visit, `links` when a visit brought news: a
//! page waits if it is in the first and not in the second. `servers` is written outside of batches, before a
//! request is made: see [`Ledger::keep_server`].

mod codec;
mod scan;

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Mutex;

use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use frontier::{
    Discovery, Entry, Facts, HostFacts, Known, OutLinks, PageKey, Partition, ServerFacts,
    ServerKey, Visited,
};
use page::HostId;
use policy::Moment;

#[doc(hidden)]
pub use codec::{decode, encode};
use codec::{host_key, page_key, page_of};
pub use scan::Scan;

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
    /// Held while the record of a server is read and replaced: requests and the committer do so at the same time.
    keeping: Mutex<()>,
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
                keeping: Mutex::default(),
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
                    writes.insert(&self.urls, page_key(*key), encode(discovery));
                }
                Entry::Visited(key, visited) => {
                    let visited = Visited {
                        sequence,
                        ..(**visited).clone()
                    };
                    writes.insert(&self.visits, page_key(*key), encode(&visited));
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
                        writes.insert(&self.visits, page_key(*key), encode(&visited));
                        latest.insert(*key, visited);
                    }
                }
                Entry::Links(key, links) => {
                    writes.insert(&self.links, page_key(*key), encode(links));
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

    /// Stores when a server was asked and how long it is left alone ([`ServerFacts::in_place_of`] the record before).
    ///
    /// Hands the record to the operating system and does not wait for the disk: once this returns, a kill of
    /// the process loses nothing. A power cut may lose what was stored since the last commit; a machine
    /// takes longer to start than almost any server wants to be left alone.
    pub fn keep_server(&self, server: ServerKey, facts: &ServerFacts) -> Result<(), LedgerError> {
        let key = match server {
            ServerKey::Address(address) => codec::address_bytes(address).to_vec(),
            ServerKey::Host(host) => host.0.to_be_bytes().to_vec(),
        };
        let _writing = self.keeping.lock().expect("the lock guards no data");
        let before: Option<ServerFacts> = self.read(&self.servers, &key)?;
        let facts = before.map_or(*facts, |before| facts.in_place_of(before));
        let mut writes = self.database.batch().durability(Some(PersistMode::Buffer));
        writes.insert(&self.servers, key, encode(&facts));
        writes.commit().map_err(LedgerError::Commit)
    }

    /// What is known of all servers.
    pub fn all_servers(
        &self,
    ) -> impl Iterator<Item = Result<(ServerKey, ServerFacts), LedgerError>> {
        self.servers.iter().map(|guard| {
            let (key, value) = guard.into_inner().map_err(LedgerError::Read)?;
            let what = || format!("server {key:02x?}");
            let server = codec::server_key(&key);
            let server = server.ok_or_else(|| LedgerError::Damaged { what: what() })?;
            Ok((server, decode(&value, what)?))
        })
    }

    /// How a page was discovered; `None`: it never was.
    pub fn discovery(&self, key: PageKey) -> Result<Option<Discovery>, LedgerError> {
        self.read(&self.urls, &page_key(key))
    }

    /// What the last visit to a page found; `None`: there was none.
    pub fn visited(&self, key: PageKey) -> Result<Option<Visited>, LedgerError> {
        self.read(&self.visits, &page_key(key))
    }

    /// Where a page led when it was last read; `None`: it never was.
    pub fn links(&self, key: PageKey) -> Result<Option<OutLinks>, LedgerError> {
        self.read(&self.links, &page_key(key))
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

impl Facts for Ledger {
    type Error = LedgerError;

    fn pages(&self) -> impl Iterator<Item = Result<Known, LedgerError>> {
        self.scan()
    }

    fn links(&self) -> impl Iterator<Item = Result<(PageKey, OutLinks), LedgerError>> {
        self.all_links()
    }

    fn hosts(&self) -> impl Iterator<Item = Result<(HostId, HostFacts), LedgerError>> {
        self.all_hosts()
    }

    fn servers(&self) -> impl Iterator<Item = Result<(ServerKey, ServerFacts), LedgerError>> {
        self.all_servers()
    }

    fn noticed_ahead(&self) -> Result<Option<Moment>, LedgerError> {
        Ledger::noticed_ahead(self)
    }

    fn damaged(what: String) -> LedgerError {
        LedgerError::Damaged { what }
    }
}

/// Records whose keys begin with that of a page.
fn records<T: serde::de::DeserializeOwned>(
    iter: fjall::Iter,
) -> impl Iterator<Item = Result<(PageKey, T), LedgerError>> {
    iter.map(|guard| {
        let (key, value) = guard.into_inner().map_err(LedgerError::Read)?;
        let what = || format!("key {key:02x?}");
        let page = key.get(..17).and_then(page_of);
        let page = page.ok_or_else(|| LedgerError::Damaged { what: what() })?;
        Ok((page, decode(&value, what)?))
    })
}

#[cfg(test)]
mod tests;
