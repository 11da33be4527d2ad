//! Garbage collection of the archive: removes the records of pages that are no longer stored.
//!
//! Files are never rewritten, so a file is collected by copying:
//! 1. [`ArchiveWriter::keep`] copies its live records, byte for byte, to the end of the archive.
//! 2. The caller commits the new locations.
//! 3. [`ArchiveWriter::discard`] deletes the old file.
//!
//! **Invariant:** every committed location can be read at any time. A kill before the commit
//! leaves the old locations valid. When the archive is opened again, up to
//! [`ArchiveOptions::at_risk`](super::ArchiveOptions::at_risk) copies are cut off; more copies
//! stay, unused. A kill after the commit leaves the old file without live records; the next
//! collection removes it. The number of a deleted file is not used again, so an old location
//! never leads to another record.
//!
//! The caller decides which records are live. The program keeps only the last copy of each page,
//! so revisits, error answers and earlier copies are lost when their file is collected. A revisit
//! that remains names its original by URL and date, so the original may move.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::cdxj::CdxjEntry;
use super::{ArchiveError, ArchiveWriter, End, RecordLocation, files, scan};

/// The live records of a file, copied and synced. The value is the permission to discard the file.
#[must_use = "until the file is discarded, its live records take disk space twice"]
#[derive(Debug)]
pub struct Moved {
    file: u32,
    places: Vec<RecordLocation>,
    end: End,
}

impl Moved {
    /// Returns the new location of each record, in the order of the `live` argument of
    /// [`ArchiveWriter::keep`].
    pub fn places(&self) -> &[RecordLocation] {
        &self.places
    }

    /// Returns the end of the archive to commit together with the locations.
    pub fn end(&self) -> End {
        self.end
    }
}

impl ArchiveWriter {
    /// Copies the live records of a file to the end of the archive and syncs them. If the file
    /// is the open one, it is completed first.
    ///
    /// If a live record cannot be read, the error names it and the writer remains usable. The
    /// caller should then keep the file, because its content is unclear.
    pub fn keep(&mut self, file: u32, live: &[RecordLocation]) -> Result<Moved, ArchiveError> {
        self.complete(file)?;
        let mut in_order: Vec<(usize, RecordLocation)> = live.iter().copied().enumerate().collect();
        in_order.sort_unstable_by_key(|&(_, at)| at);
        let mut places = live.to_vec();
        for (index, at) in in_order {
            let (bytes, record) = scan::member(self.dir(), &at)?;
            let dated = record.at().unwrap_or(Timestamp::UNIX_EPOCH);
            places[index] = self.append_member(&bytes, dated, CdxjEntry::of(&record))?;
        }
        self.sync()?;
        let end = self.end();
        Ok(Moved { file, places, end })
    }

    /// Deletes a file and its index. Call it only after the [locations](Moved::places) and the
    /// [end](Moved::end) are committed; before, the ledger still refers to the file.
    ///
    /// The index is deleted first. A kill in between leaves a file without an index, which can
    /// still be collected. An index without its file would stay for ever: a collection lists
    /// archive files only.
    pub fn discard(&mut self, moved: Moved) -> Result<(), ArchiveError> {
        let dir = self.dir();
        files::remove(&files::cdxj(dir, moved.file))?;
        files::remove(&files::closed(dir, moved.file))?;
        files::sync_dir(dir)
    }
}

/// Returns the number and the length in bytes of each archive file. Collecting a file frees its
/// length less the length of its live records.
pub fn sizes(dir: &Path) -> Result<Vec<(u32, u64)>, ArchiveError> {
    let size = |(number, path): (u32, PathBuf)| {
        let found = fs::metadata(&path).map_err(ArchiveError::io("read", &path))?;
        Ok((number, found.len()))
    };
    files::list(dir)?.into_iter().map(size).collect()
}
