//! Files of other nodes of a cluster, which a node reads and never writes.
//!
//! All nodes of a cluster number their files differently, so a location names one record in the
//! whole cluster. A node finds the files of others in two directories inside its archive:
//!
//! - `shared` is a symbolic link to the directory of an object store that is a file system;
//! - `fetched` has files that were copied from an object store that is none.
//!
//! **Invariant:** these files are complete. Scans, verification and garbage collection of the
//! archive leave them out: they belong to their object store.

use std::fs;
use std::path::{Path, PathBuf};

use super::{ArchiveError, RecordLocation, files};

/// A complete file of the archive, with its index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompleteFile {
    /// Its number.
    pub number: u32,
    /// Its path.
    pub path: PathBuf,
    /// The path of its CDXJ index.
    pub index: PathBuf,
}

/// Returns the directory of files that were copied from an object store.
pub fn fetched(dir: &Path) -> PathBuf {
    dir.join("fetched")
}

/// Returns the link to the directory of an object store.
pub fn shared(dir: &Path) -> PathBuf {
    dir.join("shared")
}

/// Returns the name of a complete file with this number.
pub fn file_name(number: u32) -> String {
    files::name(&files::closed(Path::new(""), number))
}

/// Returns the name of the index of a file.
pub fn index_name(number: u32) -> String {
    files::name(&files::cdxj(Path::new(""), number))
}

/// Returns the number in the name of a complete file; `None` for other names.
pub fn number_of(name: &str) -> Option<u32> {
    let number = files::number(Path::new(name))?;
    (name == file_name(number)).then_some(number)
}

/// Returns whether the archive itself has a file, complete or open.
pub fn is_own(dir: &Path, number: u32) -> bool {
    files::existing(dir, number).exists()
}

/// Returns whether a record can be read here: from the archive itself, or from a file of another
/// node.
pub fn is_here(dir: &Path, at: &RecordLocation) -> bool {
    let end = at.offset.saturating_add(at.length.into());
    let path = files::holding(dir, at.file, end);
    fs::metadata(path).is_ok_and(|found| found.len() >= end)
}

/// Returns the length of a file in bytes: that of the archive itself, or that of another node.
/// `None`: there is no such file.
pub fn length(dir: &Path, number: u32) -> Option<u64> {
    let path = files::holding(dir, number, u64::MAX);
    fs::metadata(path).ok().map(|found| found.len())
}

/// Lists the complete files of the archive itself whose numbers are below `end`.
pub fn complete_files(dir: &Path, end: u32) -> Result<Vec<CompleteFile>, ArchiveError> {
    if !dir.exists() {
        return Ok(Vec::new());
    }
    let below = |(number, path): (u32, PathBuf)| {
        let complete = number < end && path == files::closed(dir, number);
        complete.then(|| CompleteFile {
            number,
            index: files::cdxj(dir, number),
            path,
        })
    };
    Ok(files::list(dir)?.into_iter().filter_map(below).collect())
}

/// Makes `shared` a link to a directory. Replaces a link to another directory.
///
/// A backup may have copied the files behind the link: such a directory is kept under another name,
/// if possible that of `fetched`.
pub fn share(dir: &Path, target: &Path) -> Result<(), ArchiveError> {
    let link = shared(dir);
    if fs::read_link(&link).is_ok_and(|found| found == target) {
        return Ok(());
    }
    fs::create_dir_all(dir).map_err(ArchiveError::io("create", dir))?;
    if fs::symlink_metadata(&link).is_ok_and(|found| found.is_dir()) {
        let numbered = (1..).map(|count: u32| dir.join(format!("shared.copied-{count}")));
        let mut names = std::iter::once(fetched(dir)).chain(numbered);
        let free = names.find(|path| !path.exists());
        let free = free.expect("a directory has fewer than 2^32 files");
        fs::rename(&link, free).map_err(ArchiveError::io("rename", &link))?;
    }
    files::remove(&link)?;
    std::os::unix::fs::symlink(target, &link).map_err(ArchiveError::io("create", &link))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_of_another_node_is_found_where_its_file_is_long_enough() {
        let directory = tempfile::tempdir().unwrap();
        let dir = directory.path().join("archive");
        let target = directory.path().join("objects");
        fs::create_dir(&target).unwrap();
        share(&dir, Path::new("/nowhere")).unwrap();
        share(&dir, &target).unwrap();
        share(&dir, &target).unwrap();
        let at = |file| RecordLocation {
            file,
            offset: 4,
            length: 4,
        };
        let write = |dir: &Path, number, length| {
            fs::create_dir_all(dir).unwrap();
            fs::write(files::closed(dir, number), vec![0; length]).unwrap();
        };
        assert!(!is_here(&dir, &at(7)));
        write(&target, 7, 8);
        assert!(is_here(&dir, &at(7)) && !is_own(&dir, 7));
        assert_eq!(files::holding(&dir, 7, 8), files::closed(&shared(&dir), 7));
        // An older state of the store was restored: its own file is a beginning of the shared one.
        write(&dir, 7, 6);
        assert_eq!(files::holding(&dir, 7, 8), files::closed(&shared(&dir), 7));
        assert_eq!(files::holding(&dir, 7, 6), files::closed(&dir, 7));
        assert_eq!(files::holding(&dir, 7, 9), files::closed(&dir, 7));
        write(&fetched(&dir), 8, 8);
        assert!(is_here(&dir, &at(8)));
        assert_eq!((length(&dir, 8), length(&dir, 7)), (Some(8), Some(6)));
        assert_eq!(length(&dir, 9), None);
        assert_eq!(files::holding(&dir, 9, 1), files::open(&dir, 9));
    }

    #[test]
    fn a_copied_directory_of_shared_files_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let dir = directory.path();
        for round in 1..=2 {
            fs::create_dir(shared(dir)).unwrap();
            fs::write(files::closed(&shared(dir), round), "text").unwrap();
            share(dir, Path::new("/nowhere")).unwrap();
            fs::remove_file(shared(dir)).unwrap();
        }
        assert_eq!(length(dir, 1), Some(4));
        assert!(files::closed(&dir.join("shared.copied-1"), 2).exists());
    }

    #[test]
    fn complete_files_are_those_of_the_archive_itself_below_a_number() {
        let directory = tempfile::tempdir().unwrap();
        let dir = directory.path();
        fs::create_dir(fetched(dir)).unwrap();
        for path in [
            files::closed(dir, 1),
            files::closed(dir, 3),
            files::open(dir, 2),
        ] {
            fs::write(path, "").unwrap();
        }
        fs::write(files::closed(&fetched(dir), 1), "").unwrap();
        let numbers = |end| -> Vec<u32> {
            let files = complete_files(dir, end).unwrap().into_iter();
            files.map(|file| file.number).collect()
        };
        assert_eq!((numbers(9), numbers(3)), (vec![1, 3], vec![1]));
        assert_eq!(number_of(&file_name(1 << 20 | 1)), Some(1 << 20 | 1));
        assert_eq!(number_of("avocet-00000001.warc.gz.open"), None);
    }
}
