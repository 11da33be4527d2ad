//! The committer, the only code that makes fetched pages durable. A crawl runs it on a thread of
//! its own.
//!
//! **Order:** the archive is appended and synced. Then the ledger commits its batch; this is the
//! commit of the group. Later the index commits its documents. A kill between any two of these
//! steps loses nothing that was committed. The next start cuts the archive off at the end that the
//! ledger stores, and indexes the pages that the ledger committed after the last commit of the
//! index.
//!
//! After a failure the committer writes nothing more: it never retries a failed sync.

pub(super) mod publishing;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use cluster::Slot;
use cluster::publisher::Exchange;
use crawl::{Distance, Gain};
use frontier::{Entry, PageKey, Visited};
use ledger::{Batch, Ledger};
use policy::Outcome;
use repository::archive::{self, Sealed};
use repository::changes::{ChangeKind, ChangeLog, PageChange};
use repository::index::{self, Workload};

use crate::clock::{Clock, written};
use crate::copies::arrivals::{ArrivalWork, ArrivedCopy};
use crate::copies::uploads::Uploads;
use crate::fault;
use crate::recovery::in_links::InLinks;
use crate::recovery::put;
use crate::slots::Digests;
use publishing::Publishing;

/// How often the index commits while a crawl runs. Searches find a new page after the commit.
const INDEX_EVERY: Duration = Duration::from_secs(15);
/// Minimum time between two updates of the index with new links to pages that it already has.
const LINKS_EVERY: Duration = Duration::from_secs(300);
/// Bytes of text after which the index commits earlier. Tantivy queues up to ten thousand
/// documents, and only a commit guarantees that they have left memory.
const INDEX_BYTES: u64 = 32 << 20;

/// A settled page on its way to the disk.
pub type Record = crawl::Record<Sealed>;

/// A piece of work for the committer.
pub enum CommitWork {
    /// Work from the core.
    Core(crawl::Work<Sealed>),
    /// Records for the archive only: answers from before the last visit to their page.
    Records(Vec<Sealed>),
    /// The politeness record of a server.
    Keep(Distance),
    /// The searches by which the index measures gains from now on.
    Measure(Workload),
    /// In a cluster: pages of other slots, from links of pages that are committed later.
    Offer(Vec<crawl::Offer>),
    /// In a cluster: the core has processed the offers to a slot, or to all slots (`None`), up to
    /// this message.
    Taken(Option<Slot>, u64),
    /// In a cluster: copies of pages that this node has taken over.
    Arrival(ArrivalWork),
    /// In a cluster: the crawl stops. From now on no group waits for more work.
    Hurry,
    /// In a cluster: returns count and checksum of each slot.
    Digest(Sender<Digests>),
    /// In tests: a sender that is dropped when all earlier work is committed. The paused clock
    /// stands still until then.
    #[cfg(test)]
    Hold(std::sync::mpsc::Sender<()>),
}

/// The result of one commit.
pub struct CommitResult {
    /// The committed facts.
    pub facts: Vec<Entry>,
    /// Number of requests for pages whose results are now durable.
    pub requests: usize,
    /// The measured gains of new copies for searchers (ΔQ).
    pub gains: Vec<Gain>,
    /// The duration of the commit.
    pub took: Duration,
}

/// Writes archive, ledger and index.
pub struct Committer<'a> {
    /// The ledger.
    pub ledger: &'a Ledger,
    /// The clock of the crawl.
    clock: Clock,
    /// The archive, unless the user wants none.
    pub archive: Option<archive::ArchiveWriter>,
    /// The index, unless the user wants none.
    pub index: Option<index::PageIndexWriter>,
    /// Bytes of text that were added to the index since its last commit.
    queued: u64,
    /// The index commits when `queued` reaches this.
    most_queued: u64,
    /// Whether the crawl drops pages, so that the archive is compacted at the end.
    buffered: bool,
    /// A new workload that the index receives after its next commit.
    workload: Option<Workload>,
    /// Links that are not in the index yet.
    in_links: InLinks,
    /// The way to the other nodes of a cluster.
    publishing: Option<Publishing>,
    /// The log of changes, in a crawl.
    changes: Option<ChangeLog>,
    /// The way to the object store of a cluster.
    uploads: Option<Arc<Uploads>>,
    /// The number of the archive file that is written, and since when.
    writing: Option<(u32, Instant)>,
    /// Slots whose copies are read, and are in the index after its next commit.
    read: Vec<Slot>,
}

