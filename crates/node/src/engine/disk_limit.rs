//! The limit on the free disk space of a crawl (`[store] min_free`).
//!
//! Below twice the limit, each request waits before it is made, ever longer as the disk fills up.
//! Below the limit, the crawl stops with an error, and everything that it fetched is committed.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Result, bail};
use ledger::Ledger;
use tracing::warn;

use crate::number::bytes;
use crate::recovery;
use crate::store::{self, Store};

/// The wait before a request when the free space has nearly reached the limit.
const LONGEST: Duration = Duration::from_secs(30);

/// The wait before each request, which the driver sets and requests obey. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Brake(Arc<AtomicU64>);

impl Brake {
    /// Waits as long as the driver has set.
    pub async fn wait(&self) {
        let wait = Duration::from_millis(self.0.load(Ordering::Relaxed));
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
    }

    fn set(&self, wait: Duration) {
        let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        self.0.store(millis, Ordering::Relaxed);
    }
}

/// Watches the free space of the disk.
#[derive(Debug)]
pub struct DiskWatch {
    /// What requests obey.
    pub brake: Brake,
    /// Bytes that stay free; `None`: no limit.
    least: Option<u64>,
    is_slow: bool,
}

impl DiskWatch {
    /// Returns a watch with a limit in bytes.
    pub fn new(least: Option<u64>) -> Self {
        Self {
            brake: Brake::default(),
            least,
            is_slow: false,
        }
    }

    /// Sets the wait of requests by the free space of the disk. Tells the operator when requests
    /// begin to wait. Fails below the limit, once.
    pub fn check(&mut self, root: &Path, note: impl Fn(&str)) -> Result<()> {
        let Some((least, free)) = self.least.zip(store::free(root)) else {
            return Ok(());
        };
        let Some(wait) = wait(free, least) else {
            self.least = None;
            bail!(
                "only {} are free on the disk of {}, and [store] min_free is {}: what was fetched is safe; make room, \
                 then run the same command to resume",
                bytes(free as f64),
                root.display(),
                bytes(least as f64)
            );
        };
        self.brake.set(wait);
        if !wait.is_zero() && !self.is_slow {
            note("slower: the disk has less than twice [store] min_free left");
        }
        self.is_slow = !wait.is_zero();
        Ok(())
    }
}

/// Makes all pages that the ledger has committed searchable although the disk is full.
///
/// The reserved disk space is freed for this. The crawl's index writer has pages that were never
/// committed, so it is discarded, and the index catches up with the ledger as at a start.
pub fn publish_last_commits(store: &Store, ledger: &Ledger) {
    store.release_reserve();
    if let Err(error) = recovery::open_index(store, ledger) {
        warn!(
            "the last pages become searchable at the next start with enough disk space: {error:#}"
        );
    }
}

/// Returns the wait before each request: nothing at twice the limit, [`LONGEST`] at the limit.
/// Returns `None` below the limit.
fn wait(free: u64, least: u64) -> Option<Duration> {
    let spare = free.checked_sub(least)?;
    let share = 1.0 - (spare as f64 / least.max(1) as f64).min(1.0);
    // The square keeps the crawl nearly at full speed at first.
    Some(LONGEST.mul_f64(share * share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_wait_longer_as_the_disk_fills_up() {
        assert_eq!(wait(300, 100), Some(Duration::ZERO));
        assert_eq!(wait(200, 100), Some(Duration::ZERO));
        assert_eq!(wait(150, 100), Some(LONGEST / 4));
        assert_eq!(wait(100, 100), Some(LONGEST));
        assert_eq!(wait(99, 100), None);
    }
}
