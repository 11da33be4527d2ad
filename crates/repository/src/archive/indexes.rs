//! Writes the CDXJ index of a file when the file is closed. Verifies and recreates indexes.
//!
//! **Invariant:** an index is derived data. It describes its file and can always be recreated
//! from it.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use serde::Deserialize;
use xxhash_rust::xxh3::xxh3_64;

use super::cdxj::{self, CdxjEntry};
use super::scan::OWN_LIMIT;
use super::seal::Sealed;
use super::{ArchiveError, RecordLocation, Records, WarcRecord, files};

/// An entry with the offset and the length of its record.
type LocatedEntry = (CdxjEntry, u64, u32);

/// Writes the index of a file and syncs it.
pub(super) fn write(dir: &Path, number: u32, entries: &[LocatedEntry]) -> Result<(), ArchiveError> {
    let index = cdxj::render(entries, &files::name(&files::closed(dir, number)));
    let path = files::cdxj(dir, number);
    let written = || -> std::io::Result<()> {
        let mut file = File::create(&path)?;
        file.write_all(index.as_bytes())?;
        file.sync_all()
    };
    written().map_err(ArchiveError::io("write to", &path))
}

/// Reads the records of a file that begin before an offset, and returns their entries.
///
/// A damaged record has no entry: the index lists what can be read, and a scan reports what
/// cannot.
pub(super) fn entries_before(path: &Path, offset: u64) -> Result<Vec<LocatedEntry>, ArchiveError> {
    let mut entries = Vec::new();
    if offset == 0 {
        return Ok(entries);
    }
    for found in Records::open(path, OWN_LIMIT)?.flatten() {
        if found.offset >= offset {
            break;
        }
        let length = found.length.and_then(|length| u32::try_from(length).ok());
        entries.extend(length.and_then(|length| placed(&found.record, found.offset, length)));
    }
    Ok(entries)
}

fn placed(record: &WarcRecord, offset: u64, length: u32) -> Option<LocatedEntry> {
    CdxjEntry::of(record).map(|entry| (entry, offset, length))
}

/// Reads every file and passes each readable record to `visit`. Compares the index of each closed
/// file with the file. Returns the problems found. An error of the disk or of `visit` ends the
/// verification.
pub fn verify<E: From<ArchiveError>>(
    dir: &Path,
    mut visit: impl FnMut(&RecordLocation, &WarcRecord) -> Result<(), E>,
) -> Result<Vec<ArchiveError>, E> {
    let mut problems = Vec::new();
    let mut entries: BTreeMap<u32, Vec<LocatedEntry>> = BTreeMap::new();
    for (number, _) in files::list(dir)? {
        if files::closed(dir, number).exists() {
            entries.insert(number, Vec::new());
        }
    }
    for found in super::scan(dir)? {
        match found {
            Ok((at, record)) => {
                if let Some(entries) = entries.get_mut(&at.file) {
                    entries.extend(placed(&record, at.offset, at.length));
                }
                visit(&at, &record)?;
            }
            Err(error @ ArchiveError::Io { .. }) => return Err(error.into()),
            Err(error) => problems.push(error),
        }
    }
    for (file, entries) in entries {
        let expected = cdxj::render(&entries, &files::name(&files::closed(dir, file)));
        let path = files::cdxj(dir, file);
        if !fs::read(&path).is_ok_and(|found| found == expected.as_bytes()) {
            problems.push(ArchiveError::WrongIndex { path, file });
        }
    }
    Ok(problems)
}

/// Returns what the index of a file would contain now.
pub(super) fn of_file(path: &Path) -> Result<String, ArchiveError> {
    let entries = entries_before(path, u64::MAX)?;
    Ok(cdxj::render(&entries, &files::name(path)))
}

/// Recreates the index of a closed file.
pub fn make_index(dir: &Path, file: u32) -> Result<(), ArchiveError> {
    write(
        dir,
        file,
        &entries_before(&files::closed(dir, file), u64::MAX)?,
    )
}

/// Completes a file that a killed writer left open: cuts off an incomplete last record, writes
/// the index and renames the file. Does nothing if the file is closed.
pub(super) fn complete(dir: &Path, file: u32) -> Result<(), ArchiveError> {
    let (open, closed) = (files::open(dir, file), files::closed(dir, file));
    if closed.exists() {
        return Ok(());
    }
    cut_torn_end(&open)?;
    write(dir, file, &entries_before(&open, u64::MAX)?)?;
    fs::rename(&open, &closed).map_err(ArchiveError::io("rename", &open))
}

/// Cuts off the incomplete last record that a killed writer left.
fn cut_torn_end(path: &Path) -> Result<(), ArchiveError> {
    let torn = Records::open(path, OWN_LIMIT)?.find_map(|found| match found {
        Err(ArchiveError::Torn { offset, .. }) => Some(offset),
        _ => None,
    });
    let Some(offset) = torn else { return Ok(()) };
    let file = File::options().write(true).open(path);
    let cut = file.and_then(|file| {
        file.set_len(offset)?;
        file.sync_all()
    });
    cut.map_err(ArchiveError::io("cut", path))
}

/// The set of captures that an archive contains, so that an import skips captures it has
/// imported before.
///
/// A capture is identified by its URL, its time in seconds and its body digest; a CDXJ line
/// contains all three. The set stores a 64-bit hash of each capture's three values.
#[derive(Debug, Default)]
pub struct Inventory(HashSet<u64>);

impl Inventory {
    /// Collects the captures of an archive.
    pub fn of(dir: &Path) -> Result<Self, ArchiveError> {
        let mut inventory = Self::default();
        if !dir.exists() {
            return Ok(inventory);
        }
        for (number, path) in files::list(dir)? {
            if let Ok(index) = fs::read_to_string(files::cdxj(dir, number)) {
                inventory.0.extend(index.lines().filter_map(hash_of_line));
                continue;
            }
            let entries = entries_before(&path, u64::MAX)?;
            inventory
                .0
                .extend(entries.iter().filter_map(|(entry, ..)| hash_of(entry)));
        }
        Ok(inventory)
    }

    /// Adds a capture. Returns whether it is new.
    pub fn add(&mut self, sealed: &Sealed) -> bool {
        hash_of(&sealed.entry).is_none_or(|hash| self.0.insert(hash))
    }
}

/// The JSON fields of a CDXJ line that identify a capture.
#[derive(Deserialize)]
struct Identity<'a> {
    #[serde(borrow)]
    url: Cow<'a, str>,
    #[serde(borrow, default)]
    digest: Cow<'a, str>,
}

fn hash_of_line(line: &str) -> Option<u64> {
    let mut parts = line.splitn(3, ' ').skip(1);
    let (time, json) = (parts.next()?, parts.next()?);
    let Identity { url, digest } = serde_json::from_str(json).ok()?;
    Some(hash(time, &digest, &url))
}

fn hash_of(entry: &CdxjEntry) -> Option<u64> {
    let digest = entry.digest.map(|digest| digest.to_string());
    let time = cdxj::time(entry.millis)?;
    Some(hash(&time, &digest.unwrap_or_default(), &entry.url))
}

fn hash(time: &str, digest: &str, url: &str) -> u64 {
    xxh3_64(format!("{time} {digest} {url}").as_bytes())
}
