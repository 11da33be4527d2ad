//! Finds all stored answers of one page.
//!
//! Each complete archive file has a CDXJ index. A binary search in it needs few reads, however
//! large it is. A file without an index, such as the one that is still written to, is read record
//! by record, until the caller stops the search.

use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use jiff::Timestamp;
use page::PageUrl;
use serde::Deserialize;

use super::cdxj::{CdxjEntry, REVISIT, key};
use super::{ArchiveError, BLOCK_LIMIT, PayloadDigest, RecordLocation, Records, files, indexes};

/// One stored answer.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredAnswer {
    /// The location of its record.
    pub at: RecordLocation,
    /// The `WARC-Date` of the record. From a CDXJ index it has a resolution of one second.
    pub time: Timestamp,
    /// Its HTTP status; `None` if the record has no HTTP status line.
    pub status: Option<u16>,
    /// The digest of its body that the record states, if it is a valid SHA-1 digest.
    pub digest: Option<PayloadDigest>,
    /// Whether the record is a revisit: it has no body and refers to an earlier answer with the
    /// same body.
    pub revisit: bool,
}

/// The stored answers of one page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Captures {
    /// The answers, oldest first.
    pub kept: Vec<StoredAnswer>,
    /// Whether the search was stopped before a file without an index was read completely.
    pub cut: bool,
}

/// Finds the stored answers of a page.
///
/// A file without an index is read until `hurry`, which is called once for each of its records,
/// returns true. Records of such a file that are damaged, or whose block is larger than
/// [`BLOCK_LIMIT`], are left out.
pub fn captures(
    dir: &Path,
    url: &PageUrl,
    mut hurry: impl FnMut() -> bool,
) -> Result<Captures, ArchiveError> {
    let mut found = Captures::default();
    if !dir.exists() {
        return Ok(found);
    }
    for (number, path) in files::list(dir)? {
        let index = files::cdxj(dir, number);
        if index.exists() {
            let fail = || ArchiveError::io("read", &index);
            let lines = indexed(&index, url).map_err(fail())?;
            let kept = lines.into_iter().filter_map(|line| line.kept(number));
            found.kept.extend(kept);
            continue;
        }
        for record in Records::open(&path, BLOCK_LIMIT)? {
            if hurry() {
                found.cut = true;
                break;
            }
            // A torn tail is a record that is being written. `verify` reports damage.
            let Ok(record) = record else { continue };
            let entry = CdxjEntry::of(&record.record).filter(|entry| *entry.url == *url.as_str());
            let length = record.length.and_then(|length| u32::try_from(length).ok());
            if let (Some(entry), Some(length)) = (entry, length) {
                let time = Timestamp::from_millisecond(entry.millis);
                found.kept.push(StoredAnswer {
                    at: RecordLocation {
                        file: number,
                        offset: record.offset,
                        length,
                    },
                    time: time.expect("the milliseconds are those of a timestamp"),
                    status: entry.status,
                    digest: entry.digest,
                    revisit: entry.mime.as_deref() == Some(REVISIT),
                });
            }
        }
    }
    found.kept.sort_by_key(|kept| (kept.time, kept.at));
    Ok(found)
}

/// An answer in an archive file, with its URL.
#[derive(Debug, Clone, PartialEq)]
pub struct FiledAnswer {
    /// The URL of the page.
    pub url: String,
    /// The answer.
    pub answer: StoredAnswer,
}

/// Returns the answers in a file of the archive, in the order of the file. Reads the index of the
/// file, which is made again if it is missing. A file that is being written has no index and is
/// read itself.
pub fn answers_in(dir: &Path, file: u32) -> Result<Vec<FiledAnswer>, ArchiveError> {
    let index = files::cdxj(dir, file);
    let text = if index.exists() {
        std::fs::read_to_string(&index).map_err(ArchiveError::io("read", &index))?
    } else if files::closed(dir, file).exists() {
        indexes::make_index(dir, file)?;
        std::fs::read_to_string(&index).map_err(ArchiveError::io("read", &index))?
    } else {
        indexes::of_file(&files::existing(dir, file))?
    };
    let mut answers: Vec<FiledAnswer> = text
        .lines()
        .filter_map(|line| CdxjLine::parse(line)?.filed(file))
        .collect();
    answers.sort_by_key(|one| one.answer.at);
    Ok(answers)
}

/// The JSON fields of a CDXJ line, and its time.
#[derive(Deserialize)]
struct CdxjLine {
    url: String,
    mime: Option<String>,
    status: Option<String>,
    digest: Option<String>,
    length: String,
    offset: String,
    #[serde(skip)]
    time: Timestamp,
}

