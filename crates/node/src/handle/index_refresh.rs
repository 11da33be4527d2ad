//! Reopens the search index after a crawl has committed, in this process or another.
//!
//! **Invariant:** what is committed is found within a moment, and no search waits for it: the index is opened
//! anew beside those that go on, and only when it has changed.

use std::path::Path;
use std::time::{Duration, SystemTime};

use repository::index::Index;

use crate::fault;

/// How often the index is looked at. A crawl commits every half second.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Follows the index in a directory, as long as the program runs.
pub fn start(index: &Index, directory: &Path) -> std::io::Result<()> {
    let (index, list) = (index.clone(), directory.join("meta.json"));
    let mut seen = written(&list);
    std::thread::Builder::new()
        .name("watch".into())
        .spawn(move || {
            loop {
                std::thread::sleep(LOOK_EVERY);
                fault::point("watch");
                // A demo's store is deleted in the end, and a crawl may be making an index anew: what was read stays.
                let now = written(&list);
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

fn written(file: &Path) -> Option<SystemTime> {
    std::fs::metadata(file).ok()?.modified().ok()
}
