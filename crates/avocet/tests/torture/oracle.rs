//! What a store must hold, read without the program: gzip members of WARC files, one record each.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use flate2::bufread::GzDecoder;
use serde_json::Value;

/// One record of a WARC file.
pub struct Member {
    /// Its bytes in the file.
    pub range: Range<usize>,
    /// What it holds, decompressed.
    pub plain: Vec<u8>,
}

impl Member {
    /// A field of the WARC header.
    pub fn field(&self, name: &str) -> Option<&str> {
        let end = self.plain.windows(4).position(|four| four == b"\r\n\r\n")?;
        let head = std::str::from_utf8(&self.plain[..end]).ok()?;
        head.lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    /// The URL of an answer; `None` for other kinds of records.
    pub fn answer(&self) -> Option<&str> {
        let kind = self.field("WARC-Type")?;
        let url = self.field("WARC-Target-URI")?;
        matches!(kind, "response" | "revisit").then_some(url)
    }
}

/// The records of a WARC file up to the first byte that cannot be read, and where that is.
pub fn members(bytes: &[u8]) -> (Vec<Member>, usize) {
    let mut members = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let mut decoder = GzDecoder::new(&bytes[at..]);
        let mut plain = Vec::new();
        if decoder.read_to_end(&mut plain).is_err() {
            break;
        }
        let end = bytes.len() - decoder.into_inner().len();
        members.push(Member {
            range: at..end,
            plain,
        });
        at = end;
    }
    (members, at)
}

/// Checks that WARC files are whole to the last byte, and that no answer is in them twice.
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

/// Checks that each of these records is in some file of the archive, byte for byte.
pub fn check_holds(archive: &Path, records: &[Vec<u8>], after: &str) {
    let files: Vec<Vec<u8>> = match fs::read_dir(archive) {
        Ok(entries) => entries
            .map(|entry| fs::read(entry.unwrap().path()).unwrap())
            .collect(),
        Err(_) => Vec::new(),
    };
    // Where a gzip member may begin.
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

/// The URLs that `export urls` says there is a copy of.
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
