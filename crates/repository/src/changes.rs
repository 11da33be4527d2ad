//! The change log: which pages a crawl found new, changed or gone, in the order of its commits.
//!
//! The log is a directory of files of JSON Lines. Each change has a number; numbers increase and
//! may have gaps. A file is named after the number of its first change.
//!
//! **Invariant:** a change is logged before the commit that it belongs to. So a kill may repeat a
//! change and never hides one. A power cut may lose the changes of the last seconds.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Changes in one file.
const FILE: u64 = 4096;
/// Files that are kept: about two million changes.
const FILES: usize = 512;

/// What happened to a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// Its first copy was fetched.
    New,
    /// Its text has changed since the copy before.
    Changed,
    /// It left the index: it is gone from the web, or may no longer be indexed.
    Gone,
}

impl ChangeKind {
    /// All kinds with their names.
    pub const NAMES: [(&str, Self); 3] = [
        ("new", Self::New),
        ("changed", Self::Changed),
        ("gone", Self::Gone),
    ];
}

/// A change of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageChange {
    /// Its number in the log. [`ChangeLog::append`] sets it.
    pub number: u64,
    /// When the page was requested, in UTC.
    pub at: String,
    /// What happened.
    pub change: ChangeKind,
    /// The URL of the page.
    pub url: String,
    /// The HTTP status of the answer.
    pub status: Option<u16>,
    /// The title of the page, if it has one and the page is indexed.
    pub title: Option<String>,
}

/// Appends to the change log of a store. There is at most one at a time.
#[derive(Debug)]
pub struct ChangeLog {
    dir: PathBuf,
    next: u64,
    /// The last file, and the number of its first change.
    file: Option<(File, u64)>,
}

impl ChangeLog {
    /// Opens the log in a directory. Cuts off a line that a kill left incomplete.
    pub fn open(dir: &Path) -> io::Result<Self> {
        let mut log = Self {
            dir: dir.to_owned(),
            next: 1,
            file: None,
        };
        if let Some((first, path)) = files(dir)?.pop() {
            let bytes = fs::read(&path)?;
            let whole = bytes.iter().rposition(|byte| *byte == b'\n');
            let whole = whole.map_or(0, |last| last + 1);
            let file = File::options().append(true).open(&path)?;
            file.set_len(whole as u64)?;
            let last = lines(&bytes[..whole]).last();
            log.next = last.map_or(first, |change| change.number + 1);
            log.file = Some((file, first));
        }
        Ok(log)
    }

    /// Appends changes and numbers them.
    pub fn append(&mut self, changes: impl IntoIterator<Item = PageChange>) -> io::Result<()> {
        let mut text = String::new();
        let mut next = self.next;
        for change in changes {
            let change = PageChange {
                number: next,
                ..change
            };
            text += &serde_json::to_string(&change)?;
            text.push('\n');
            next += 1;
        }
        if text.is_empty() {
            return Ok(());
        }
        let is_full = |(_, first): &mut (File, u64)| self.next - *first >= FILE;
        drop(self.file.take_if(is_full));
        let (mut file, first) = match self.file.take() {
            Some(open) => open,
            None => self.begin()?,
        };
        let written = file.write_all(text.as_bytes());
        self.file = Some((file, first));
        written?;
        self.next = next;
        Ok(())
    }

    /// Begins the next file, and removes the oldest ones beyond the limit.
    fn begin(&self) -> io::Result<(File, u64)> {
        fs::create_dir_all(&self.dir)?;
        let old = files(&self.dir)?;
        let surplus = (old.len() + 1).saturating_sub(FILES);
        for (_, path) in &old[..surplus] {
            fs::remove_file(path)?;
        }
        let path = self.dir.join(format!("changes-{:020}.jsonl", self.next));
        let file = File::options().create(true).append(true).open(path)?;
        Ok((file, self.next))
    }
}

/// Returns at most `most` changes with numbers above `since`, in order.
pub fn read(dir: &Path, since: u64, most: usize) -> io::Result<Vec<PageChange>> {
    let files = files(dir)?;
    // The file with the change after `since`, or with the first one.
    let from = files.partition_point(|(first, _)| *first <= since + 1);
    let mut found = Vec::new();
    for (_, path) in &files[from.saturating_sub(1)..] {
        let bytes = read_file(path)?;
        found.extend(lines(&bytes).filter(|change| change.number > since));
        if found.len() >= most {
            break;
        }
    }
    found.truncate(most);
    Ok(found)
}

