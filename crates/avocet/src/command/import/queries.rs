//! `avocet import queries`: what people searched for elsewhere.
//!
//! **Invariant:** a line is taken in whole or passed over and named; the header of a table is neither.
//!
//! A line that begins with `{` is a JSON document, any other `query<tab>count`. A search without a time gets that of
//! the import.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use flate2::read::MultiGzDecoder;
use jiff::Timestamp;
use repository::log::{Log, Search};
use serde::Deserialize;

/// How any file of gzip begins (RFC 1952, 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Searches that are written together.
const GROUP: usize = 10_000;

/// A search as others write it.
#[derive(Deserialize)]
struct Line {
    query: String,
    time: Option<String>,
    #[serde(default)]
    shown: Vec<String>,
    #[serde(default)]
    offset: u32,
    #[serde(default)]
    clicked: Vec<String>,
    count: Option<u64>,
}

/// Takes the searches of these files into the log of a directory. Returns how many lines were taken and passed over.
pub fn import(log: &Path, files: &[PathBuf]) -> Result<(u64, u64)> {
    let log = Log::open(log);
    let now = Timestamp::now();
    let (mut taken, mut passed) = (0, 0);
    let mut group = Vec::new();
    for file in files {
        let cannot = || format!("cannot read {}", file.display());
        for (number, line) in (1..).zip(open(file).with_context(cannot)?.split(b'\n')) {
            let line = line.with_context(cannot)?;
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches('\r');
            if line.trim().is_empty() || number == 1 && line == "query\tcount" {
                continue;
            }
            match read(line, now) {
                Ok(search) => {
                    taken += 1;
                    group.push(search);
                }
                Err(why) => {
                    eprintln!("{}:{number}: {why}", file.display());
                    passed += 1;
                }
            }
            if group.len() >= GROUP {
                log.append_all(&group)?;
                group.clear();
            }
        }
    }
    log.append_all(&group)?;
    Ok((taken, passed))
}

/// The file, plain; whether it is compressed is told by how it begins.
fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    let mut file = BufReader::new(File::open(path)?);
    let compressed = file.fill_buf()?.starts_with(&GZIP);
    let plain: Box<dyn Read> = if compressed {
        Box::new(MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    };
    Ok(Box::new(BufReader::new(plain)))
}

fn read(line: &str, now: Timestamp) -> Result<Search, String> {
    let search = if line.starts_with('{') {
        let read: Line = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let time = read.time.map(|time| time.parse()).transpose();
        let time = time.map_err(|error: jiff::Error| format!("the time: {error}"))?;
        Search {
            time: time.unwrap_or(now),
            query: read.query,
            shown: read.shown,
            offset: read.offset,
            clicked: read.clicked,
            count: read.count.unwrap_or(1),
        }
    } else {
        let Some((query, count)) = line.rsplit_once('\t') else {
            return Err("there is no tab between query and count".to_owned());
        };
        let count = count.trim().parse();
        Search {
            count: count.map_err(|_| "the count is no whole number".to_owned())?,
            ..Search::new(now, query)
        }
    };
    if search.query.trim().is_empty() {
        return Err("the query is empty".to_owned());
    }
    if search.count == 0 {
        return Err("the count is 0: nobody searched".to_owned());
    }
    Ok(search)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_both_kinds() {
        let now = Timestamp::UNIX_EPOCH;
        let take = |line: &str| read(line, now);
        let counted = Search {
            count: 12,
            ..Search::new(now, "pied avocet")
        };
        assert_eq!(take("pied avocet\t12").unwrap(), counted);
        assert_eq!(
            take(r#"{"query":"pied avocet","count":12}"#).unwrap(),
            counted
        );
        let full = take(
            r#"{"query":"x","time":"2026-01-02T03:04:05Z","shown":["a"],"clicked":["a"],"user":"me"}"#,
        );
        let full = full.unwrap();
        assert_eq!((full.time.as_second(), full.count), (1_767_323_045, 1));
        assert_eq!((full.shown.len(), full.clicked.len()), (1, 1));
        for (line, word) in [
            ("avocet", "tab"),
            ("avocet\tmany", "whole number"),
            ("avocet\t-1", "whole number"),
            ("avocet\t0", "nobody"),
            ("\t3", "empty"),
            ("{\"query\":\"x\"", "EOF"),
            ("{\"time\":\"2026-01-02T03:04:05Z\"}", "query"),
            ("{\"query\":\"x\",\"time\":\"yesterday\"}", "time"),
        ] {
            let why = take(line).unwrap_err();
            assert!(why.contains(word), "{line}: {why}");
        }
    }
}
