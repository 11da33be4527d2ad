//! The ledger: the facts of a crawl, in a database on disk.
//!
//! **Invariants:** a [`Batch`] is applied completely or not at all. Once [`Ledger::commit`]
//! returns, the batch survives a power cut. The ledger stores no opinions: no worth, no due
//! time, no queue.
//!
//! Page and host keys begin with the partition and then sort by host. So the pages of a host are
//! neighbours, which compresses well. The keyspaces are:
//! - `urls` has one record per discovered page.
//! - `visits` has the last visit to each visited page. A page that is in `urls` and not in `visits`
//!   waits for its first visit.
//! - `links` has the links of each page that was read. A visit that brings new content replaces
//!   the record of its page.
//! - `hosts` has the facts of each host.
//! - `servers` has the politeness facts of each server. It is written outside of batches: see
//!   [`Ledger::keep_server`].
//! - `meta` has single values of the whole crawl, and the URLs to which seeds redirected.

mod checkpoint;
mod codec;
mod reader;
mod records;
mod scan;

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::ops::{Deref, RangeInclusive};
use std::path::Path;
use std::sync::Mutex;

use fjall::{Database, KeyspaceCreateOptions, OwnedWriteBatch, PersistMode};
use frontier::{
    Entry, Facts, HostFacts, Known, OutLinks, PageKey, Partition, ServerFacts, ServerKey, Visited,
};
use page::{HostId, RecordLocation};
use policy::Moment;

pub use checkpoint::Checkpoint;
use checkpoint::{CheckpointError, CheckpointMark, CheckpointWriter};
#[doc(hidden)]
pub use codec::{decode, encode};
use codec::{encode_visit, host_key, page_key, page_of};
pub use reader::LedgerReader;
use records::{Keyspaces, RawRecords, RecordSource};
pub use records::{LedgerPart, RecordsAnswer, RecordsRequest, RemoteRecords};
pub use scan::Scan;

/// Bytes of memory for blocks read from disk.
const CACHE: u64 = 32 << 20;
/// Bytes of memory for the records of one keyspace that are not yet in its files.
const MEMTABLE: u64 = 12 << 20;
/// Bytes of journal on disk before the oldest memtable must be written out.
const JOURNAL: u64 = 96 << 20;

/// Why the lock of the checkpoint cannot be poisoned.
const CHECKPOINT_LOCK: &str = "no code panics while it holds this lock";

/// Pages that [`Ledger::forget`] deletes in one batch.
const FORGET_GROUP: usize = 4096;
/// The key of [`Ledger::open_run`].
const RUN: &[u8] = b"run";
/// The key of [`Ledger::at_risk`].
const AT_RISK: &[u8] = b"at-risk";
/// The key of [`Ledger::passed_over`].
const PASSED_OVER: &[u8] = b"passed-over";
/// The key of [`Ledger::noticed_ahead`].
const AHEAD: &[u8] = b"ahead";
/// The key of [`Ledger::note`].
const NOTE: &[u8] = b"note";
/// The key of the [`CheckpointMark`].
const CHECKPOINT: &[u8] = b"checkpoint";
/// The key of [`Facts::first_free`].
const FIRST_FREE: &[u8] = b"first-free";
/// The prefix of the keys under which `meta` has the URLs to which seeds redirected.
const SEED: &[u8] = b"seed:";

/// Facts that are committed together.
#[derive(Debug, Default)]
pub struct Batch {
    /// The facts, in the order in which they were observed.
    pub entries: Vec<Entry>,
    /// The end of the archive (file number and byte offset) that these facts refer to. Bytes
    /// after it are not committed.
    pub archive_end: Option<(u32, u64)>,
    /// A value that the driver stores together with the facts ([`Ledger::note`]).
    pub note: Option<Vec<u8>>,
}

