//! The single writer of an archive.
//!
//! **Invariants:**
//! - Records are only appended, after the committed end.
//! - A file loses its suffix `.open` only when it and its index are on disk.
//! - After a failed write or sync the writer refuses all further work. What reached the disk is
//!   then unknown, and only a new `open` at the committed end is safe.
//! - Opening deletes no intact record, unless a killed writer can have left it. The ledger,
//!   which names the committed end, may itself be damaged.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::cdxj::CdxjEntry;
use super::scan::OWN_LIMIT;
use super::seal::{self, Sealed};
use super::{ArchiveError, End, Level, RecordKind, RecordLocation, Records, files, indexes};

/// Settings of a writer.
#[derive(Debug, Clone)]
pub struct ArchiveOptions {
    /// Maximum size of a file in bytes. A record that would exceed it starts a new file. Only a
    /// file with a single record (besides `warcinfo`) can be larger.
    pub max_bytes: u64,
    /// The description of the crawl in every file.
    pub info: Info,
    /// Maximum number of records that the last writer can have appended after its last commit,
    /// because they were in flight when it was killed. More of them mean that the ledger has
    /// lost commits.
    pub at_risk: usize,
}

/// How the files differed from the committed end when the archive was opened.
#[derive(Debug, Default)]
pub struct Discrepancy {
    /// New paths of files that contain no committed record: a killed writer had begun them.
    pub set_aside: Vec<PathBuf>,
    /// Number of intact records after the committed end, if there are more than a kill explains.
    /// Then the ledger has lost commits: the records stay, and the archive continues in a new
    /// file.
    pub unexplained: Option<usize>,
    /// The error for a file that lacks committed bytes. The file stays as it is, and the archive
    /// continues in a new one.
    pub short: Option<ArchiveError>,
}

/// The content of the `warcinfo` record at the beginning of every file.
#[derive(Debug, Clone, Default)]
pub struct Info {
    /// The program and its version.
    pub software: String,
    /// Who runs the crawl and how to contact them.
    pub operator: String,
    /// The user agent that servers saw.
    pub user_agent: String,
    /// How robots.txt was treated: `obey` or `ignore`.
    pub robots: String,
    /// Further fields, as name and value.
    pub notes: Vec<(String, String)>,
}

/// Default maximum size of a file: 1 GB. Heritrix and Common Crawl use the same, so other tools
/// can handle it.
pub const MAX_BYTES: u64 = 1_000_000_000;

/// Appends records to the archive in a directory.
#[derive(Debug)]
pub struct ArchiveWriter {
    dir: PathBuf,
    options: ArchiveOptions,
    /// The number of the next file.
    next: u32,
    current: Option<OpenFile>,
    discrepancy: Discrepancy,
    stopped: bool,
}

/// The open file.
#[derive(Debug)]
struct OpenFile {
    file: File,
    number: u32,
    /// Its length in bytes: where the next record goes.
    offset: u64,
    /// Whether the directory was synced since the file was created.
    named: bool,
    /// The entries of the records from offset `known_from` on. When the file is closed, the
    /// records before are read again.
    entries: Vec<(CdxjEntry, u64, u32)>,
    known_from: u64,
}

impl ArchiveWriter {
    /// Opens the archive at its committed end. `None` means that nothing is committed.
    ///
    /// Records that a killed writer can have left ([`ArchiveOptions::at_risk`]) are undone: later
    /// files are set aside, and later bytes of the file are cut off. [`Discrepancy`] states what
    /// was set aside, and what a kill does not explain.
    pub fn open(
        dir: &Path,
        options: ArchiveOptions,
        committed: Option<End>,
    ) -> Result<Self, ArchiveError> {
        if !dir.exists() {
            fs::create_dir_all(dir).map_err(ArchiveError::io("create", dir))?;
            dir.parent().map_or(Ok(()), files::sync_dir)?;
        }
        let end = committed.unwrap_or(End { file: 1, offset: 0 });
        let mut later = Vec::new();
        let mut uncommitted = 0;
        for (number, path) in files::list(dir)? {
            if number >= end.file {
                let from = if number == end.file { end.offset } else { 0 };
                uncommitted += whole_records(&path, from)?;
                later.push((number, path, from));
            }
        }
        let mut writer = Self {
            dir: dir.to_path_buf(),
            next: end.file + u32::from(end.offset > 0),
            current: None,
            discrepancy: Discrepancy::default(),
            stopped: false,
            options,
        };
        if uncommitted > writer.options.at_risk {
            writer.discrepancy.unexplained = Some(uncommitted);
            for (number, ..) in later {
                indexes::complete(dir, number)?;
                writer.next = number + 1;
            }
        } else {
            for (number, path, _) in later.iter().filter(|(_, _, from)| *from == 0) {
                // The index is removed first. Without its file it would name a file that does
                // not exist.
                files::remove(&files::cdxj(dir, *number))?;
                let aside = files::set_aside(path)?;
                writer.discrepancy.set_aside.push(aside);
            }
            if end.offset > 0 {
                match resume(dir, end) {
                    Ok(current) => writer.current = current,
                    Err(short @ ArchiveError::Short { .. }) => {
                        writer.discrepancy.short = Some(short);
                    }
                    Err(other) => return Err(other),
                }
            }
        }
        files::sync_dir(dir)?;
        Ok(writer)
    }

