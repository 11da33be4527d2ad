//! The one writer of an archive.
//!
//! **Invariant:** records are only ever appended after the committed end. A file loses its `.open`
//! only when it and its index are on the disk. After a failed write or sync the writer does nothing
//! more: what reached the disk is unknown then, and only a new `open` at the committed end is sure.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::cdxj::{self, Entry};
use super::seal::{self, Sealed};
use super::{ArchiveError, End, Level, Location, Records, files};

/// How to write.
#[derive(Debug, Clone)]
pub struct Options {
    /// A file that would grow beyond is closed and the next one begun.
    pub max_bytes: u64,
    /// What every file says about the crawl.
    pub info: Info,
}

/// The `warcinfo` record that opens every file.
#[derive(Debug, Clone, Default)]
pub struct Info {
    /// The program and its version.
    pub software: String,
    /// Who runs the crawl and how to reach them.
    pub operator: String,
    /// The user agent that servers saw.
    pub user_agent: String,
    /// How robots.txt was treated: `obey`, `ignore`.
    pub robots: String,
    /// Further fields, as name and value.
    pub notes: Vec<(String, String)>,
}

/// 1 GB: what the field uses (Heritrix, Common Crawl), so that tools cope.
pub const MAX_BYTES: u64 = 1_000_000_000;

/// Appends records to the archive of a directory.
#[derive(Debug)]
pub struct Writer {
    dir: PathBuf,
    options: Options,
    /// The number of the next file to begin.
    next: u32,
    current: Option<Current>,
    set_aside: Vec<PathBuf>,
    stopped: bool,
}

/// The open file.
#[derive(Debug)]
struct Current {
    file: File,
    number: u32,
    /// Its length: where the next record goes.
    offset: u64,
    /// Whether the directory knows its name for good.
    named: bool,
    /// What was appended from `known_from` on; the records before are read again on closing.
    entries: Vec<(Entry, u64, u32)>,
    known_from: u64,
}

impl Writer {
    /// Opens the archive at its committed end: later bytes of that file are cut off, and later
    /// files are [set aside](Self::set_aside), since nobody was told that they are kept. `None`
    /// says that nothing is committed.
    pub fn open(
        dir: &Path,
        options: Options,
        committed: Option<End>,
    ) -> Result<Self, ArchiveError> {
        fs::create_dir_all(dir).map_err(ArchiveError::io("create", dir))?;
        let end = committed.unwrap_or(End { file: 1, offset: 0 });
        let mut set_aside = Vec::new();
        for (number, path) in files::list(dir)? {
            if number > end.file || number == end.file && end.offset == 0 {
                // Its index first: without its file it would name one that is not there.
                files::remove(&files::cdxj(dir, number))?;
                set_aside.push(files::set_aside(&path)?);
            }
        }
        let mut writer = Self {
            dir: dir.to_path_buf(),
            options,
            next: end.file,
            current: None,
            set_aside,
            stopped: false,
        };
        if end.offset > 0 {
            writer.next = end.file + 1;
            writer.current = resume(dir, end)?;
        }
        files::sync_dir(dir)?;
        Ok(writer)
    }

    /// The files that were there at opening and had nothing committed, by their new names.
    pub fn set_aside(&self) -> &[PathBuf] {
        &self.set_aside
    }

    /// Appends a record. It is safe only after [`sync`](Self::sync).
    pub fn append(&mut self, sealed: &Sealed) -> Result<Location, ArchiveError> {
        self.append_member(&sealed.bytes, sealed.at, Some(sealed.entry.clone()))
    }

    /// Appends a whole gzip member. `at` dates the file that it begins, if it does.
    pub(super) fn append_member(
        &mut self,
        member: &[u8],
        at: jiff::Timestamp,
        entry: Option<Entry>,
    ) -> Result<Location, ArchiveError> {
        self.unless_stopped(|writer| writer.try_append(member, at, entry))
    }

    /// Completes a file if it is the open one.
    pub(super) fn complete(&mut self, file: u32) -> Result<(), ArchiveError> {
        if self.current.as_ref().is_some_and(|c| c.number == file) {
            self.unless_stopped(Self::finish)?;
        }
        Ok(())
    }

    /// The directory of the archive.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Waits until everything appended is on the disk.
    pub fn sync(&mut self) -> Result<(), ArchiveError> {
        self.unless_stopped(|writer| {
            let Some(current) = &mut writer.current else {
                return Ok(());
            };
            let path = files::open(&writer.dir, current.number);
            current
                .file
                .sync_data()
                .map_err(ArchiveError::io("sync", &path))?;
            if !current.named {
                files::sync_dir(&writer.dir)?;
                current.named = true;
            }
            Ok(())
        })
    }

