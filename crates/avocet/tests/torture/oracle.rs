//! Reads WARC files without the code of the program, to check what a store must hold.
//!
//! Each gzip member must be one record.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use flate2::bufread::GzDecoder;
use serde_json::Value;

/// One record of a WARC file.
pub struct WarcMember {
    /// Position in the file.
    pub range: Range<usize>,
    /// Decompressed content.
    pub plain: Vec<u8>,
}

impl WarcMember {
    /// Returns a field of the WARC header.
    pub fn field(&self, name: &str) -> Option<&str> {
        let end = self.plain.windows(4).position(|four| four == b"\r\n\r\n")?;
        let head = std::str::from_utf8(&self.plain[..end]).ok()?;
        head.lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    /// Returns the URL of a response or a revisit, or `None` for other kinds of records.
    pub fn answer(&self) -> Option<&str> {
        let kind = self.field("WARC-Type")?;
        let url = self.field("WARC-Target-URI")?;
        matches!(kind, "response" | "revisit").then_some(url)
    }

    /// Returns the URL of a response, or `None` for other kinds of records. A revisit has no copy.
    pub fn copy(&self) -> Option<&str> {
        let is_copy = self.field("WARC-Type")? == "response";
        self.answer().filter(|_| is_copy)
    }
}

/// Returns the records of a WARC file before the first one that cannot be read, and the position of
/// their end in bytes.
pub fn members(bytes: &[u8]) -> (Vec<WarcMember>, usize) {
    let mut members = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let mut decoder = GzDecoder::new(&bytes[at..]);
        let mut plain = Vec::new();
        if decoder.read_to_end(&mut plain).is_err() {
            break;
        }
        let end = bytes.len() - decoder.into_inner().len();
        members.push(WarcMember {
            range: at..end,
            plain,
        });
        at = end;
    }
    (members, at)
}

/// Checks that WARC files can be read to the last byte, and that no two responses or revisits have
/// the same URL and date.
pub fn check_archive(files: &[std::path::PathBuf]) {
    let mut seen = BTreeSet::new();
    for file in files {
        let bytes = fs::read(file).unwrap();
        let (members, end) = members(&bytes);
        assert_eq!(end, bytes.len(), "{}: not whole", file.display());
        for member in members {
            let Some(url) = member.answer() else {
                continue;
            };
            let date = member.field("WARC-Date").unwrap().to_owned();
            let capture = (url.to_owned(), date);
            assert!(!seen.contains(&capture), "twice: {capture:?}");
            seen.insert(capture);
        }
    }
}

/// Checks that each of these records is in a file of the archive, byte for byte.
pub fn check_holds(archive: &Path, records: &[Vec<u8>], after: &str) {
    let files: Vec<Vec<u8>> = match fs::read_dir(archive) {
        Ok(entries) => entries
            .map(|entry| fs::read(entry.unwrap().path()).unwrap())
            .collect(),
        Err(_) => Vec::new(),
    };
    // Positions at which a gzip member may begin.
    let starts: Vec<&[u8]> = files
        .iter()
        .flat_map(|file| {
            let starts = file.windows(3).enumerate();
            let starts = starts.filter(|(_, start)| *start == b"\x1f\x8b\x08");
            starts.map(|(at, _)| &file[at..])
        })
        .collect();
    for (number, record) in records.iter().enumerate() {
        let held = starts.iter().any(|start| start.starts_with(record));
        assert!(held, "intact record {number} is gone after {after}");
    }
}

/// Returns the URLs with status 200 or 304 in the output of `export urls`.
pub fn copies(export: &str) -> BTreeSet<String> {
    let lines = export.lines().map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        line
    });
    lines
        .filter(|line| line["status"] == 200 || line["status"] == 304)
        .map(|line| line["url"].as_str().unwrap().to_owned())
        .collect()
}
