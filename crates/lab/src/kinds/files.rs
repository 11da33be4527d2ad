//! The files of a directory as a history: exercise 6.3 of Baldi, Frasconi & Smyth, "Modeling the
//! Internet and the Web" (2003), which asks for the lifetimes of the files on a disk.
//!
//! A file is a page. Its last modification is a version, and its creation is one if the file system
//! says when it was, and it was earlier. No content is read, so that every version differs.
//!
//! **Invariant:** files are visited in the order of their names, and links are not followed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use policy::Moment;

use super::{Bodies, Histories, Version};
use crate::LabError;

/// The host of all files in the world.
const HOST: &str = "http://files.invalid";

/// Reads the times of all files in a directory and the directories in it.
///
/// # Errors
/// If a directory cannot be read, or there is no file.
pub fn read(root: &Path) -> Result<Histories, LabError> {
    let mut files = Vec::new();
    walk(root, &mut files)?;
    if files.is_empty() {
        let why = format!(
            "there is no file in {}: choose a directory with files",
            root.display()
        );
        return Err(LabError::Wish(why));
    }
    let mut urls = Vec::with_capacity(files.len());
    let mut versions: Vec<Version> = Vec::new();
    for file in &files {
        let page = urls.len() as u32;
        urls.push(url(file.path.strip_prefix(root).unwrap_or(&file.path)));
        let created = file.created.filter(|created| *created < file.modified);
        for at in created.into_iter().chain([file.modified]) {
            versions.push(Version {
                page,
                at,
                body: Some(versions.len() as u32),
            });
        }
    }
    let bodies = Bodies::unknown(versions.len() as u32);
    Ok(Histories::new(
        urls.iter().map(String::as_str),
        versions,
        bodies,
    ))
}

struct FileTimes {
    path: PathBuf,
    created: Option<Moment>,
    modified: Moment,
}

fn walk(directory: &Path, files: &mut Vec<FileTimes>) -> Result<(), LabError> {
    let unread = |source: std::io::Error| LabError::Read {
        path: directory.to_owned(),
        source,
    };
    let entries: Result<Vec<_>, _> = fs::read_dir(directory).map_err(unread)?.collect();
    let mut entries = entries.map_err(unread)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // A file can disappear while its directory is read.
        let Ok(known) = entry.metadata() else {
            continue;
        };
        if known.is_dir() {
            walk(&path, files)?;
        } else if known.is_file()
            && let Ok(modified) = known.modified()
        {
            files.push(FileTimes {
                path,
                created: known.created().ok().map(moment),
                modified: moment(modified),
            });
        }
    }
    Ok(())
}

/// Returns a time in whole seconds, as tables have them. A time before 1970 becomes 1970.
fn moment(time: SystemTime) -> Moment {
    let since = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or(Duration::ZERO);
    Moment::START + Duration::from_secs(since.as_secs())
}

/// Returns the URL of a file, by its path in the directory.
fn url(path: &Path) -> String {
    let mut url = HOST.to_owned();
    for part in path {
        url.push('/');
        for letter in part.to_string_lossy().chars() {
            match letter {
                '%' => url.push_str("%25"),
                '?' => url.push_str("%3F"),
                '#' => url.push_str("%23"),
                letter => url.push(letter),
            }
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn every_file_is_a_page_that_changed_when_it_was_modified() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        fs::create_dir(root.join("b")).unwrap();
        let day = Duration::from_secs(86_400);
        for (name, days) in [("b/deep?.txt", 30), ("a.txt", 10), ("c 100%.txt", 20)] {
            let file = File::create(root.join(name)).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + day * days)
                .unwrap();
        }
        let histories = read(root).unwrap();
        let urls: Vec<&str> = histories.urls().iter().map(page::PageUrl::as_str).collect();
        let expected = ["a.txt", "b/deep%3F.txt", "c%20100%25.txt"];
        assert_eq!(urls, expected.map(|name| format!("{HOST}/{name}")));
        // The files were created after these times, so their creation is no version.
        let versions: Vec<(u32, u64)> = histories
            .versions()
            .iter()
            .map(|version| (version.page, version.at.micros() / 86_400_000_000))
            .collect();
        assert_eq!(versions, [(0, 10), (2, 20), (1, 30)]);
    }

    #[test]
    fn a_directory_without_files_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let why = read(directory.path()).unwrap_err();
        assert!(
            why.is_wrong_usage() && why.to_string().contains("no file"),
            "{why}"
        );
        let missing = read(&directory.path().join("none")).unwrap_err();
        assert!(missing.to_string().contains("none"), "{missing}");
    }
}