    /// Where the next record will be: what to commit after [`sync`](Self::sync).
    pub fn end(&self) -> End {
        match &self.current {
            Some(current) => End {
                file: current.number,
                offset: current.offset,
            },
            None => End {
                file: self.next,
                offset: 0,
            },
        }
    }

    /// Completes the open file: syncs it, writes its index and gives it its final name.
    pub fn close(mut self) -> Result<(), ArchiveError> {
        self.unless_stopped(Self::finish)
    }

    fn unless_stopped<T>(
        &mut self,
        act: impl FnOnce(&mut Self) -> Result<T, ArchiveError>,
    ) -> Result<T, ArchiveError> {
        if self.stopped {
            return Err(ArchiveError::Stopped {
                dir: self.dir.clone(),
            });
        }
        let result = act(self);
        self.stopped = result.is_err();
        result
    }

    fn try_append(
        &mut self,
        member: &[u8],
        at: jiff::Timestamp,
        entry: Option<Entry>,
    ) -> Result<Location, ArchiveError> {
        let Ok(length) = u32::try_from(member.len()) else {
            let source = std::io::Error::other("a record of more than 4 GiB");
            return Err(ArchiveError::io("write to", &self.dir)(source));
        };
        let max = self.options.max_bytes;
        if self
            .current
            .as_ref()
            .is_some_and(|c| c.offset + u64::from(length) > max)
        {
            self.finish()?;
        }
        if self.current.is_none() {
            self.begin(at)?;
        }
        let Some(current) = &mut self.current else {
            return Err(ArchiveError::Stopped {
                dir: self.dir.clone(),
            });
        };
        let offset = current.offset;
        current.write(member, &self.dir)?;
        current
            .entries
            .extend(entry.map(|entry| (entry, offset, length)));
        Ok(Location {
            file: current.number,
            offset,
            length,
        })
    }

    /// Begins the next file. It is dated by its first record: nobody here asks the time.
    fn begin(&mut self, at: jiff::Timestamp) -> Result<(), ArchiveError> {
        let number = self.next;
        let path = files::open(&self.dir, number);
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let file = file.map_err(ArchiveError::io("create", &path))?;
        let mut current = Current {
            file,
            number,
            offset: 0,
            named: false,
            entries: Vec::new(),
            known_from: 0,
        };
        let info = &self.options.info;
        let notes = info
            .notes
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        let mut lines = vec![
            ("software", info.software.as_str()),
            ("format", "WARC File Format 1.1"),
            (
                "conformsTo",
                "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
            ),
            ("operator", &info.operator),
            ("http-header-user-agent", &info.user_agent),
            ("robots", &info.robots),
        ];
        lines.extend(notes);
        let name = file_name(&files::closed(&self.dir, number));
        current.write(
            &seal::warcinfo(&name, at, &lines, Level::default()),
            &self.dir,
        )?;
        self.next = number + 1;
        self.current = Some(current);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), ArchiveError> {
        let Some(current) = self.current.take() else {
            return Ok(());
        };
        let open = files::open(&self.dir, current.number);
        let closed = files::closed(&self.dir, current.number);
        current
            .file
            .sync_all()
            .map_err(ArchiveError::io("sync", &open))?;
        let mut entries = entries_before(&open, current.known_from)?;
        entries.extend(current.entries);
        let index = cdxj::render(&entries, &file_name(&closed));
        let index_path = files::cdxj(&self.dir, current.number);
        let fail = || ArchiveError::io("write to", &index_path);
        let mut file = File::create(&index_path).map_err(fail())?;
        file.write_all(index.as_bytes()).map_err(fail())?;
        file.sync_all()
            .map_err(ArchiveError::io("sync", &index_path))?;
        fs::rename(&open, &closed).map_err(ArchiveError::io("rename", &open))?;
        files::sync_dir(&self.dir)
    }
}

impl Current {
    fn write(&mut self, bytes: &[u8], dir: &Path) -> Result<(), ArchiveError> {
        let path = files::open(dir, self.number);
        self.file
            .write_all(bytes)
            .map_err(ArchiveError::io("write to", &path))?;
        self.offset += bytes.len() as u64;
        Ok(())
    }
}