impl<'a> Committer<'a> {
    /// Returns a committer that writes to this ledger, archive and index.
    pub fn new(
        ledger: &'a Ledger,
        clock: Clock,
        archive: Option<archive::ArchiveWriter>,
        index: Option<index::PageIndexWriter>,
    ) -> Self {
        Self {
            ledger,
            clock,
            archive,
            index,
            queued: 0,
            most_queued: INDEX_BYTES,
            buffered: false,
            workload: None,
            in_links: InLinks::default(),
            publishing: None,
            changes: None,
            uploads: None,
            writing: None,
            read: Vec::new(),
        }
    }

    /// Sets the log of the changes that the crawl finds.
    #[must_use]
    pub fn logging(self, changes: ChangeLog) -> Self {
        Self {
            changes: Some(changes),
            ..self
        }
    }

    /// Sets the way to the other nodes of a cluster.
    #[must_use]
    pub fn publishing(self, publishing: Option<Publishing>) -> Self {
        Self { publishing, ..self }
    }

    /// Sets the way to the object store of a cluster.
    #[must_use]
    pub fn uploading(self, uploads: Option<Arc<Uploads>>) -> Self {
        Self { uploads, ..self }
    }

    /// Sets whether the crawl drops pages (`--buffer`).
    #[must_use]
    pub fn buffered(self, buffered: bool) -> Self {
        Self { buffered, ..self }
    }

    /// Limits uncommitted text in the index to `reserve` bytes, for which the reserved disk space
    /// suffices, and to 32 MiB in any case.
    #[must_use]
    pub fn with_reserve(self, reserve: Option<u64>) -> Self {
        Self {
            most_queued: reserve.unwrap_or(INDEX_BYTES).min(INDEX_BYTES),
            ..self
        }
    }