/// Returns the number of the last change; 0 if there is none.
pub fn last(dir: &Path) -> io::Result<u64> {
    let Some((first, path)) = files(dir)?.pop() else {
        return Ok(0);
    };
    let last = lines(&read_file(&path)?).last();
    Ok(last.map_or(first - 1, |change| change.number))
}

/// Returns the number of the last change before a time in UTC, written like those of the log; 0 if
/// all changes are later.
pub fn number_before(dir: &Path, time: &str) -> io::Result<u64> {
    let files = files(dir)?;
    let mut before = 0;
    for (first, path) in files {
        let bytes = read_file(&path)?;
        let later = lines(&bytes).find(|change| change.at.as_str() >= time);
        if let Some(later) = later {
            return Ok(later.number - 1);
        }
        before = lines(&bytes)
            .last()
            .map_or(first - 1, |change| change.number);
    }
    Ok(before)
}

/// Removes the changes of some pages, by their URLs. No crawl may run.
pub fn remove(dir: &Path, is_removed: impl Fn(&str) -> bool) -> io::Result<()> {
    for (_, path) in files(dir)? {
        let bytes = read_file(&path)?;
        let all = lines(&bytes).count();
        let kept: Vec<PageChange> = lines(&bytes)
            .filter(|change| !is_removed(&change.url))
            .collect();
        if kept.len() == all {
            continue;
        }
        let mut text = String::new();
        for change in kept {
            text += &serde_json::to_string(&change)?;
            text.push('\n');
        }
        let fresh = path.with_extension("new");
        let mut file = File::create(&fresh)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(fresh, path)?;
    }
    Ok(())
}

/// Returns the files of the log with the numbers of their first changes, in order.
fn files(dir: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let number = name
            .strip_prefix("changes-")
            .and_then(|rest| rest.strip_suffix(".jsonl"));
        if let Some(first) = number.and_then(|number| number.parse().ok()) {
            files.push((first, path));
        }
    }
    files.sort();
    Ok(files)
}

/// Reads a file; an empty one if the writer has removed it meanwhile.
fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read,
    }
}

/// Returns the changes of the complete lines.
fn lines(bytes: &[u8]) -> impl Iterator<Item = PageChange> {
    let whole = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| line.ends_with(b"\n"));
    whole.filter_map(|line| serde_json::from_slice(line).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(number: u64) -> PageChange {
        PageChange {
            number: 0,
            at: format!("2026-11-{:02}T00:00:00Z", 1 + number % 28),
            change: ChangeKind::New,
            url: format!("http://e.org/{number}"),
            status: Some(200),
            title: None,
        }
    }

    fn numbers(dir: &Path, since: u64, most: usize) -> Vec<u64> {
        let read = read(dir, since, most).unwrap();
        read.iter().map(|change| change.number).collect()
    }

    #[test]
    fn changes_are_numbered_over_files_and_restarts() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("changes");
        assert_eq!((last(&dir).unwrap(), numbers(&dir, 0, 10)), (0, vec![]));
        for group in 0..3 {
            let mut log = ChangeLog::open(&dir).unwrap();
            for part in 0..5 {
                log.append((0..1000).map(|n| change(group * 5000 + part * 1000 + n)))
                    .unwrap();
            }
        }
        assert_eq!(last(&dir).unwrap(), 15_000);
        assert!(files(&dir).unwrap().len() >= 3);
        assert_eq!(numbers(&dir, 0, 20_000), (1..=15_000).collect::<Vec<u64>>());
        assert_eq!(numbers(&dir, 4_999, 3), [5_000, 5_001, 5_002]);
        assert_eq!(numbers(&dir, 15_000, 3), Vec::<u64>::new());
        remove(&dir, |url| url != "http://e.org/7").unwrap();
        assert_eq!(numbers(&dir, 0, 20_000), [8]);
    }

    #[test]
    fn an_incomplete_line_is_cut_off() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path();
        ChangeLog::open(dir)
            .unwrap()
            .append([change(1), change(2)])
            .unwrap();
        let (_, path) = files(dir).unwrap().pop().unwrap();
        let torn = fs::read_to_string(&path).unwrap() + "{\"number\":3,\"at\":";
        fs::write(&path, torn).unwrap();
        assert_eq!(numbers(dir, 0, 9), [1, 2]);
        ChangeLog::open(dir).unwrap().append([change(3)]).unwrap();
        assert_eq!(numbers(dir, 0, 9), [1, 2, 3]);
        assert_eq!(number_before(dir, "2026-11-03T00:00:00Z").unwrap(), 1);
        assert_eq!(number_before(dir, "2027-01-01T00:00:00Z").unwrap(), 3);
        assert_eq!(number_before(dir, "2020-01-01T00:00:00Z").unwrap(), 0);
    }
}
