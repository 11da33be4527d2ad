//! How do pages that are no longer kept leave the archive?
//!
//! Files are never written again, so a file is collected by copying: its live records are
//! [kept](Writer::keep), byte for byte, at the end of the archive; the caller commits their new
//! places; then the old file is [discarded](Writer::discard) whole.
//!
//! **Invariant:** every committed place can be read at every instant. A kill before the commit
//! leaves the old places, and the copies are cut off when the archive is opened at its committed
//! end; a kill after it leaves the old file, in which nothing is live any more, for the next
//! collection. No file number is used twice, so an old place never leads to another record.
//!
//! What is live is the caller's to say. The ledger knows the places of copies of pages only, so
//! revisits and errors do not outlive the collection of their file; a revisit whose original is
//! gone would say nothing, and one that is kept names its original by URL and date, wherever
//! either of them lies.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::cdxj::Entry;
use super::{ArchiveError, End, RecordLocation, Writer, files, scan};

/// The live records of a file, copied and on the disk: the right to discard the file.
#[must_use = "a file that is not discarded takes its room twice"]
#[derive(Debug)]
pub struct Moved {
    file: u32,
    places: Vec<RecordLocation>,
    end: End,
}

impl Moved {
    /// The new place of each record, in the order in which they were given.
    pub fn places(&self) -> &[RecordLocation] {
        &self.places
    }

    /// The end of the archive to commit with the places.
    pub fn end(&self) -> End {
        self.end
    }
}

impl Writer {
    /// Copies the live records of a file to the end of the archive and syncs them. The open file is
    /// completed first if it is the one.
    ///
    /// A live record that cannot be read is an error that names it, and the writer can go on: the
    /// file should then be left alone, since what it still holds cannot be told.
    pub fn keep(&mut self, file: u32, live: &[RecordLocation]) -> Result<Moved, ArchiveError> {
        self.complete(file)?;
        let mut in_order: Vec<(usize, RecordLocation)> = live.iter().copied().enumerate().collect();
        in_order.sort_unstable_by_key(|&(_, at)| at);
        let mut places = live.to_vec();
        for (index, at) in in_order {
            let (bytes, record) = scan::member(self.dir(), &at)?;
            let dated = record.at().unwrap_or(Timestamp::UNIX_EPOCH);
            places[index] = self.append_member(&bytes, dated, Entry::of(&record))?;
        }
        self.sync()?;
        let end = self.end();
        Ok(Moved { file, places, end })
    }

    /// Deletes a file and its index. Only after the [places](Moved::places) and the
    /// [end](Moved::end) are committed: before, this would delete what the ledger counts on.
    ///
    /// The index goes first. What a kill leaves in between is a file without an index, which is
    /// still a file that can be collected; an index without its file would never be found.
    pub fn discard(&mut self, moved: Moved) -> Result<(), ArchiveError> {
        let dir = self.dir();
        files::remove(&files::cdxj(dir, moved.file))?;
        files::remove(&files::closed(dir, moved.file))?;
        files::sync_dir(dir)
    }
}

/// The files of the archive, by number, with their length in bytes: less what is live, the room
/// that collecting each would free.
pub fn sizes(dir: &Path) -> Result<Vec<(u32, u64)>, ArchiveError> {
    let size = |(number, path): (u32, PathBuf)| {
        let found = fs::metadata(&path).map_err(ArchiveError::io("read", &path))?;
        Ok((number, found.len()))
    };
    files::list(dir)?.into_iter().map(size).collect()
}