    /// Commits work in groups until the channel closes. Then compacts the archive of a crawl with a
    /// buffer, commits the index and closes the archive.
    pub fn run(mut self, work: &Receiver<CommitWork>, done: impl Fn(CommitResult)) -> Result<()> {
        let mut indexed = Instant::now();
        let mut linked = Instant::now();
        let mut unindexed = false;
        let every = self.uploads.as_ref().map(|uploads| uploads.every());
        let idle = every.unwrap_or(INDEX_EVERY).min(INDEX_EVERY);
        loop {
            match work.recv_timeout(idle) {
                Ok(first) => {
                    let group = match &mut self.publishing {
                        Some(publishing) => publishing.gather(first, work),
                        None => std::iter::once(first).chain(work.try_iter()).collect(),
                    };
                    #[cfg(test)]
                    let (_held, group): (Vec<CommitWork>, Vec<CommitWork>) = group
                        .into_iter()
                        .partition(|work| matches!(work, CommitWork::Hold(_)));
                    done(self.commit(group)?);
                    unindexed = true;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.complete_file_in_time()?;
            let due = indexed.elapsed() >= INDEX_EVERY
                || self.queued >= self.most_queued
                || self.workload.is_some();
            if unindexed && due {
                if linked.elapsed() >= LINKS_EVERY {
                    self.add_pending_links()?;
                    linked = Instant::now();
                }
                self.publish()?;
                indexed = Instant::now();
                unindexed = false;
            }
        }
        if self.buffered {
            self.collect()?;
        }
        self.publish()?;
        if self.add_pending_links()? > 0 {
            self.publish()?;
        }
        self.close()
    }

    /// Offers links to the index that were found after their target pages were indexed. Returns the
    /// number of updated pages.
    fn add_pending_links(&mut self) -> Result<usize> {
        match &mut self.index {
            Some(index) => self.in_links.flush(index),
            None => Ok(0),
        }
    }

    /// Closes the archive.
    pub fn close(self) -> Result<()> {
        let Some(archive) = self.archive else {
            return Ok(());
        };
        let end = archive.end();
        archive.close().context("cannot close the archive")?;
        if let Some(uploads) = &self.uploads {
            uploads.complete_below(end.file + u32::from(end.offset > 0));
        }
        Ok(())
    }

    /// Completes the archive file that is written when it is due for its upload. Everything in it
    /// must be committed.
    fn complete_file_in_time(&mut self) -> Result<()> {
        let (Some(uploads), Some(archive)) = (&self.uploads, &mut self.archive) else {
            return Ok(());
        };
        let end = archive.end();
        match self.writing {
            _ if end.offset == 0 => self.writing = None,
            Some((file, since)) if file == end.file => {
                if since.elapsed() >= uploads.every() {
                    archive
                        .complete_open()
                        .context("cannot close a file of the archive")?;
                    fault::point("file-complete");
                    uploads.complete_below(archive.end().file);
                }
            }
            _ => self.writing = Some((end.file, Instant::now())),
        }
        Ok(())
    }

    /// Commits a group of work (group commit).
    pub fn commit(&mut self, group: Vec<CommitWork>) -> Result<CommitResult> {
        let begun = Instant::now();
        let mut batch = Batch::default();
        let (mut requests, mut gains) = (0, Vec::new());
        let mut exchange = Exchange::default();
        let mut digests = Vec::new();
        let mut changes = Vec::new();
        for work in group {
            match work {
                CommitWork::Records(records) => self.archive_records(&records)?,
                CommitWork::Keep(distance) => {
                    let now = || self.clock.now();
                    self.ledger
                        .keep_server(distance.server, &distance.facts, now)?;
                }
                CommitWork::Measure(workload) => self.workload = Some(workload),
                CommitWork::Offer(offers) => exchange.offers.extend(offers),
                CommitWork::Hurry => {}
                CommitWork::Taken(slot, sequence) => exchange.taken.push((slot, sequence)),
                CommitWork::Digest(reply) => digests.push(reply),
                CommitWork::Arrival(ArrivalWork::Copies(copies, _taken)) => {
                    self.index_copies(copies)?;
                }
                CommitWork::Arrival(ArrivalWork::Read(slot)) => self.read.push(slot),
                #[cfg(test)]
                CommitWork::Hold(_) => {}
                CommitWork::Core(crawl::Work::Facts(facts)) => batch.entries.extend(facts),
                CommitWork::Core(crawl::Work::Drop(pages)) => {
                    self.drop_pages(&pages, &mut batch.entries)?;
                }
                CommitWork::Core(crawl::Work::Pages(pages)) => {
                    for mut page in pages {
                        changes.extend(change(&page));
                        self.place_copy(&mut page, &mut batch.entries)?;
                        self.archive_page(&mut page)?;
                        requests += usize::from(page.asked);
                        gains.extend(self.index_page(&mut page)?);
                        batch.entries.extend(page.admitted);
                        batch
                            .entries
                            .push(Entry::Visited(page.key, Box::new(page.visited)));
                    }
                }
            }
        }
        if let Some(archive) = &mut self.archive {
            archive.sync().context("cannot write the archive")?;
            let end = archive.end();
            batch.archive_end = Some((end.file, end.offset));
        }
        if let Some(log) = &mut self.changes {
            log.append(changes)
                .context("cannot write the log of changes")?;
        }
        fault::point("archived");
        if let Some(publishing) = &mut self.publishing {
            batch.note = Some(publishing.mark_unpublished(&batch.entries));
        }
        self.ledger.commit(&batch)?;
        fault::point("committed");
        if let (Some(uploads), Some((file, _))) = (&self.uploads, batch.archive_end) {
            uploads.complete_below(file);
        }
        if let Some(publishing) = &mut self.publishing {
            publishing.publish(&batch.entries, exchange, self.ledger)?;
            publishing.trim(self.ledger)?;
            for reply in digests {
                // The asking thread may have stopped waiting.
                reply.send(publishing.digests(self.ledger)?).ok();
            }
        }
        Ok(CommitResult {
            facts: batch.entries,
            requests,
            gains,
            took: begun.elapsed(),
        })
    }

    /// Adds a page to the index, or removes it if it is gone.
    ///
    /// The change is not visible before the index commits, which follows the ledger's commit.
    /// Returns the gain for searchers, if it is measured.
    fn index_page(&mut self, page: &mut Record) -> Result<Option<Gain>> {
        let Some(index) = &mut self.index else {
            return Ok(None);
        };
        page.links
            .drain(..)
            .for_each(|link| self.in_links.add(link));
        let Some(text) = &page.text else {
            if page.gone {
                index
                    .remove(page.key.page)
                    .context("cannot write the index")?;
            }
            return Ok(None);
        };
        self.queued += text.body.len() as u64;
        let before = page.visited.history;
        let at = before.asked.unwrap_or_default().unix_seconds();
        let links = self.in_links.take(page.key.page);
        let gain = put(index, page.key, &page.url, at, text, &links)?;
        fault::point("indexed");
        let Some(gain) = gain else { return Ok(None) };
        page.visited.history = before.gained(gain as f32);
        Ok(Some(Gain {
            page: page.key.page,
            before,
            after: page.visited.history,
        }))
    }

    /// Adds the copies of pages that this node has taken over to the index, unless their pages have
    /// other copies by now.
    fn index_copies(&mut self, copies: Vec<ArrivedCopy>) -> Result<()> {
        let Some(index) = &mut self.index else {
            return Ok(());
        };
        for copy in copies {
            let known = self.ledger.visited(copy.key)?.and_then(|known| known.copy);
            if known.is_some_and(|known| known.place == Some(copy.place)) {
                self.queued += copy.text.body.len() as u64;
                let at = copy.fetched_at;
                put(index, copy.key, &copy.url, at, &copy.text, &copy.links)?;
            }
        }
        Ok(())
    }

    /// Sets the archive location of a copy that a visit took over from the previous visit.
    ///
    /// A page can be fetched again before the previous visit is committed, and a copy gets its
    /// location only in the commit.
    fn place_copy(&self, page: &mut Record, entries: &mut [Entry]) -> Result<()> {
        if self.archive.is_none() || page.copied {
            return Ok(());
        }
        let Some(copy) = page
            .visited
            .copy
            .as_mut()
            .filter(|copy| copy.place.is_none())
        else {
            return Ok(());
        };
        let before = match unwritten(entries, page.key) {
            Some(visited) => visited.copy.clone(),
            None => self
                .ledger
                .visited(page.key)?
                .and_then(|visited| visited.copy),
        };
        let same = before.filter(|before| before.at == copy.at && before.payload == copy.payload);
        copy.place = same.and_then(|before| before.place);
        Ok(())
    }

    fn archive_records(&mut self, records: &[Sealed]) -> Result<()> {
        let Some(archive) = &mut self.archive else {
            return Ok(());
        };
        for record in records {
            archive.append(record).context("cannot write the archive")?;
        }
        Ok(())
    }

    fn archive_page(&mut self, page: &mut Record) -> Result<()> {
        let (Some(archive), Some(sealed)) = (&mut self.archive, &page.sealed) else {
            return Ok(());
        };
        let place = archive.append(sealed).context("cannot write the archive")?;
        page.visited.place = Some(place);
        if let Some(copy) = &mut page.visited.copy
            && page.copied
            && copy.place.is_none()
        {
            copy.place = Some(place);
        }
        Ok(())
    }

    /// Commits the index, so that searches find its new documents.
    fn publish(&mut self) -> Result<()> {
        if let Some(index) = &mut self.index {
            index
                .commit(self.ledger.sequence()?)
                .context("cannot commit the index")?;
        }
        self.queued = 0;
        fault::point("published");
        if let Some(publishing) = self.publishing.as_mut().filter(|_| !self.read.is_empty()) {
            publishing.copies_read(&std::mem::take(&mut self.read), self.ledger)?;
        }
        let Some(index) = &mut self.index else {
            return Ok(());
        };
        if let Some(workload) = self.workload.take() {
            // The measurement reads the index, which shows its documents only after the commit.
            index.measure(&workload).context("cannot read the index")?;
        }
        Ok(())
    }
}

/// Returns what the visit to a page has changed for readers of the store.
fn change(page: &Record) -> Option<PageChange> {
    let history = &page.visited.history;
    let has_text = page
        .visited
        .copy
        .as_ref()
        .is_some_and(|copy| copy.text.is_some());
    let change = match history.outcome {
        _ if page.gone => ChangeKind::Gone,
        Some(Outcome::Changed) if !page.copied || !has_text || history.listing => return None,
        Some(Outcome::Changed) if page.before.fresh.is_none() => ChangeKind::New,
        Some(Outcome::Changed) => ChangeKind::Changed,
        _ => return None,
    };
    let title = page.text.as_ref().map(|text| text.title.clone());
    Some(PageChange {
        number: 0,
        at: written(history.asked.unwrap_or_default()),
        change,
        url: page.url.as_str().to_owned(),
        status: page.visited.status,
        title: title.filter(|title| !title.is_empty()),
    })
}

/// Returns the last visit to a page in a batch that is not committed yet.
pub(super) fn unwritten(entries: &mut [Entry], page: PageKey) -> Option<&mut Visited> {
    entries.iter_mut().rev().find_map(|entry| match entry {
        Entry::Visited(key, visited) if *key == page => Some(&mut **visited),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
