//! Reads the archive: one record by its location, or all records in order.
//!
//! **Invariant:** a returned record was read completely: its gzip member decoded and its
//! checksum was right.

use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::{ArchiveError, Fault, RecordLocation, Records, WarcRecord, files};

/// Block limit for files of this archive: 1 GiB. It prevents a damaged or foreign file from
/// filling the memory.
pub(super) const OWN_LIMIT: u64 = 1 << 30;

/// Reads one record, also from a file of [another node](super::elsewhere).
pub fn read(dir: &Path, at: &RecordLocation) -> Result<WarcRecord, ArchiveError> {
    member(dir, at).map(|(_, record)| record)
}

/// Reads one record and the gzip member that contains it.
pub(super) fn member(
    dir: &Path,
    at: &RecordLocation,
) -> Result<(Vec<u8>, WarcRecord), ArchiveError> {
    let offset = at.offset;
    let path = files::holding(dir, at.file, offset.saturating_add(at.length.into()));
    let fail = || ArchiveError::io("read", &path);
    let mut file = File::open(&path).map_err(ArchiveError::io("open", &path))?;
    file.seek(SeekFrom::Start(offset)).map_err(fail())?;
    let mut bytes = Vec::new();
    file.take(u64::from(at.length))
        .read_to_end(&mut bytes)
        .map_err(fail())?;
    if bytes.len() < at.length as usize {
        return Err(ArchiveError::Torn { path, offset });
    }
    let misplaced = || ArchiveError::Damaged {
        path: path.clone(),
        offset,
        source: Fault::Misplaced,
    };
    let mut records = Records::new(Cursor::new(&bytes), &path, OWN_LIMIT)?;
    let found = match records.next() {
        None => return Err(misplaced()),
        Some(Ok(found)) => found,
        // Offsets within the member start at 0. The error must name the offset in the file.
        Some(Err(ArchiveError::Torn { path, .. })) => {
            return Err(ArchiveError::Torn { path, offset });
        }
        Some(Err(ArchiveError::Damaged { path, source, .. })) => {
            return Err(ArchiveError::Damaged {
                path,
                offset,
                source,
            });
        }
        Some(Err(other)) => return Err(other),
    };
    if found.length != Some(u64::from(at.length)) {
        return Err(misplaced());
    }
    Ok((bytes, found.record))
}

/// Reads all records of all files, closed and open, oldest first.
///
/// A damaged record is returned as an error, and the iteration continues with the next one. A
/// torn tail ends its file with [`ArchiveError::Torn`]. In the last file, a killed writer leaves
/// such a tail.
pub fn scan(dir: &Path) -> Result<ArchiveScan, ArchiveError> {
    Ok(ArchiveScan {
        dir: dir.to_owned(),
        files: files::list(dir)?.into_iter(),
        open: None,
    })
}

/// Iterates over all records of an archive.
pub struct ArchiveScan {
    dir: PathBuf,
    files: std::vec::IntoIter<(u32, PathBuf)>,
    open: Option<(u32, Records<File>)>,
}

impl Iterator for ArchiveScan {
    type Item = Result<(RecordLocation, WarcRecord), ArchiveError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some((number, records)) = &mut self.open else {
                let (number, path) = self.files.next()?;
                // A running crawl may have completed the file since it was listed.
                let path = match path.exists() {
                    true => path,
                    false => files::closed(&self.dir, number),
                };
                match Records::open(&path, OWN_LIMIT) {
                    Ok(records) => self.open = Some((number, records)),
                    Err(error) => return Some(Err(error)),
                }
                continue;
            };
            let file = *number;
            match records.next() {
                None => self.open = None,
                Some(Err(error)) => return Some(Err(error)),
                Some(Ok(found)) => {
                    let offset = found.offset;
                    let length = found.length.and_then(|length| u32::try_from(length).ok());
                    let found = match length {
                        Some(length) => Ok((
                            RecordLocation {
                                file,
                                offset,
                                length,
                            },
                            found.record,
                        )),
                        None => Err(records.misplaced(offset)),
                    };
                    return Some(found);
                }
            }
        }
    }
}