    /// Returns how the files differed from the committed end at opening.
    pub fn discrepancy(&self) -> &Discrepancy {
        &self.discrepancy
    }

    /// Appends a record. It is durable only after [`sync`](Self::sync).
    pub fn append(&mut self, sealed: &Sealed) -> Result<RecordLocation, ArchiveError> {
        self.append_member(&sealed.bytes, sealed.at, Some(sealed.entry.clone()))
    }

    /// Appends a whole gzip member. `at` becomes the date of the file if this member starts a
    /// new one.
    pub(super) fn append_member(
        &mut self,
        member: &[u8],
        at: jiff::Timestamp,
        entry: Option<CdxjEntry>,
    ) -> Result<RecordLocation, ArchiveError> {
        self.unless_stopped(|writer| writer.try_append(member, at, entry))
    }

    /// Completes a file if it is the open one.
    pub(super) fn complete(&mut self, file: u32) -> Result<(), ArchiveError> {
        if self.current.as_ref().is_some_and(|c| c.number == file) {
            self.unless_stopped(Self::finish)?;
        }
        Ok(())
    }

    /// Returns the directory of the archive.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Syncs everything appended to the disk.
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

    /// Returns where the next record will be written: the value to commit after
    /// [`sync`](Self::sync).
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

    /// Completes the open file, if there is one, so that it can be copied elsewhere. The next
    /// record begins a new file.
    ///
    /// Call it only when everything in the file is committed: a file that was complete at a commit
    /// never changes.
    pub fn complete_open(&mut self) -> Result<(), ArchiveError> {
        self.unless_stopped(Self::finish)
    }

    /// Completes the open file: syncs it, writes its index and renames it to its final name.
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
        entry: Option<CdxjEntry>,
    ) -> Result<RecordLocation, ArchiveError> {
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
        let current = self.current.as_mut().expect("a file was begun above");
        let offset = current.offset;
        current.write(member, &self.dir)?;
        current
            .entries
            .extend(entry.map(|entry| (entry, offset, length)));
        Ok(RecordLocation {
            file: current.number,
            offset,
            length,
        })
    }

    /// Begins the next file. Its date is that of its first record, because the writer reads no
    /// clock.
    fn begin(&mut self, at: jiff::Timestamp) -> Result<(), ArchiveError> {
        let number = self.next;
        let path = files::open(&self.dir, number);
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let file = file.map_err(ArchiveError::io("create", &path))?;
        let mut current = OpenFile {
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
        let name = files::name(&files::closed(&self.dir, number));
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
        let mut entries = indexes::entries_before(&open, current.known_from)?;
        entries.extend(current.entries);
        indexes::write(&self.dir, current.number, &entries)?;
        fs::rename(&open, &closed).map_err(ArchiveError::io("rename", &open))?;
        files::sync_dir(&self.dir)
    }
}

impl OpenFile {
    fn write(&mut self, bytes: &[u8], dir: &Path) -> Result<(), ArchiveError> {
        let path = files::open(dir, self.number);
        self.file
            .write_all(bytes)
            .map_err(ArchiveError::io("write to", &path))?;
        self.offset += bytes.len() as u64;
        Ok(())
    }
}

/// Counts the intact records of a file from an offset on, without `warcinfo` records.
fn whole_records(path: &Path, offset: u64) -> Result<usize, ArchiveError> {
    let file = File::open(path).map_err(ArchiveError::io("open", path))?;
    let length = file
        .metadata()
        .map_err(ArchiveError::io("open", path))?
        .len();
    if length <= offset {
        return Ok(0);
    }
    let mut count = 0;
    for found in Records::after(file, path, offset, OWN_LIMIT)? {
        match found {
            Ok(found) => count += usize::from(*found.record.kind() != RecordKind::Warcinfo),
            Err(error @ ArchiveError::Io { .. }) => return Err(error),
            Err(_) => {}
        }
    }
    Ok(count)
}

/// Opens the last committed file at its committed end. Returns `None` if the file is closed and
/// has no bytes after that end.
fn resume(dir: &Path, end: End) -> Result<Option<OpenFile>, ArchiveError> {
    let open = files::open(dir, end.file);
    let closed = files::closed(dir, end.file);
    let path = files::existing(dir, end.file);
    let found = match fs::metadata(&path) {
        Ok(found) => found.len(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => 0,
        Err(error) => return Err(ArchiveError::io("open", &path)(error)),
    };
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
        // The file was closed after the last commit. It is cut to the committed end, so it
        // becomes open again.
        fs::rename(&closed, &open).map_err(ArchiveError::io("rename", &closed))?;
    }
    // A writer that was killed between writing the index and renaming the file left an index
    // beside an open file.
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
    Ok(Some(OpenFile {
        file,
        number: end.file,
        offset: end.offset,
        named: true,
        entries: Vec::new(),
        known_from: end.offset,
    }))
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

    fn writer(dir: &Path) -> ArchiveWriter {
        let info = Info::default();
        let mut writer = ArchiveWriter::open(
            dir,
            ArchiveOptions {
                max_bytes: MAX_BYTES,
                info,
                at_risk: 0,
            },
            None,
        )
        .unwrap();
        writer.append(&sealed()).unwrap();
        writer.sync().unwrap();
        writer
    }

    fn replace_file(writer: &mut ArchiveWriter, path: &str) {
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
        // Even when there is space again, it is unknown what was written.
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