impl CdxjLine {
    /// Parses a line of an index; `None` if it is not valid.
    fn parse(line: &str) -> Option<Self> {
        let (_, rest) = line.split_once(' ')?;
        let (time, json) = rest.split_once(' ')?;
        let line: Self = serde_json::from_str(json).ok()?;
        let time = time_of(time)?;
        Some(Self { time, ..line })
    }

    /// Returns the answer that the line describes, with its URL.
    fn filed(self, file: u32) -> Option<FiledAnswer> {
        let url = self.url.clone();
        let answer = self.kept(file)?;
        Some(FiledAnswer { url, answer })
    }

    /// Returns the answer that the line describes; `None` if the line has no valid location.
    fn kept(self, file: u32) -> Option<StoredAnswer> {
        Some(StoredAnswer {
            at: RecordLocation {
                file,
                offset: self.offset.parse().ok()?,
                length: self.length.parse().ok()?,
            },
            time: self.time,
            status: self.status.and_then(|status| status.parse().ok()),
            digest: self.digest.as_deref().and_then(PayloadDigest::parse),
            revisit: self.mime.as_deref() == Some(REVISIT),
        })
    }
}

/// Reads the time of a line, such as `20231114221320`.
fn time_of(text: &str) -> Option<Timestamp> {
    let time = format!("{text}+0000");
    let time = jiff::fmt::strtime::parse("%Y%m%d%H%M%S%z", &time);
    time.and_then(|time| time.to_timestamp()).ok()
}

/// Finds the lines of a CDXJ index that are about a page, by binary search over byte offsets.
fn indexed(index: &Path, url: &PageUrl) -> std::io::Result<Vec<CdxjLine>> {
    let prefix = format!("{} ", key(url));
    let mut file = BufReader::new(File::open(index)?);
    let (mut low, mut high) = (0, file.seek(SeekFrom::End(0))?);
    let mut text = Vec::new();
    // Invariant: every line that begins before `low` sorts before the prefix. The first line
    // that begins at or after `high` does not.
    while low < high {
        let middle = u64::midpoint(low, high);
        let start = line_after(&mut file, middle)?;
        text.clear();
        file.read_until(b'\n', &mut text)?;
        if start < high && text.as_slice() < prefix.as_bytes() {
            low = start + text.len() as u64;
        } else {
            high = middle;
        }
    }
    line_after(&mut file, low)?;
    let mut lines = Vec::new();
    loop {
        text.clear();
        file.read_until(b'\n', &mut text)?;
        let Some(rest) = text.strip_prefix(prefix.as_bytes()) else {
            return Ok(lines);
        };
        let (time, json) = rest.split_at(rest.len().min(14));
        let time = time_of(&String::from_utf8_lossy(time));
        let line = serde_json::from_slice::<CdxjLine>(json).ok();
        // Several URLs may have the same key.
        if let (Some(line), Some(time)) = (line.filter(|line| line.url == url.as_str()), time) {
            lines.push(CdxjLine { time, ..line });
        }
    }
}

/// Seeks to the first line that begins at or after an offset. Returns the offset of that line.
fn line_after(file: &mut BufReader<File>, offset: u64) -> std::io::Result<u64> {
    let Some(before) = offset.checked_sub(1) else {
        return file.seek(SeekFrom::Start(0));
    };
    file.seek(SeekFrom::Start(before))?;
    let passed = file.skip_until(b'\n')?;
    Ok(before + passed as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bisection_finds_every_line_of_a_page_and_no_line_of_another() {
        let url = |number: u32| PageUrl::parse(&format!("http://e.org/{number}")).unwrap();
        let entry = |number: u32, millis: i64, status| {
            let entry = CdxjEntry {
                url: url(number).as_str().into(),
                millis,
                status,
                mime: (status.is_none()).then(|| REVISIT.into()),
                digest: None,
            };
            (entry, u64::from(number) * 100, 90)
        };
        let day = 86_400_000;
        let mut entries = Vec::new();
        for number in (0..200).step_by(2) {
            entries.push(entry(number, day, Some(200)));
            if number % 3 == 0 {
                entries.push(entry(number, 2 * day, None));
            }
        }
        let text = super::super::cdxj::render(&entries, "f");
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.cdxj");
        std::fs::write(&path, text).unwrap();
        for number in 0..200 {
            let found = indexed(&path, &url(number)).unwrap();
            let expected = match (number % 2, number % 3) {
                (1, _) => 0,
                (_, 0) => 2,
                _ => 1,
            };
            assert_eq!(found.len(), expected, "{number}");
            for (line, day_of) in found.into_iter().zip(1..) {
                let kept = line.kept(7).unwrap();
                assert_eq!(kept.at.offset, u64::from(number) * 100);
                assert_eq!(kept.time.as_millisecond(), day_of * day);
                assert_eq!(kept.revisit, day_of == 2);
            }
        }
        std::fs::write(&path, "").unwrap();
        assert!(indexed(&path, &url(0)).unwrap().is_empty());
    }
}