/// Opens the committed file at its end. Returns `None` if it is complete.
fn resume(dir: &Path, end: End) -> Result<Option<Current>, ArchiveError> {
    let open = files::open(dir, end.file);
    let closed = files::closed(dir, end.file);
    let path = files::existing(dir, end.file);
    let found = fs::metadata(&path)
        .map_err(ArchiveError::io("open", &path))?
        .len();
    if found < end.offset {
        return Err(ArchiveError::Short {
            path,
            found,
            committed: end.offset,
        });
    }
    if path == closed {
        if found == end.offset {
            return Ok(None);
        }
        // Closed after the last commit: what came after it is cut, so it is open again.
        fs::rename(&closed, &open).map_err(ArchiveError::io("rename", &closed))?;
    }
    // Also one that was written just before a kill, and whose file never got its final name.
    files::remove(&files::cdxj(dir, end.file))?;
    let mut file = OpenOptions::new()
        .write(true)
        .open(&open)
        .map_err(ArchiveError::io("open", &open))?;
    file.set_len(end.offset)
        .map_err(ArchiveError::io("cut", &open))?;
    file.seek(SeekFrom::Start(end.offset))
        .map_err(ArchiveError::io("open", &open))?;
    file.sync_all().map_err(ArchiveError::io("sync", &open))?;
    Ok(Some(Current {
        file,
        number: end.file,
        offset: end.offset,
        named: true,
        entries: Vec::new(),
        known_from: end.offset,
    }))
}

/// The entries of the records before an offset, which an earlier process appended. A damaged one
/// has none: the index says what can be read, and a scan says what cannot.
fn entries_before(path: &Path, offset: u64) -> Result<Vec<(Entry, u64, u32)>, ArchiveError> {
    let mut entries = Vec::new();
    if offset == 0 {
        return Ok(entries);
    }
    for found in Records::open(path, u64::from(u32::MAX))?.flatten() {
        if found.offset >= offset {
            break;
        }
        let length = found.length.and_then(|length| u32::try_from(length).ok());
        if let (Some(entry), Some(length)) = (Entry::of(&found.record), length) {
            entries.push((entry, found.offset, length));
        }
    }
    Ok(entries)
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use page::PageUrl;

    use super::super::Capture;
    use super::*;

    fn sealed() -> Sealed {
        let url = PageUrl::parse("http://a.example/").unwrap();
        let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let head = b"HTTP/1.1 200 OK\r\n\r\n";
        let at = jiff::Timestamp::UNIX_EPOCH;
        seal::response(
            &Capture::new(&url, at, address, head, b"hello", None),
            Level::default(),
        )
    }

    fn writer(dir: &Path) -> Writer {
        let info = Info::default();
        let mut writer = Writer::open(
            dir,
            Options {
                max_bytes: MAX_BYTES,
                info,
            },
            None,
        )
        .unwrap();
        writer.append(&sealed()).unwrap();
        writer.sync().unwrap();
        writer
    }

    fn replace_file(writer: &mut Writer, path: &str) {
        let file = OpenOptions::new().write(true).open(path).unwrap();
        writer.current.as_mut().unwrap().file = file;
    }

    #[test]
    fn a_full_disk_stops_the_writer() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = writer(dir.path());
        let end = writer.end();
        replace_file(&mut writer, "/dev/full");
        let full = writer.append(&sealed()).unwrap_err();
        assert!(full.is_full(), "{full}");
        assert!(
            full.to_string().contains("avocet-00000001.warc.gz.open"),
            "{full}"
        );
        assert_eq!(writer.end(), end);
        // There may be room again, but nobody knows what was written.
        replace_file(&mut writer, "/dev/null");
        assert!(matches!(
            writer.append(&sealed()),
            Err(ArchiveError::Stopped { .. })
        ));
        assert!(matches!(writer.sync(), Err(ArchiveError::Stopped { .. })));
        assert!(matches!(writer.close(), Err(ArchiveError::Stopped { .. })));
        assert!(files::open(dir.path(), 1).exists());
    }

    #[test]
    fn a_failed_sync_is_never_tried_again() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = writer(dir.path());
        // A device that cannot be synced.
        replace_file(&mut writer, "/dev/null");
        let failed = writer.sync().unwrap_err();
        assert!(matches!(failed, ArchiveError::Io { action: "sync", .. }) && !failed.is_full());
        assert!(matches!(writer.sync(), Err(ArchiveError::Stopped { .. })));
        assert!(matches!(
            writer.append(&sealed()),
            Err(ArchiveError::Stopped { .. })
        ));
    }
}
