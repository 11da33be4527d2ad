//! Removes pages that were dropped from the buffer (`--buffer`), and compacts the archive.
//!
//! The ledger still records that a dropped page was visited, so that it is not fetched again. The
//! archive is compacted when the crawl ends. For each file with dropped pages, the records that are
//! still kept are copied to the end of the archive, their new locations are committed, and the file
//! is deleted.
//!
//! **Invariant:** the ledger keeps the archive location of a dropped page until the file at that
//! location is compacted. So after a kill, the next crawl with a buffer still finds the records to
//! remove.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use crawl::is_dropped;
use crawl::verdict::DROPPED;
use frontier::{Entry, PageKey, Visited};
use ledger::Batch;
use page::RecordLocation;
use repository::archive;

use super::committer::{Committer, unwritten};
use crate::fault;

/// The pages whose records one archive file holds.
#[derive(Default)]
struct Held {
    kept: Vec<(PageKey, Visited)>,
    dropped: Vec<(PageKey, Visited)>,
}

impl Committer<'_> {
    /// Drops pages: marks their records as dropped and removes their documents from the index.
    pub(super) fn drop_pages(&mut self, pages: &[PageKey], entries: &mut Vec<Entry>) -> Result<()> {
        for &page in pages {
            if let Some(visited) = unwritten(entries, page) {
                forget(visited);
            } else if let Some(mut visited) = self.ledger.visited(page)? {
                forget(&mut visited);
                entries.push(Entry::Visited(page, Box::new(visited)));
            }
            if let Some(index) = &mut self.index {
                index.remove(page.page).context("cannot write the index")?;
            }
        }
        Ok(())
    }

    /// Compacts the archive: rewrites files with dropped pages, and deletes files with no kept page
    /// except the file that is being written.
    pub(super) fn collect(&mut self) -> Result<()> {
        let Some(archive) = &mut self.archive else {
            return Ok(());
        };
        let mut files: BTreeMap<u32, Held> = archive::sizes(archive.dir())
            .context("cannot list the archive")?
            .into_iter()
            .map(|(file, _)| (file, Held::default()))
            .collect();
        for known in self.ledger.scan() {
            let known = known?;
            let Some(visited) = known.visited else {
                continue;
            };
            if let Some(file) = kept_in(&visited) {
                let held = files.entry(file).or_default();
                held.kept.push((known.key, visited));
            } else if let Some(at) = visited.place.filter(|_| is_dropped(&visited)) {
                let held = files.entry(at.file).or_default();
                held.dropped.push((known.key, visited));
            }
        }
        let open = archive.end().file;
        let wasteful = |file: u32, held: &Held| {
            !held.dropped.is_empty() || (held.kept.is_empty() && file != open)
        };
        files.retain(|file, held| wasteful(*file, held));
        // The file that is being written comes first: otherwise, records of older files would be
        // copied into a file that is deleted afterwards.
        for (file, held) in files.into_iter().rev() {
            let kept = held.kept.iter().filter_map(|(_, page)| kept_at(page));
            let kept: Vec<RecordLocation> = kept.collect();
            let moved = archive
                .keep(file, &kept)
                .context("cannot compact the archive")?;
            let end = moved.end();
            let mut batch = Batch {
                archive_end: Some((end.file, end.offset)),
                ..Batch::default()
            };
            for ((key, mut visited), at) in held.kept.into_iter().zip(moved.places()) {
                visited.place = Some(*at);
                if let Some(copy) = &mut visited.copy {
                    copy.place = visited.place;
                }
                batch.entries.push(Entry::Visited(key, Box::new(visited)));
            }
            for (key, mut visited) in held.dropped {
                visited.place = None;
                batch.entries.push(Entry::Visited(key, Box::new(visited)));
            }
            fault::point("moved");
            self.ledger.commit(&batch)?;
            fault::point("collected");
            archive
                .discard(moved)
                .context("cannot delete a file of the archive")?;
        }
        Ok(())
    }
}

/// Removes the copy from a page's record, but keeps its archive location.
fn forget(visited: &mut Visited) {
    visited.error = Some(DROPPED.to_owned());
    visited.place = visited.copy.take().and_then(|copy| copy.place);
}

fn kept_at(visited: &Visited) -> Option<RecordLocation> {
    visited.copy.as_ref()?.place
}

fn kept_in(visited: &Visited) -> Option<u32> {
    kept_at(visited).map(|at| at.file)
}
