//! Access of a command to a store, whether or not a crawl runs on it.
//!
//! If no process has the store, the command locks it. If a crawl has it, the command reads the
//! ledger through the [socket](crate::socket) of the crawl, or borrows the store for the time in
//! which it writes. If another command has it, this one waits.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use ledger::{Ledger, LedgerReader};

use crate::socket::{BorrowedFromCrawl, StoreClient};
use crate::store::{self, InUse, Store};

/// How long a command waits for a process that has the store and does not answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time between two attempts to get the store.
const RETRY_EVERY: Duration = Duration::from_millis(100);

/// A store to read: its ledger as it was at one moment, its archive and its index.
pub struct StoreView {
    root: PathBuf,
    reader: LedgerReader,
    held: Option<HeldStore>,
}

/// A store that this process has locked.
struct HeldStore {
    ledger: Arc<Ledger>,
    store: Store,
}

impl StoreView {
    /// Opens the store at `root`, which must exist.
    pub fn open(root: &Path) -> Result<Self> {
        store::must_exist(root)?;
        Self::acquire(root, Store::open)
    }

    /// Opens the store at `root`, or creates it.
    pub fn create(root: &Path) -> Result<Self> {
        Self::acquire(root, Store::create)
    }

    fn acquire(root: &Path, open: impl Fn(&Path) -> Result<Store>) -> Result<Self> {
        let here = || {
            let store = open(root)?;
            let ledger = store.ledger()?;
            Ok(Self {
                root: root.to_owned(),
                reader: LedgerReader::clone(&ledger),
                held: Some(HeldStore { ledger, store }),
            })
        };
        let there = |client: StoreClient| {
            Ok(Self {
                root: root.to_owned(),
                reader: client.read()?,
                held: None,
            })
        };
        acquire(root, here, there)
    }

    /// Returns the directory of the store.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the directory of the archive.
    pub fn archive(&self) -> PathBuf {
        store::archive(&self.root)
    }

    /// Returns the directory of the index.
    pub fn index(&self) -> PathBuf {
        store::index(&self.root)
    }

    /// Returns the reader of the ledger.
    pub fn ledger(&self) -> &LedgerReader {
        &self.reader
    }

    /// Returns the store and its ledger if this process has locked it; `None` if a crawl runs.
    pub fn held(&self) -> Option<(&Store, &Ledger)> {
        let held = self.held.as_ref()?;
        Some((&held.store, &held.ledger))
    }
}

/// A store to write. A crawl that runs on it waits until this is dropped.
pub struct StoreToWrite {
    store: Store,
    /// Dropped after the store, so that the crawl finds the store unlocked.
    _crawl: Option<BorrowedFromCrawl>,
}

impl Deref for StoreToWrite {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

impl StoreToWrite {
    /// Opens the store at `root`, which must exist.
    pub fn open(root: &Path) -> Result<Self> {
        Self::acquire(root, Store::open)
    }

    /// Opens the store at `root`, or creates it.
    pub fn create(root: &Path) -> Result<Self> {
        Self::acquire(root, Store::create)
    }

    /// Opens a store whose ledger and index will be rebuilt, as [`Store::open_to_rebuild`] does.
    pub fn open_to_rebuild(root: &Path) -> Result<Self> {
        Self::acquire(root, Store::open_to_rebuild)
    }

    fn acquire(root: &Path, open: impl Fn(&Path) -> Result<Store>) -> Result<Self> {
        let here = || {
            Ok(Self {
                store: open(root)?,
                _crawl: None,
            })
        };
        let there = |client: StoreClient| {
            let crawl = client.borrow()?;
            tracing::info!("the crawl waits until this command is done");
            // A server or another command may have been faster.
            let store = retry(|| open(root), PATIENCE)?;
            Ok(Self {
                store,
                _crawl: Some(crawl),
            })
        };
        acquire(root, here, there)
    }
}

/// Explains a URL by the frontier of the crawl that runs on a store. Returns `None` if none runs.
pub fn explain_running(root: &Path, url: &str) -> Result<Option<serde_json::Value>> {
    let client = StoreClient::connect(root);
    client.map(|client| client.explain(url)).transpose()
}

/// Gets a store by `here`, or by `there` if a crawl has it. Waits while another command has it.
fn acquire<T>(
    root: &Path,
    here: impl Fn() -> Result<T>,
    there: impl Fn(StoreClient) -> Result<T>,
) -> Result<T> {
    let begun = Instant::now();
    let mut is_announced = false;
    loop {
        let in_use = match here() {
            Err(error) if error.is::<InUse>() => error,
            done => return done,
        };
        if let Some(client) = StoreClient::connect(root) {
            match there(client) {
                // The crawl has ended meanwhile.
                Err(error) if error.is::<std::io::Error>() => {}
                done => return done,
            }
        }
        if begun.elapsed() > PATIENCE {
            return Err(in_use).context("the store did not become free within 30 s");
        }
        if !std::mem::replace(&mut is_announced, true) {
            tracing::info!("waiting: {in_use}");
        }
        std::thread::sleep(RETRY_EVERY);
    }
}

/// Repeats `open` while another process has the store.
fn retry<T>(open: impl Fn() -> Result<T>, patience: Duration) -> Result<T> {
    let begun = Instant::now();
    loop {
        match open() {
            Err(error) if error.is::<InUse>() && begun.elapsed() < patience => {
                std::thread::sleep(RETRY_EVERY);
            }
            done => return done,
        }
    }
}