/// A failure of the ledger itself. Failed visits are not errors here: they are facts.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The ledger cannot be opened.
    #[error(
        "cannot open the ledger in {path}: if it is damaged, `avocet rebuild` recreates it from the archive"
    )]
    Open {
        /// The directory of the ledger.
        path: String,
        /// The cause.
        source: fjall::Error,
    },
    /// The ledger cannot be read.
    #[error(
        "cannot read the ledger: if it is damaged, `avocet rebuild` recreates it from the archive"
    )]
    Read(#[source] fjall::Error),
    /// The process that has the ledger open does not answer, or cannot read it.
    #[error(
        "the process that uses the store has ended, or cannot read its ledger: run the command again"
    )]
    Remote(#[source] io::Error),
    /// A batch or a single value was not stored. Earlier batches are safe.
    #[error(
        "cannot commit to the ledger: everything committed before is safe; fix the cause and run the same command again"
    )]
    Commit(#[source] fjall::Error),
    /// A record cannot be decoded.
    #[error("the ledger's record of {what} is damaged: run `avocet rebuild`")]
    Damaged {
        /// The record, in words.
        what: String,
    },
}

impl LedgerError {
    /// Returns whether the ledger could not be opened because it is open elsewhere.
    pub fn is_locked(&self) -> bool {
        let Self::Open { source, .. } = self else {
            return false;
        };
        matches!(source, fjall::Error::Locked)
    }
}

/// Syncs all directories below this one, so that their entries survive a power cut.
///
/// fjall syncs the directory of its keyspaces before it creates a keyspace, and not after. If a
/// power cut loses the directory of a keyspace, fjall creates another one at the next start. The
/// new one lacks what the journal holds for the lost one.
fn sync_directories(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_directories(&entry.path())?;
        }
    }
    File::open(path)?.sync_all()
}

/// The ledger on disk, open for writing.
pub struct Ledger {
    keyspaces: Keyspaces,
    /// Reads the newest facts.
    newest: LedgerReader,
    /// Held while a server's record is read and replaced. Requests and the committer do this
    /// concurrently.
    server_updates: Mutex<()>,
    /// Appends each commit to the checkpoint. Only the committer uses it while a crawl runs.
    checkpoint: Mutex<Option<CheckpointWriter>>,
}

impl Deref for Ledger {
    type Target = LedgerReader;

    fn deref(&self) -> &LedgerReader {
        &self.newest
    }
}

