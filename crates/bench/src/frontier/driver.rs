//! Drives the frontier as the engine does, without the network.
//!
//! One thread owns the frontier. It sends what must be stored to the committer thread, in order.
//! Pages are settled in groups of [`GROUP`], and at most [`UNCOMMITTED`] pages are not durable yet.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use frontier::bench::Manners;
use frontier::{Entry, Frontier};
use ledger::{Batch, Ledger, LedgerError};
use policy::server::BestPrefix;
use policy::{Crawl, Moment, Price};

/// Pages in one group, as in the engine.
pub const GROUP: usize = 20;
/// The maximum number of uncommitted pages: one group, and one page per connection (64 by default).
const UNCOMMITTED: usize = GROUP + 64;

/// A frontier and its ledger.
pub struct FrontierDriver {
    /// The ledger.
    pub ledger: Arc<Ledger>,
    /// The frontier.
    pub frontier: Frontier<Crawl>,
    /// The simulated time. It advances with each event, and jumps when there is nothing to do but
    /// wait.
    pub now: Moment,
    /// Batches committed.
    pub commits: u64,
}

/// The queue to the committer.
pub struct CommitQueue {
    groups: Sender<CommitGroup>,
    committed: Receiver<Result<CommitGroup, LedgerError>>,
    uncommitted: usize,
}

struct CommitGroup {
    entries: Vec<Entry>,
    pages: usize,
}

/// Returns the empty frontier of `avocet crawl --order breadth-first`.
///
/// `bench order` measures what other orderings need in addition.
pub fn frontier() -> Frontier<Crawl> {
    // No limit per host: the largest hosts of the Zipf distribution are part of the measurement.
    let manners = Manners {
        pages_per_host: u32::MAX,
        ..Manners::default()
    };
    let strategy = Box::new(BestPrefix);
    Frontier::new(Crawl::default(), strategy, Price::LEAST, manners, 0x5eed)
}

impl FrontierDriver {
    /// Creates an empty frontier over a new ledger.
    pub fn new(ledger: &Path) -> Result<Self> {
        Ok(Self {
            ledger: Arc::new(Ledger::open(ledger)?),
            frontier: frontier(),
            now: Moment::from_micros(1_700_000_000_000_000),
            commits: 0,
        })
    }

    /// Runs work with a committer thread, and returns when all that it sent is durable.
    pub fn work(
        &mut self,
        work: impl FnOnce(&mut Self, &mut CommitQueue) -> Result<()>,
    ) -> Result<()> {
        let (groups, waiting) = mpsc::channel();
        let (done, committed) = mpsc::channel();
        let ledger = Arc::clone(&self.ledger);
        thread::scope(|scope| {
            scope.spawn(move || commit_all(&ledger, &waiting, &done));
            let mut queue = CommitQueue {
                groups,
                committed,
                uncommitted: 0,
            };
            work(self, &mut queue)?;
            // Without a sender, the committer ends after the last group.
            drop(queue.groups);
            for group in queue.committed {
                self.committed(&group?);
            }
            Ok(())
        })
    }

    /// Advances the simulated time by a microsecond.
    pub fn tick(&mut self) -> Moment {
        self.now = self.now + Duration::from_micros(1);
        self.now
    }

    fn committed(&mut self, group: &CommitGroup) {
        self.frontier.committed(&group.entries);
        self.commits += 1;
    }
}

impl CommitQueue {
    /// Sends the entries of `pages` pages, and waits while too many pages are uncommitted.
    pub fn send(
        &mut self,
        driver: &mut FrontierDriver,
        entries: Vec<Entry>,
        pages: usize,
    ) -> Result<()> {
        const STOPPED: &str = "the committer has stopped";
        let group = CommitGroup { entries, pages };
        self.groups.send(group).ok().context(STOPPED)?;
        self.uncommitted += pages;
        loop {
            let group = match self.committed.try_recv() {
                Ok(group) => group?,
                Err(_) if self.uncommitted <= UNCOMMITTED => return Ok(()),
                Err(_) => self.committed.recv().context(STOPPED)??,
            };
            self.uncommitted -= group.pages;
            driver.committed(&group);
        }
    }
}

/// Commits all groups that wait in one batch, until the queue is dropped or a commit fails.
fn commit_all(
    ledger: &Ledger,
    waiting: &Receiver<CommitGroup>,
    done: &Sender<Result<CommitGroup, LedgerError>>,
) {
    while let Ok(CommitGroup { entries, mut pages }) = waiting.recv() {
        let mut batch = Batch {
            entries,
            ..Batch::default()
        };
        for group in waiting.try_iter() {
            batch.entries.extend(group.entries);
            pages += group.pages;
        }
        let committed = ledger.commit(&batch);
        let failed = committed.is_err();
        let entries = batch.entries;
        let sent = done.send(committed.map(|_| CommitGroup { entries, pages }));
        if failed || sent.is_err() {
            return;
        }
    }
}
