//! The log of searches and clicks, as JSON Lines.
//!
//! A directory has one file per month and kind. A search is a line such as
//! `{"time":"2026-11-16T11:10:00Z","query":"avocet","shown":["http://…"],"clicked":[]}`. Clicks
//! on a page are a line such as `{"time":"2026-11-16T11:10:00Z","url":"http://…","count":3}`,
//! with `query` and `rank` if they are known. The log contains no user name, address or session.
//!
//! **Invariants:** a line is appended by a single write, so several processes can write at the
//! same time. Reading never fails because of a file's content: foreign lines and lines torn by a
//! crash are skipped and counted.

mod choices;
mod click;
mod line;
mod search;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;

pub use choices::Choices;
pub use click::Click;
pub use line::LogEntry;
pub use search::{Search, SearchedPage};

/// Bytes of collected lines at which they are written.
const CHUNK: usize = 1 << 20;

/// Maximum bytes of a line; longer ones are skipped. A hundred URLs of two kilobytes take a
/// fifth of it.
const LONGEST: u64 = 1 << 20;

/// The log in a directory, with entries of one kind.
#[derive(Debug, Clone)]
pub struct EventLog<L = Search> {
    dir: PathBuf,
    lines: PhantomData<L>,
}

/// How far a log was read, in bytes per file. The default is the beginning.
///
/// Entries with old times can be appended to any file at any time, so a single number is not
/// enough.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Position(BTreeMap<String, u64>);

/// The result of reading a log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LogReading {
    /// The position to continue from.
    pub position: Position,
    /// Number of entries read.
    pub taken: u64,
    /// Number of lines skipped.
    pub passed_over: u64,
}

/// The operating system refused a file operation.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}", path.display())]
pub struct LogError {
    /// The operation: "create", "write to", …
    pub action: &'static str,
    /// The file or directory.
    pub path: PathBuf,
    /// The cause.
    pub source: io::Error,
}

impl<L: LogEntry> EventLog<L> {
    /// Opens the log of a directory. The first entry creates the directory.
    pub fn open(dir: &Path) -> Self {
        Self {
            dir: dir.into(),
            lines: PhantomData,
        }
    }

    /// Appends an entry.
    pub fn append(&self, line: &L) -> Result<(), LogError> {
        self.append_all(std::slice::from_ref(line))
    }

    /// Appends entries, in few writes.
    pub fn append_all(&self, lines: &[L]) -> Result<(), LogError> {
        let mut months: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        for line in lines {
            let name = name(line);
            let lines = months.entry(name.clone()).or_default();
            lines.extend(line.written().into_bytes());
            lines.push(b'\n');
            if lines.len() >= CHUNK {
                self.write(&name, lines)?;
                lines.clear();
            }
        }
        for (name, lines) in &months {
            self.write(name, lines)?;
        }
        Ok(())
    }

    /// Passes every entry since `from` to `see`, file by file. A last line without a line break
    /// is left for the next call.
    pub fn read(&self, from: &Position, mut see: impl FnMut(L)) -> Result<LogReading, LogError> {
        let mut reading = LogReading {
            position: from.clone(),
            ..LogReading::default()
        };
        for name in self.names()? {
            let path = self.dir.join(&name);
            let start = from.0.get(&name).copied().unwrap_or(0);
            let read = read_file(&path, start, &mut reading, &mut see);
            let end = read.map_err(|source| error("read", &path, source))?;
            reading.position.0.insert(name, end);
        }
        Ok(reading)
    }

