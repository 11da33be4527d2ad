//! Reopens the search index after a crawl, in this process or another, has committed.
//!
//! **Invariant:** the thread notices a commit of the index within half a second. No search waits
//! until the index is reopened: running searches continue on the old state of the index.

use std::path::Path;
use std::time::Duration;

use repository::index::Index;

use super::modified;
use crate::fault;

/// How often the index is checked for a commit.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Starts a thread that follows the index in `directory` until the program ends.
pub fn start(index: &Index, directory: &Path) -> std::io::Result<()> {
    let (index, list) = (index.clone(), directory.join("meta.json"));
    let mut seen = modified(&list);
    std::thread::Builder::new()
        .name("watch".into())
        .spawn(move || {
            loop {
                std::thread::sleep(LOOK_EVERY);
                fault::point("watch");
                // The file is missing while a crawl rebuilds the index, and after the demo has
                // deleted its store. The index that is open stays usable.
                let now = modified(&list);
                if now.is_none() || now == seen {
                    continue;
                }
                seen = now;
                if let Err(error) = index.refresh() {
                    tracing::warn!(%error, "the index cannot be read again");
                    seen = None;
                }
            }
        })?;
    Ok(())
}
