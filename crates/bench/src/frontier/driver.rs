//! How does the engine drive the frontier, without the web?
//!
//! As in `avocet::engine`: the frontier is behind one lock, what changes it goes to one committer
//! thread in the same order, pages are settled in groups, and at most so many are not durable yet.
//! **Invariant:** when a step returns, everything before it is in the ledger or in one of those groups.

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

/// Pages in one group: `avocet::engine::plan::GROUP`.
pub const GROUP: usize = 20;
/// Pages that may be uncommitted: a group, and as many as there are connections by default.
const UNCOMMITTED: usize = GROUP + 64;

/// A frontier and its ledger.
pub struct Driver {
    /// The facts.
    pub ledger: Ledger,
    shared: Mutex<Shared>,
    changed: Condvar,
}

/// What threads share.
pub struct Shared {
    /// The memory.
    pub frontier: Frontier<Crawl>,
    /// What time it is: it moves when something happens, and when all there is to do is to wait.
    pub now: Moment,
    /// Batches committed.
    pub commits: u64,
    uncommitted: usize,
    failure: Option<LedgerError>,
}

/// The end of the line to the committer, for one thread.
#[derive(Clone)]
pub struct Line<'a> {
    driver: &'a Driver,
    work: Sender<Group>,
}

struct Group {
    entries: Vec<Entry>,
    pages: usize,
}

/// The frontier of `avocet crawl --order breadth-first`, empty: what other orderings need beside it is
/// what `bench order` measures.
pub fn frontier() -> Frontier<Crawl> {
    // No host is large enough to be left alone: the head of Zipf's law is what is measured here.
    let manners = Manners {
        pages_per_host: u32::MAX,
        ..Manners::default()
    };
    let strategy = Box::new(BestPrefix);
    Frontier::new(Crawl::default(), strategy, Price::LEAST, manners, 0x5eed)
}

impl Driver {
    /// An empty frontier over a new ledger.
    pub fn new(ledger: &Path) -> Result<Self> {
        let shared = Shared {
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

    /// Works with a committer beside it; returns when all that was handed over is durable.
    pub fn work<T>(&self, work: impl FnOnce(Line<'_>) -> Result<T>) -> Result<T> {
        let (sender, receiver) = mpsc::channel();
        let done = thread::scope(|scope| {
            scope.spawn(move || self.commit_all(&receiver));
            // The line ends with the work, and the committer with the line.
            work(Line {
                driver: self,
                work: sender,
            })
        });
        if let Some(failure) = self.lock().failure.take() {
            return Err(failure.into());
        }
        done
    }

    /// The memory.
    pub fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared
            .lock()
            .expect("another task panicked while it held this lock")
    }

    fn commit_all(&self, work: &Receiver<Group>) {
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

impl Line<'_> {
    /// Hands over what so many pages brought, and waits while too much is not durable.
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
        if self.work.send(Group { entries, pages }).is_err() {
            bail!("the committer has stopped");
        }
        Ok(())
    }
}

impl Shared {
    /// Lets a microsecond pass.
    pub fn tick(&mut self) -> Moment {
        self.now = self.now + std::time::Duration::from_micros(1);
        self.now
    }
}
