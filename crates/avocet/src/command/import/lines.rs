//! Import of files line by line into the log.
//!
//! **Invariant:** each line, except a header and empty lines, is either imported whole, or skipped
//! and reported. If reading fails inside a file, the lines read before stay imported, and the error
//! states their number.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use flate2::read::MultiGzDecoder;
use node::number::counted;
use repository::log::{EventLog, LogEntry};

use crate::logs::say;

/// First bytes of a gzip file (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Number of lines in one append to the log.
const GROUP: usize = 10_000;

/// Parses the lines of these files, plain or gzip, with `read`, and appends them to the log.
/// Returns the numbers of imported and skipped lines.
pub fn import<L: LogEntry>(
    log: &Path,
    files: &[PathBuf],
    is_header: impl Fn(&str) -> bool,
    mut read: impl FnMut(&Path, &str) -> Result<L, String>,
) -> Result<(u64, u64)> {
    let log = EventLog::open(log);
    let (mut taken, mut passed) = (0, 0);
    let mut group = Vec::new();
    for file in files {
        let cannot = || format!("cannot read {}", file.display());
        let opened = match open(file) {
            Ok(opened) => opened,
            Err(error) => {
                log.append_all(&group)?;
                let kept = format!(
                    "{}; {} imported already, so import only this file and those after it",
                    cannot(),
                    counted(taken, "line")
                );
                return Err(error).context(kept);
            }
        };
        for (number, line) in (1..).zip(opened.split(b'\n')) {
            let line = match line {
                Ok(line) => line,
                Err(error) => {
                    log.append_all(&group)?;
                    let kept = format!(
                        "{} from line {number} on; {} imported already, so import only the rest",
                        cannot(),
                        counted(taken, "line")
                    );
                    return Err(error).context(kept);
                }
            };
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches('\r');
            if line.trim().is_empty() || number == 1 && is_header(line) {
                continue;
            }
            match read(file, line) {
                Ok(line) => {
                    taken += 1;
                    group.push(line);
                }
                Err(why) => {
                    say(&format!("{}:{number}: {why}", file.display()));
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

/// Opens a file, and decompresses it if its first bytes are those of gzip.
pub fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    let mut file = BufReader::new(File::open(path)?);
    let compressed = file.fill_buf()?.starts_with(&GZIP);
    let plain: Box<dyn Read> = if compressed {
        Box::new(MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    };
    Ok(Box::new(BufReader::new(plain)))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use repository::log::{Click, Position};

    use super::*;

    #[test]
    fn lines_before_a_file_that_cannot_be_opened_stay_imported() {
        let dir = tempfile::tempdir().unwrap();
        let (first, missing) = (dir.path().join("first"), dir.path().join("missing"));
        std::fs::write(&first, "http://a.example/\nhttp://b.example/\n").unwrap();
        let log = dir.path().join("log");
        let click = |_: &Path, line: &str| {
            Ok(Click {
                time: Timestamp::UNIX_EPOCH,
                url: line.to_owned(),
                count: 1,
                query: None,
                rank: None,
            })
        };
        let error = import(&log, &[first, missing], |_| false, click).unwrap_err();
        let message = format!("{error:#}");
        assert!(message.contains("2 lines imported already"), "{message}");
        let mut imported = 0;
        let log = EventLog::<Click>::open(&log);
        log.read(&Position::default(), |_| imported += 1).unwrap();
        assert_eq!(imported, 2);
    }
}
