//! Drives the frontier as the engine does, without the network.
//!
//! The frontier is behind one lock. Its changes go to one committer thread in the same order. Pages
//! are settled in groups of [`GROUP`], and at most [`UNCOMMITTED`] pages are not durable yet.
//!
//! **Invariant:** when a step returns, everything before it is in the ledger or in one of these
//! groups.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::thread;

use anyhow::{Result, bail};
use frontier::bench::Manners;
use frontier::{Entry, Frontier};
use ledger::{Batch, Ledger, LedgerError};
use policy::server::BestPrefix;
use policy::{Crawl, Moment, Price};

/// Pages in one group, as in the engine.
pub const GROUP: usize = 20;
/// The most uncommitted pages: one group, and one page per connection (64 by default).
const UNCOMMITTED: usize = GROUP + 64;

/// A frontier and its ledger.
pub struct FrontierDriver {
    /// The ledger.
    pub ledger: Ledger,
    shared: Mutex<DriverState>,
    changed: Condvar,
}

/// The state that the threads share.
pub struct DriverState {
    /// The frontier.
    pub frontier: Frontier<Crawl>,
    /// The simulated time. It advances with each event, and jumps when there is nothing to do but
    /// wait.
    pub now: Moment,
    /// Batches committed.
    pub commits: u64,
    uncommitted: usize,
    failure: Option<LedgerError>,
}

/// The queue to the committer, for one thread.
#[derive(Clone)]
pub struct CommitQueue<'a> {
    driver: &'a FrontierDriver,
    work: Sender<CommitGroup>,
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
        let shared = DriverState {
            frontier: frontier(),
            now: Moment::from_micros(1_700_000_000_000_000),
            commits: 0,
            uncommitted: 0,
            failure: None,
        };
        Ok(Self {
            ledger: Ledger::open(ledger)?,
            shared: Mutex::new(shared),
            changed: Condvar::new(),
        })
    }

    /// Runs work with a committer thread, and returns when all that it sent is durable.
    pub fn work<T>(&self, work: impl FnOnce(CommitQueue<'_>) -> Result<T>) -> Result<T> {
        let (sender, receiver) = mpsc::channel();
        let done = thread::scope(|scope| {
            scope.spawn(move || self.commit_all(&receiver));
            // The queue is dropped at the end of the work, and this ends the committer.
            work(CommitQueue {
                driver: self,
                work: sender,
            })
        });
        if let Some(failure) = self.lock().failure.take() {
            return Err(failure.into());
        }
        done
    }

    /// Locks the shared state.
    pub fn lock(&self) -> MutexGuard<'_, DriverState> {
        self.shared
            .lock()
            .expect("another task panicked while it held this lock")
    }

    fn commit_all(&self, work: &Receiver<CommitGroup>) {
        while let Ok(first) = work.recv() {
            let mut batch = Batch {
                entries: first.entries,
                archive_end: None,
            };
            let mut pages = first.pages;
            for group in work.try_iter() {
                batch.entries.extend(group.entries);
                pages += group.pages;
            }
            let committed = self.ledger.commit(&batch);
            let mut shared = self.lock();
            shared.frontier.committed(&batch.entries);
            shared.uncommitted -= pages;
            shared.commits += 1;
            if let Err(error) = committed {
                shared.failure = Some(error);
            }
            self.changed.notify_all();
        }
    }
}

impl CommitQueue<'_> {
    /// Sends the entries of `pages` pages, and waits while too many pages are uncommitted.
    pub fn send(&self, entries: Vec<Entry>, pages: usize) -> Result<()> {
        let mut shared = self.driver.lock();
        while shared.uncommitted + pages > UNCOMMITTED && shared.failure.is_none() {
            shared = self
                .driver
                .changed
                .wait(shared)
                .expect("another task panicked while it held this lock");
        }
        if shared.failure.is_some() {
            bail!("the committer has stopped");
        }
        shared.uncommitted += pages;
        if self.work.send(CommitGroup { entries, pages }).is_err() {
            bail!("the committer has stopped");
        }
        Ok(())
    }
}

impl DriverState {
    /// Advances the simulated time by a microsecond.
    pub fn tick(&mut self) -> Moment {
        self.now = self.now + std::time::Duration::from_micros(1);
        self.now
    }
}
