//! Writes the state and the sources of a running crawl into files for other processes.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::Engine;
use crate::explain::sources::{SourceSummary, best, rows};
use crate::store;

/// How often the file of sources is written.
pub(super) const SOURCES_EVERY: Duration = Duration::from_secs(30);
/// How often the state file and the snapshot file are written.
pub(super) const STATE_EVERY: Duration = Duration::from_secs(2);
/// The maximum number of sources in the file: each costs two or three reads of the ledger.
const MOST: usize = 1000;

impl Engine {
    /// Writes the sources to the file that `avocet sources` reads.
    pub(super) fn record_sources(&self, root: &Path) {
        write(&self.sources(MOST), &store::sources(root));
    }

    /// Writes the state of the crawl to the file that `avocet status` reads, and the full snapshot.
    pub(super) fn record_state(&self, root: &Path) {
        let snapshot = self.snapshot();
        write(&snapshot.state, &store::state(root));
        write(&*snapshot, &store::snapshot(root));
    }

    /// Returns the sources with the most expected profit per second; at most `most`.
    pub(super) fn sources(&self, most: usize) -> Vec<SourceSummary> {
        let keys = self.ask(move |core| best(core.frontier(), most));
        let mut known = HashMap::new();
        for key in keys.into_iter().flatten() {
            let found = self.ok_or_stop(self.ledger.discovery(key)).flatten();
            let history = self.history(key).ok().flatten();
            if let (Some(found), Some(history)) = (found, history) {
                known.insert(key, (found.url, history));
            }
        }
        let rows = self.ask(move |core| rows(core.frontier(), most, |key| known.remove(&key)));
        rows.unwrap_or_default()
    }
}

/// Writes a file as JSON. The crawl does not need it, so a failure is only logged.
fn write(what: &impl Serialize, path: &Path) {
    let written = serde_json::to_vec(what)
        .map_err(std::io::Error::other)
        .and_then(|bytes| store::replace(path, &bytes));
    if let Err(error) = written {
        tracing::debug!(%error, path = %path.display(), "the state could not be written");
    }
}
