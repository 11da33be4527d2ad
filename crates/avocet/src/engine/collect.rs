//! What falls out of the buffer leaves ledger, index and archive.
//!
//! The ledger keeps that the page was visited, so that it is not fetched again, and that its copy is
//! gone. The archive is collected when the crawl ends: of files that pages were dropped from, what is
//! still kept is copied to the end, its new places are committed, and the files are deleted.

use std::collections::HashMap;

use anyhow::{Context, Result};
use frontier::{Batch, Entry, PageKey, Place, Visited};
use repository::archive::{self, Location};

use super::committer::{Change, Committer, crash_point};

/// Why a page that was fetched has no copy.
pub const DROPPED: &str = "buffer:dropped";

impl Committer<'_> {
    /// Takes pages out of what is kept: the record of each, and its document.
    pub(super) fn drop_pages(
        &mut self,
        pages: &[PageKey],
        entries: &mut Vec<Entry>,
        changes: &mut Vec<Change>,
    ) -> Result<()> {
        for &page in pages {
            let unwritten = entries.iter_mut().find_map(|entry| match entry {
                Entry::Visited(key, visited) if *key == page => Some(visited),
                _ => None,
            });
            if let Some(visited) = unwritten {
                self.emptied.extend(forget(visited));
            } else if let Some(mut visited) = self.ledger.visited(page)? {
                self.emptied.extend(forget(&mut visited));
                entries.push(Entry::Visited(page, Box::new(visited)));
            }
            changes.push((page, None));
        }
        Ok(())
    }

    /// Makes room in the archive: files that pages were dropped from are written anew.
    pub(super) fn collect(&mut self) -> Result<()> {
        let Some(archive) = &mut self.archive else {
            return Ok(());
        };
        if self.emptied.is_empty() {
            return Ok(());
        }
        let mut live: HashMap<u32, Vec<(PageKey, Visited)>> = HashMap::new();
        for known in self.ledger.scan() {
            let known = known?;
            let Some(visited) = known.visited else {
                continue;
            };
            if let Some(place) = visited.copy.as_ref().and_then(|copy| copy.place) {
                live.entry(place.file)
                    .or_default()
                    .push((known.key, visited));
            }
        }
        // A kill may have left a file whose pages are elsewhere by now.
        let files = archive::sizes(archive.dir()).context("cannot list the archive")?;
        let open = archive.end().file;
        let stale = files.iter().map(|(file, _)| *file);
        let stale = stale.filter(|file| *file != open && !live.contains_key(file));
        self.emptied.extend(stale);
        for file in std::mem::take(&mut self.emptied) {
            let pages = live.remove(&file).unwrap_or_default();
            let places: Vec<Location> = pages
                .iter()
                .filter_map(|(_, page)| location(page))
                .collect();
            let moved = archive
                .keep(file, &places)
                .context("cannot make room in the archive")?;
            let end = moved.end();
            let mut batch = Batch {
                archive_end: Some((end.file, end.offset)),
                ..Batch::default()
            };
            for ((key, mut visited), place) in pages.into_iter().zip(moved.places()) {
                let place = Some(Place {
                    file: place.file,
                    offset: place.offset,
                    length: place.length,
                });
                visited.place = place;
                if let Some(copy) = &mut visited.copy {
                    copy.place = place;
                }
                batch.entries.push(Entry::Visited(key, Box::new(visited)));
            }
            crash_point("moved");
            self.ledger.commit(&batch)?;
            crash_point("collected");
            archive
                .discard(moved)
                .context("cannot delete a file of the archive")?;
        }
        Ok(())
    }
}

/// Forgets the copy of a page; returns the file of the archive that it is in.
fn forget(visited: &mut Visited) -> Option<u32> {
    visited.error = Some(DROPPED.to_owned());
    visited.place = None;
    let place = visited.copy.take().and_then(|copy| copy.place);
    place.map(|place| place.file)
}

fn location(visited: &Visited) -> Option<Location> {
    let place = visited.copy.as_ref()?.place?;
    Some(Location {
        file: place.file,
        offset: place.offset,
        length: place.length,
    })
}
