//! What a running crawl knows of its sources, written down for those who ask.

use std::path::Path;
use std::time::Duration;

use frontier::PageKey;
use policy::Moment;

use super::Engine;
use crate::sources::{Row, rows};
use crate::store;

/// How often it is written.
const EVERY: Duration = Duration::from_secs(30);
/// Sources that are written of: each costs two looks into the ledger.
const MOST: usize = 1000;

impl Engine {
    /// Writes it, if it is time to; `last` is when that was done last.
    pub(super) fn record_sources(&self, last: &mut Option<Moment>, root: &Path, now: Moment) {
        if last.is_some_and(|last| now.since(last) < EVERY) {
            return;
        }
        *last = Some(now);
        let rows = self.sources(MOST);
        let path = store::sources(root);
        let written = serde_json::to_vec(&rows)
            .map_err(std::io::Error::other)
            .and_then(|bytes| store::replace(&path, &bytes));
        if let Err(error) = written {
            tracing::debug!(%error, path = %path.display(), "the sources could not be written");
        }
    }

    /// The sources that name most worth, so many at most.
    pub(super) fn sources(&self, most: usize) -> Vec<Row> {
        let mut shared = self.shared();
        if shared.frontier.policy().sources.is_none() {
            return Vec::new();
        }
        let known = |key: PageKey| {
            let found = self.trust(self.ledger.discovery(key))??;
            Some((found.url, self.past(key)?))
        };
        rows(&mut shared.frontier, most, known)
    }
}
