//! Files in which a running crawl says how it stands and what it knows of its sources, for other processes.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::Engine;
use crate::explain::sources::{Row, best, rows};
use crate::store;

/// How often the sources are written.
pub(super) const SOURCES_EVERY: Duration = Duration::from_secs(30);
/// How often the state is written.
pub(super) const STATE_EVERY: Duration = Duration::from_secs(2);
/// Sources that are written of: each costs two looks into the ledger.
const MOST: usize = 1000;

impl Engine {
    /// Writes what is known of the sources where `avocet sources` finds it.
    pub(super) fn record_sources(&self, root: &Path) {
        write(&self.sources(MOST), &store::sources(root));
    }

    /// Writes the state of the crawl where `avocet status` finds it.
    pub(super) fn record_state(&self, root: &Path) {
        let snapshot = self.snapshot();
        write(&snapshot.state, &store::state(root));
        write(&*snapshot, &store::snapshot(root));
    }

    /// The sources that name most worth, so many at most.
    pub(super) fn sources(&self, most: usize) -> Vec<Row> {
        let keys = self.ask(move |core| best(core.frontier(), most));
        let mut known = HashMap::new();
        for key in keys.into_iter().flatten() {
            let found = self.trust(self.ledger.discovery(key)).flatten();
            let history = self.history(key).ok().flatten();
            if let (Some(found), Some(history)) = (found, history) {
                known.insert(key, (found.url, history));
            }
        }
        let rows = self.ask(move |core| rows(core.frontier(), most, |key| known.remove(&key)));
        rows.unwrap_or_default()
    }
}

/// Writes a file that the crawl does not need: where it cannot be written the crawl goes on.
fn write(what: &impl Serialize, path: &Path) {
    let written = serde_json::to_vec(what)
        .map_err(std::io::Error::other)
        .and_then(|bytes| store::replace(path, &bytes));
    if let Err(error) = written {
        tracing::debug!(%error, path = %path.display(), "the state could not be written");
    }
}
