//! Removes records from files of the archive, because the operator wants them gone.
//!
//! This is the only operation that removes intact records and keeps the others where they are. A
//! file is written again without the removed records, byte for byte, and replaces the old one by a
//! rename, so a kill leaves one of the two. The order of the records stays, since `rebuild` replays
//! them in order. Their offsets change, so the caller must store the [`Cuts`] before
//! [`replace`], and change the locations that it knows ([`Cuts::moved`]) exactly once.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{ArchiveError, End, RecordLocation, files, indexes};

/// Records to remove from one file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cuts {
    /// The number of the file.
    pub file: u32,
    /// Offset and length of each record, in the order of the file, and the bytes that are removed
    /// before it.
    ranges: Vec<(u64, u64, u64)>,
}

impl Cuts {
    /// Returns cuts that remove these records of a file.
    pub fn new(file: u32, records: impl IntoIterator<Item = RecordLocation>) -> Self {
        let records = records.into_iter().filter(|at| at.file == file);
        let mut records: Vec<(u64, u64)> = records
            .map(|at| (at.offset, u64::from(at.length)))
            .collect();
        records.sort_unstable();
        records.dedup();
        let mut before = 0;
        let mut range = |(offset, length)| {
            before += length;
            (offset, length, before - length)
        };
        let ranges = records.into_iter().map(&mut range).collect();
        Self { file, ranges }
    }

    /// Returns the number of removed records.
    pub fn records(&self) -> usize {
        self.ranges.len()
    }

    /// Returns the number of removed bytes.
    pub fn bytes(&self) -> u64 {
        self.ranges
            .last()
            .map_or(0, |(_, length, before)| before + length)
    }

    /// Returns where a record of the archive is after the cuts; `None` if it is removed.
    pub fn moved(&self, at: RecordLocation) -> Option<RecordLocation> {
        if at.file != self.file {
            return Some(at);
        }
        let removed = self
            .ranges
            .binary_search_by_key(&at.offset, |range| range.0);
        removed.is_err().then(|| RecordLocation {
            offset: self.offset(at.offset),
            ..at
        })
    }

    /// Returns where the archive ends after the cuts.
    pub fn moved_end(&self, end: End) -> End {
        match end.file == self.file {
            true => End {
                offset: self.offset(end.offset),
                ..end
            },
            false => end,
        }
    }

    /// Returns the offset of a record boundary after the cuts.
    pub fn offset(&self, before: u64) -> u64 {
        let earlier = self.ranges.partition_point(|(start, ..)| *start < before);
        let last = earlier.checked_sub(1).map(|last| self.ranges[last]);
        before - last.map_or(0, |(_, length, removed)| removed + length)
    }
}

/// Writes a closed file again, without the removed records, under another name, and syncs it. The
/// archive ignores it until [`replace`].
pub fn write_without(dir: &Path, cuts: &Cuts) -> Result<(), ArchiveError> {
    let (old, new) = (files::closed(dir, cuts.file), rewritten(dir, cuts.file));
    let mut from = File::open(&old).map_err(ArchiveError::io("open", &old))?;
    let length = from
        .metadata()
        .map_err(ArchiveError::io("open", &old))?
        .len();
    let mut to = File::create(&new).map_err(ArchiveError::io("create", &new))?;
    let mut position = 0;
    let ends = cuts.ranges.iter().copied().chain([(length, 0, 0)]);
    for (start, cut, _) in ends {
        from.seek(SeekFrom::Start(position))
            .map_err(ArchiveError::io("read", &old))?;
        let kept = start.saturating_sub(position);
        let copied = io::copy(&mut Read::by_ref(&mut from).take(kept), &mut to);
        if copied.map_err(ArchiveError::io("write to", &new))? != kept {
            let offset = position;
            return Err(ArchiveError::Torn { path: old, offset });
        }
        position = start + cut;
    }
    to.flush().map_err(ArchiveError::io("write to", &new))?;
    to.sync_all().map_err(ArchiveError::io("sync", &new))?;
    files::sync_dir(dir)
}

/// Puts the file that [`write_without`] has written in the place of the old one, and makes its
/// index again. It may be called again after a kill.
pub fn replace(dir: &Path, file: u32) -> Result<(), ArchiveError> {
    let (new, old) = (rewritten(dir, file), files::closed(dir, file));
    if new.exists() {
        fs::rename(&new, &old).map_err(ArchiveError::io("rename", &new))?;
        files::sync_dir(dir)?;
    }
    indexes::make_index(dir, file)
}

/// Removes the files that a killed [`write_without`] has left. The caller knows that no stored cuts
/// refer to them.
pub fn remove_unfinished(dir: &Path) -> Result<(), ArchiveError> {
    for (file, _) in files::list(dir)? {
        files::remove(&rewritten(dir, file))?;
    }
    Ok(())
}

fn rewritten(dir: &Path, file: u32) -> PathBuf {
    let mut name = files::closed(dir, file).into_os_string();
    name.push(".rewritten");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(offset: u64, length: u32) -> RecordLocation {
        RecordLocation {
            file: 7,
            offset,
            length,
        }
    }

    #[test]
    fn records_behind_a_removed_one_move_to_the_front() {
        let cuts = Cuts::new(7, [at(300, 50), at(100, 20), at(100, 20)]);
        assert_eq!((cuts.records(), cuts.bytes()), (2, 70));
        assert_eq!(cuts.moved(at(0, 100)), Some(at(0, 100)));
        assert_eq!(cuts.moved(at(100, 20)), None);
        assert_eq!(cuts.moved(at(120, 180)), Some(at(100, 180)));
        assert_eq!(cuts.moved(at(350, 1)), Some(at(280, 1)));
        let other = RecordLocation {
            file: 8,
            ..at(350, 1)
        };
        assert_eq!(cuts.moved(other), Some(other));
        let end = End {
            file: 7,
            offset: 400,
        };
        assert_eq!(
            cuts.moved_end(end),
            End {
                file: 7,
                offset: 330
            }
        );
        let end = End {
            file: 8,
            offset: 400,
        };
        assert_eq!(cuts.moved_end(end), end);
    }
}