    /// Returns the names of the files, oldest first.
    fn names(&self) -> Result<Vec<String>, LogError> {
        let fail = |source| error("read", &self.dir, source);
        let entries = match fs::read_dir(&self.dir) {
            Err(missing) if missing.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(fail)?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let name = entry.map_err(fail)?.file_name();
            let name = name.to_string_lossy().into_owned();
            let ours = name.strip_prefix(L::KIND);
            if ours.is_some_and(|rest| rest.starts_with('-') && rest.ends_with(".jsonl")) {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    fn write(&self, name: &str, lines: &[u8]) -> Result<(), LogError> {
        if lines.is_empty() {
            return Ok(());
        }
        fs::create_dir_all(&self.dir).map_err(|source| error("create", &self.dir, source))?;
        let path = self.dir.join(name);
        append(&path, lines).map_err(|source| error("write to", &path, source))
    }
}

/// Appends lines by a single write. If a crash left a torn line, a line break ends it first.
fn append(path: &Path, lines: &[u8]) -> io::Result<()> {
    let mut file = File::options()
        .read(true)
        .append(true)
        .create(true)
        .open(path)?;
    let mut last = [b'\n'];
    if file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last == *b"\n" {
        return file.write_all(lines);
    }
    file.write_all(&[b"\n", lines].concat())
}

/// Reads whole lines from `start`. Returns where the last one ends.
fn read_file<L: LogEntry>(
    path: &Path,
    start: u64,
    reading: &mut LogReading,
    see: &mut impl FnMut(L),
) -> io::Result<u64> {
    let mut file = File::open(path)?;
    // A file that became shorter was replaced, so it is read from the beginning.
    let replaced = start > file.metadata()?.len();
    let start = if replaced { 0 } else { start };
    file.seek(SeekFrom::Start(start))?;
    let mut lines = BufReader::new(file);
    let mut end = start;
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut length = (&mut lines).take(LONGEST).read_until(b'\n', &mut line)? as u64;
        let whole = line.last() == Some(&b'\n');
        if !whole && length == LONGEST {
            length += lines.skip_until(b'\n')? as u64;
            line.clear();
        } else if !whole {
            return Ok(end);
        }
        end += length;
        match L::read(&line) {
            Some(line) => {
                reading.taken += 1;
                see(line);
            }
            None => reading.passed_over += 1,
        }
    }
}

/// Returns the name of the file for an entry's month in UTC.
fn name<L: LogEntry>(line: &L) -> String {
    let time = line.time().to_zoned(TimeZone::UTC);
    format!("{}-{:04}-{:02}.jsonl", L::KIND, time.year(), time.month())
}

fn error(action: &'static str, path: &Path, source: io::Error) -> LogError {
    LogError {
        action,
        path: path.into(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: &str, query: &str) -> Search {
        Search::new(time.parse().unwrap(), query)
    }

    fn read(log: &EventLog, from: &Position) -> (Vec<String>, LogReading) {
        let mut queries = Vec::new();
        let reading = log.read(from, |search| queries.push(search.query)).unwrap();
        assert_eq!(reading.taken, queries.len() as u64);
        (queries, reading)
    }

    #[test]
    fn new_lines_of_every_file_are_read_once() {
        let dir = tempfile::tempdir().unwrap();
        let log = EventLog::open(&dir.path().join("log"));
        assert_eq!(read(&log, &Position::default()).0, [""; 0]);
        log.append(&at("2026-11-30T23:59:59Z", "a")).unwrap();
        log.append(&at("2026-12-01T00:00:00Z", "b")).unwrap();
        let (queries, reading) = read(&log, &Position::default());
        assert_eq!(queries, ["a", "b"]);
        assert_eq!(read(&log, &reading.position).0, [""; 0]);
        // An import adds entries with old times.
        log.append_all(&[
            at("2026-11-02T00:00:00Z", "c"),
            at("2026-12-02T00:00:00Z", "d"),
        ])
        .unwrap();
        let (queries, reading) = read(&log, &reading.position);
        assert_eq!(queries, ["c", "d"]);
        assert_eq!(reading.passed_over, 0);
        let mut names: Vec<_> = fs::read_dir(dir.path().join("log"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["queries-2026-11.jsonl", "queries-2026-12.jsonl"]);
    }

    #[test]
    fn torn_and_foreign_lines_are_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let log = EventLog::open(dir.path());
        let path = dir.path().join("queries-2026-11.jsonl");
        log.append(&at("2026-11-01T00:00:00Z", "a")).unwrap();
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"not JSON\n{\"query\":7}\n\xff\xfe\n")
            .unwrap();
        file.write_all(&vec![b'x'; 3 << 20]).unwrap();
        file.write_all(b"\n{\"time\":\"2026-11-0").unwrap();
        let (queries, reading) = read(&log, &Position::default());
        assert_eq!((queries.len(), reading.passed_over), (1, 4));
        // The torn line ends where the next begins.
        log.append(&at("2026-11-03T00:00:00Z", "b")).unwrap();
        let (queries, rest) = read(&log, &reading.position);
        assert_eq!((queries, rest.passed_over), (vec!["b".to_owned()], 1));
        // A file that was rewritten and is shorter is read from its start.
        fs::write(&path, at("2026-11-03T00:00:00Z", "z").written() + "\n").unwrap();
        assert_eq!(read(&log, &rest.position).0, ["z"]);
        fs::write(dir.path().join("notes.txt"), "x\n").unwrap();
        assert_eq!(read(&log, &Position::default()).1.passed_over, 0);
    }

    #[test]
    fn more_entries_than_one_write_takes_are_all_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let log = EventLog::open(dir.path());
        let searches: Vec<_> = (0..30_000)
            .map(|n| at("2026-11-03T00:00:00Z", &format!("query number {n}")))
            .collect();
        log.append_all(&searches).unwrap();
        let (queries, reading) = read(&log, &Position::default());
        assert_eq!((queries.len(), reading.passed_over), (30_000, 0));
        assert_eq!(queries[29_999], "query number 29999");
    }

    #[test]
    fn an_unwritable_log_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("log");
        fs::write(&file, "").unwrap();
        let error = EventLog::open(&file).append(&at("2026-11-03T00:00:00Z", "x"));
        assert!(error.unwrap_err().to_string().starts_with("cannot create"));
    }
}
