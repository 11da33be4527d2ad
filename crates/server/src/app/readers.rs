//! Who reads the disk while the server answers others?
//!
//! **Invariant:** a search never runs on a thread that serves connections, and no more searches run at once than
//! the machine has cores: more would only make each other slow. Who waits too long is told to come again.

use std::time::Duration;

use anyhow::Result;
use tokio::sync::Semaphore;

use node::fault;

/// How long a request waits for its turn.
const PATIENCE: Duration = Duration::from_secs(5);

/// Places for those who read.
pub struct Readers(Semaphore);

/// Too many search at once.
#[derive(Debug, thiserror::Error)]
#[error("too many searches at once: try again in a moment")]
pub struct Busy;

impl Readers {
    /// As many as there are cores.
    pub fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self(Semaphore::new(cores.max(2)))
    }

    /// Does work that reads the disk, elsewhere. A panic in it is an error here.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let turn = tokio::time::timeout(PATIENCE, self.0.acquire()).await;
        let Ok(Ok(_turn)) = turn else {
            return Err(Busy.into());
        };
        let work = move || {
            fault::point("read");
            work()
        };
        tokio::task::spawn_blocking(work).await?
    }
}
