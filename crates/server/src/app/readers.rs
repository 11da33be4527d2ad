//! Runs work that reads the disk on blocking threads, a bounded number at a time.
//!
//! **Invariant:** this work never runs on a thread that serves connections. At most as many
//! requests run at once as the machine has processor cores (two at least); more would only slow
//! each other down. A request that waits longer than [`PATIENCE`] fails with [`Busy`].

use std::time::Duration;

use anyhow::Result;
use tokio::sync::Semaphore;

use node::fault;

/// The longest time that a request waits for a free permit.
const PATIENCE: Duration = Duration::from_secs(5);

/// Permits to read the disk.
pub struct Readers(Semaphore);

/// The error of a request that got no permit in time.
#[derive(Debug, thiserror::Error)]
#[error("too many searches at once: try again in a moment")]
pub struct Busy;

impl Readers {
    /// Creates as many permits as there are cores, at least two.
    pub fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self(Semaphore::new(cores.max(2)))
    }

    /// Runs work that reads the disk on a blocking thread. Returns a panic in it as an error.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let permit = tokio::time::timeout(PATIENCE, self.0.acquire()).await;
        let Ok(Ok(_permit)) = permit else {
            return Err(Busy.into());
        };
        let work = move || {
            fault::point("read");
            work()
        };
        tokio::task::spawn_blocking(work).await?
    }
}