impl Ledger {
    /// Opens the ledger in a directory, or creates it.
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
            // Callers take the page id of a lookup from an existing record, so almost every
            // lookup finds one.
            let urls = database.keyspace("urls", || options().expect_point_read_hits(true))?;
            let visits = keyspace("visits")?;
            let links = keyspace("links")?;
            let (hosts, meta) = (keyspace("hosts")?, keyspace("meta")?);
            // A store of format 4 made before this keyspace existed gets an empty one.
            let servers = keyspace("servers")?;
            sync_directories(path)?;
            let keyspaces = Keyspaces {
                urls,
                visits,
                links,
                hosts,
                servers,
                meta,
                database,
            };
            Ok(Self {
                newest: LedgerReader(RecordSource::Newest(keyspaces.clone())),
                server_updates: Mutex::default(),
                checkpoint: Mutex::default(),
                keyspaces,
            })
        };
        opened().map_err(|source| LedgerError::Open {
            path: path.display().to_string(),
            source,
        })
    }

    /// Commits a batch. Returns its sequence number: batches are numbered from 1.
    ///
    /// A hint that is not later than the last visit to its page is ignored, as is a hint for an
    /// unvisited page.
    pub fn commit(&self, batch: &Batch) -> Result<u64, LedgerError> {
        let sequence = self.sequence()? + 1;
        let is_signal = |entry: &Entry| matches!(entry, Entry::Signalled(..));
        let signalled = batch.entries.iter().any(is_signal);
        let mut writes = self.batch(PersistMode::SyncData);
        let mut latest: HashMap<PageKey, Visited> = HashMap::new();
        for entry in &batch.entries {
            match entry {
                Entry::Admitted(key, discovery) => {
                    writes.insert(&self.keyspaces.urls, page_key(*key), encode(discovery));
                }
                Entry::Visited(key, visited) => {
                    let record = encode_visit(visited, sequence);
                    writes.insert(&self.keyspaces.visits, page_key(*key), record);
                    if signalled {
                        let visited = (**visited).clone();
                        latest.insert(
                            *key,
                            Visited {
                                sequence,
                                ..visited
                            },
                        );
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
                        let record = encode_visit(&visited, visited.sequence);
                        writes.insert(&self.keyspaces.visits, page_key(*key), record);
                        latest.insert(*key, visited);
                    }
                }
                Entry::Links(key, links) => {
                    writes.insert(&self.keyspaces.links, page_key(*key), encode(links));
                }
                Entry::Host(partition, host, facts) => {
                    writes.insert(
                        &self.keyspaces.hosts,
                        host_key(*partition, *host),
                        encode(facts),
                    );
                }
                Entry::Seed(url) => {
                    writes.insert(
                        &self.keyspaces.meta,
                        [SEED, url.as_bytes()].concat(),
                        Vec::new(),
                    );
                }
            }
        }
        if let Some(end) = batch.archive_end {
            writes.insert(&self.keyspaces.meta, b"archive-end", encode(&end));
        }
        if let Some(note) = &batch.note {
            writes.insert(&self.keyspaces.meta, NOTE, note);
        }
        writes.insert(&self.keyspaces.meta, b"sequence", encode(&sequence));
        let mut checkpoint = self.checkpoint.lock().expect(CHECKPOINT_LOCK);
        let appended = checkpoint
            .as_mut()
            .map(|checkpoint| checkpoint.append(&batch.entries, sequence));
        match appended {
            Some(Ok(mark)) => writes.insert(&self.keyspaces.meta, CHECKPOINT, encode(&mark)),
            // The disk may be full. The next start makes the checkpoint again.
            Some(Err(_)) => *checkpoint = None,
            None => {}
        }
        let committed = writes.commit();
        if committed.is_err() {
            *checkpoint = None;
        }
        committed.map_err(LedgerError::Commit)?;
        Ok(sequence)
    }

    /// Opens the checkpoint in a file, and from now on appends each commit to it. Makes it from the
    /// ledger if it is missing, damaged or not of this ledger. Returns the reason as an error if
    /// that fails, such as on a full disk: the crawl can start from the ledger instead.
    pub fn open_checkpoint(&self, path: &Path) -> Result<Checkpoint, String> {
        let opened = || -> Result<Checkpoint, CheckpointError> {
            let mark = self.read(LedgerPart::Meta, CHECKPOINT)?;
            let (writer, checkpoint) = CheckpointWriter::open(self, path, mark)?;
            *self.checkpoint.lock().expect(CHECKPOINT_LOCK) = Some(writer);
            Ok(checkpoint)
        };
        opened().map_err(|error| error.to_string())
    }

    /// Ends the checkpoint: later commits are not appended, so the next start makes it again if
    /// there are any.
    pub fn close_checkpoint(&self) {
        let mut checkpoint = self.checkpoint.lock().expect(CHECKPOINT_LOCK);
        if let Some(mut writer) = checkpoint.take() {
            // Without the new base, the file has a longer tail.
            writer.finish().ok();
        }
    }

    fn set_checkpoint(&self, mark: Option<CheckpointMark>) -> Result<(), LedgerError> {
        self.set(CHECKPOINT, mark)
    }

    /// Makes the checkpoint invalid as a part of a batch that deletes facts.
    fn drop_checkpoint(&self, writes: &mut OwnedWriteBatch) {
        *self.checkpoint.lock().expect(CHECKPOINT_LOCK) = None;
        writes.remove(&self.keyspaces.meta, CHECKPOINT);
    }

    /// Deletes the pages and hosts of a range of partitions, which another node owns now.
    pub fn delete(&self, partitions: RangeInclusive<u8>) -> Result<(), LedgerError> {
        let first_free = self.free_number()?;
        let mut writes = self.batch(PersistMode::SyncData);
        let mut checkpoint = self.checkpoint.lock().expect(CHECKPOINT_LOCK);
        let appended = checkpoint
            .as_mut()
            .map(|checkpoint| checkpoint.delete(partitions.clone()));
        match appended {
            Some(Ok(mark)) => writes.insert(&self.keyspaces.meta, CHECKPOINT, encode(&mark)),
            _ => {
                *checkpoint = None;
                writes.remove(&self.keyspaces.meta, CHECKPOINT);
            }
        }
        for keyspace in [
            &self.keyspaces.urls,
            &self.keyspaces.visits,
            &self.keyspaces.links,
            &self.keyspaces.hosts,
        ] {
            for partition in partitions.clone() {
                for guard in keyspace.prefix([partition]) {
                    writes.remove(keyspace, guard.key().map_err(LedgerError::Read)?);
                }
            }
        }
        writes.insert(&self.keyspaces.meta, FIRST_FREE, encode(&first_free));
        let deleted = writes.commit();
        if deleted.is_err() {
            *checkpoint = None;
        }
        deleted.map_err(LedgerError::Commit)
    }

    /// Deletes pages, hosts and the URLs to which seeds redirected, because the operator wants them
    /// forgotten. May be called again after a kill in between: pages are deleted in groups.
    pub fn forget(
        &self,
        pages: &[PageKey],
        hosts: &[(Partition, HostId)],
        seeds: &[String],
    ) -> Result<(), LedgerError> {
        let first_free = self.free_number()?;
        for group in pages.chunks(FORGET_GROUP) {
            let mut writes = self.batch(PersistMode::SyncData);
            self.drop_checkpoint(&mut writes);
            for keyspace in [
                &self.keyspaces.urls,
                &self.keyspaces.visits,
                &self.keyspaces.links,
            ] {
                for page in group {
                    writes.remove(keyspace, page_key(*page));
                }
            }
            writes.insert(&self.keyspaces.meta, FIRST_FREE, encode(&first_free));
            writes.commit().map_err(LedgerError::Commit)?;
        }
        let mut writes = self.batch(PersistMode::SyncData);
        for (partition, host) in hosts {
            writes.remove(&self.keyspaces.hosts, host_key(*partition, *host));
        }
        for seed in seeds {
            writes.remove(&self.keyspaces.meta, [SEED, seed.as_bytes()].concat());
        }
        writes.commit().map_err(LedgerError::Commit)?;
        self.compact().map_err(LedgerError::Commit)
    }

    /// Writes the files again, so that deleted records leave the disk.
    fn compact(&self) -> fjall::Result<()> {
        for keyspace in [
            &self.keyspaces.urls,
            &self.keyspaces.visits,
            &self.keyspaces.links,
            &self.keyspaces.hosts,
            &self.keyspaces.meta,
        ] {
            keyspace.rotate_memtable_and_wait()?;
            keyspace.major_compact()?;
        }
        Ok(())
    }

    /// Changes all archive locations by `moved`, and the end of the archive, in one batch. `moved`
    /// returns `None` for a record that is gone. Returns the sequence number of the batch.
    pub fn relocate(
        &self,
        moved: impl Fn(RecordLocation) -> Option<RecordLocation>,
        end: Option<(u32, u64)>,
        passed_over: &[(u32, u64)],
    ) -> Result<u64, LedgerError> {
        let sequence = self.sequence()? + 1;
        let mut writes = self.batch(PersistMode::SyncData);
        for known in self.scan() {
            let known = known?;
            let Some(mut visited) = known.visited else {
                continue;
            };
            let before = (
                visited.place,
                visited.copy.as_ref().and_then(|copy| copy.place),
            );
            visited.place = visited.place.and_then(&moved);
            if let Some(copy) = &mut visited.copy {
                copy.place = copy.place.and_then(&moved);
            }
            let now = (
                visited.place,
                visited.copy.as_ref().and_then(|copy| copy.place),
            );
            if before != now {
                let record = encode_visit(&visited, visited.sequence);
                writes.insert(&self.keyspaces.visits, page_key(known.key), record);
            }
        }
        if let Some(end) = end {
            writes.insert(&self.keyspaces.meta, b"archive-end", encode(&end));
        }
        writes.insert(&self.keyspaces.meta, PASSED_OVER, encode(&passed_over));
        writes.insert(&self.keyspaces.meta, b"sequence", encode(&sequence));
        // A start reads no archive locations.
        let mut checkpoint = self.checkpoint.lock().expect(CHECKPOINT_LOCK);
        let mark = match checkpoint.as_mut() {
            Some(checkpoint) => Some(checkpoint.skip(sequence)),
            None => {
                let mark: Option<CheckpointMark> = self.read(LedgerPart::Meta, CHECKPOINT)?;
                let mark = mark.filter(|mark| mark.until + 1 == sequence);
                mark.map(|mut mark| {
                    mark.until = sequence;
                    mark
                })
            }
        };
        if let Some(mark) = mark {
            writes.insert(&self.keyspaces.meta, CHECKPOINT, encode(&mark));
        }
        writes.commit().map_err(LedgerError::Commit)?;
        Ok(sequence)
    }

    /// Returns whether a range of partitions has no page and no host.
    pub fn is_empty(&self, partitions: RangeInclusive<u8>) -> Result<bool, LedgerError> {
        for partition in partitions {
            for keyspace in [&self.keyspaces.urls, &self.keyspaces.hosts] {
                if let Some(guard) = keyspace.prefix([partition]).next() {
                    guard.key().map_err(LedgerError::Read)?;
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Returns every page of a range of partitions with its last visit.
    pub fn scan_partitions(&self, partitions: RangeInclusive<u8>) -> Scan {
        Scan::of_partitions(&self.newest.0, partitions)
    }

    /// Returns all facts of a range of partitions: pages, visits, links and hosts. The URLs to
    /// which seeds redirected are not among them.
    pub fn facts_of(&self, partitions: RangeInclusive<u8>) -> Result<Vec<Entry>, LedgerError> {
        let mut facts = Vec::new();
        for known in self.scan_partitions(partitions.clone()) {
            let known = known?;
            facts.push(Entry::Admitted(known.key, known.discovery));
            let visited = known.visited.map(Box::new);
            facts.extend(visited.map(|visited| Entry::Visited(known.key, visited)));
        }
        for partition in partitions {
            for record in reader::records(
                RawRecords::Here(self.keyspaces.links.prefix([partition])),
                "key",
                page_of,
            ) {
                let (key, links) = record?;
                facts.push(Entry::Links(key, links));
            }
            for record in reader::records(
                RawRecords::Here(self.keyspaces.hosts.prefix([partition])),
                "host",
                codec::host_of,
            ) {
                let (host, found) = record?;
                facts.push(Entry::Host(Partition(partition), host, found));
            }
        }
        Ok(facts)
    }

    /// Stores a value for [`Ledger::note`]. It survives a kill of the process at once, and a power
    /// cut after the next commit.
    pub fn set_note(&self, note: &[u8]) -> Result<(), LedgerError> {
        let mut writes = self.batch(PersistMode::Buffer);
        writes.insert(&self.keyspaces.meta, NOTE, note);
        writes.commit().map_err(LedgerError::Commit)
    }

    /// Stores that a run has begun, with the number of pages that had ever been fetched before it.
    /// `None` stores that the run has ended without an interruption.
    pub fn mark_run(&self, begun: Option<u64>) -> Result<(), LedgerError> {
        self.set(RUN, begun)
    }

    /// Stores the maximum number of archive records that a kill of this process can leave
    /// uncommitted. The caller must call this before it writes the first record.
    pub fn set_at_risk(&self, records: u64) -> Result<(), LedgerError> {
        self.set(AT_RISK, Some(records))
    }

    /// Stores which archive records a rebuild could not read.
    pub fn set_passed_over(&self, places: &[(u32, u64)]) -> Result<(), LedgerError> {
        self.set(PASSED_OVER, Some(places))
    }

    /// Stores one value durably. `None` removes it.
    fn set<T: serde::Serialize>(&self, key: &[u8], value: Option<T>) -> Result<(), LedgerError> {
        let mut writes = self.batch(PersistMode::SyncData);
        match value {
            Some(value) => writes.insert(&self.keyspaces.meta, key, encode(&value)),
            None => writes.remove(&self.keyspaces.meta, key),
        }
        writes.commit().map_err(LedgerError::Commit)
    }

    /// Stores when facts dated after the current time were first noticed. `None` stores that
    /// there are no such facts now.
    pub fn notice_ahead(&self, noticed: Option<Moment>) -> Result<(), LedgerError> {
        if noticed == self.noticed_ahead()? {
            return Ok(());
        }
        self.set(AHEAD, noticed)
    }

    /// Stores when the last request to a server was made, the minimum time to the next, and the
    /// number of consecutive refusals. Merges an earlier record by [`ServerFacts::in_place_of`].
    ///
    /// Writes the record to the operating system and does not wait for the disk. Once this
    /// returns, a kill of the process loses nothing. A power cut may lose what was stored since
    /// the last commit. This is acceptable: a machine takes longer to start than almost any
    /// politeness delay.
    pub fn keep_server(
        &self,
        server: ServerKey,
        facts: &ServerFacts,
        now: impl FnOnce() -> Moment,
    ) -> Result<(), LedgerError> {
        let key = match server {
            ServerKey::Address(address) => codec::address_bytes(address).to_vec(),
            ServerKey::Host(host) => host.0.to_be_bytes().to_vec(),
        };
        let _writing = self.server_updates.lock().expect("the lock guards no data");
        let before: Option<ServerFacts> = self.read(LedgerPart::Servers, &key)?;
        // Read only now: another record of this run may have been written since the call.
        let facts = before.map_or(*facts, |before| facts.in_place_of(before, now()));
        let mut writes = self.batch(PersistMode::Buffer);
        writes.insert(&self.keyspaces.servers, key, encode(&facts));
        writes.commit().map_err(LedgerError::Commit)
    }

    /// Returns a reader of the facts at this moment, which later commits do not change.
    pub fn snapshot(&self) -> LedgerReader {
        let moment = self.keyspaces.database.snapshot();
        LedgerReader(RecordSource::Snapshot(self.keyspaces.clone(), moment))
    }

    fn batch(&self, durability: PersistMode) -> OwnedWriteBatch {
        self.keyspaces.database.batch().durability(Some(durability))
    }
}

impl Facts for Ledger {
    type Error = LedgerError;

    fn pages(&self) -> impl Iterator<Item = Result<Known, LedgerError>> {
        self.newest.pages()
    }

    fn links(&self) -> impl Iterator<Item = Result<(PageKey, OutLinks), LedgerError>> {
        self.newest.all_links()
    }

    fn hosts(&self) -> impl Iterator<Item = Result<(HostId, HostFacts), LedgerError>> {
        self.newest.hosts()
    }

    fn servers(&self) -> impl Iterator<Item = Result<(ServerKey, ServerFacts), LedgerError>> {
        self.newest.servers()
    }

    fn noticed_ahead(&self) -> Result<Option<Moment>, LedgerError> {
        self.newest.noticed_ahead()
    }

    fn first_free(&self) -> Result<u32, LedgerError> {
        self.newest.first_free()
    }

    fn damaged(what: String) -> LedgerError {
        LedgerReader::damaged(what)
    }
}

#[cfg(test)]
mod tests;
