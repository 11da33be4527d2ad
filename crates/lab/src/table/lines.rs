//! A line reader for plain and compressed files, with a limit on the length of lines.
//!
//! **Invariant:** the reader holds at most one line, up to the limit. A file that is truncated or
//! corrupt, or has a longer line, is an error that names the last line read.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use crate::LabError;

/// Maximum zstd window that is accepted, as a power of two: 128 MiB, as `zstd --long` writes.
const WINDOW: u32 = 27;

/// Size of the read buffers in bytes.
const CHUNK: usize = 1 << 16;

/// The lines of a file.
pub(crate) struct LineReader {
    path: PathBuf,
    reader: Box<dyn BufRead>,
    limit: usize,
    line: u64,
    buffer: Vec<u8>,
}

/// Position in a file, for errors.
#[derive(Clone, Copy)]
pub(crate) struct FilePlace<'a> {
    path: &'a Path,
    line: u64,
}

impl LineReader {
    /// Opens a file whose lines have at most `limit` bytes, line ends included.
    pub(crate) fn open(path: PathBuf, limit: usize) -> Result<Self, LabError> {
        let reader = unpack(&path).map_err(|source| LabError::Read {
            path: path.clone(),
            source,
        })?;
        Ok(Self {
            path,
            reader,
            limit,
            line: 0,
            buffer: Vec::new(),
        })
    }

    /// Returns the next line without its end, which is `\n` or `\r\n`.
    pub(crate) fn next(&mut self) -> Result<Option<(&str, FilePlace<'_>)>, LabError> {
        self.buffer.clear();
        let mut rest = self.reader.by_ref().take(self.limit as u64 + 1);
        let read = rest.read_until(b'\n', &mut self.buffer);
        let read = read.map_err(|source| self.broken(source))?;
        if read == 0 {
            return Ok(None);
        }
        self.line += 1;
        let place = FilePlace {
            path: &self.path,
            line: self.line,
        };
        if read > self.limit {
            return Err(place.wrong(format!("longer than {} MiB", self.limit >> 20)));
        }
        if self.buffer.last() == Some(&b'\n') {
            self.buffer.pop();
            if self.buffer.last() == Some(&b'\r') {
                self.buffer.pop();
            }
        }
        let text = std::str::from_utf8(&self.buffer).map_err(|_| place.wrong("not UTF-8"))?;
        // Some editors put a byte order mark before the first line.
        let mark = if self.line == 1 { "\u{feff}" } else { "" };
        Ok(Some((text.strip_prefix(mark).unwrap_or(text), place)))
    }

    /// Returns whether only an empty line is left, and consumes it in that case.
    ///
    /// # Errors
    /// If an empty line is followed by more text, or the file cannot be read.
    pub(crate) fn only_an_empty_line_is_left(&mut self) -> Result<bool, LabError> {
        let filled = self.reader.fill_buf();
        let next = match filled {
            Ok(bytes) => bytes.first().copied(),
            Err(source) => return Err(self.broken(source)),
        };
        if !matches!(next, Some(b'\n' | b'\r')) {
            return Ok(false);
        }
        let mut rest = [0; 3];
        let mut read = 0;
        while read < rest.len() {
            match self.reader.read(&mut rest[read..]) {
                Ok(0) => break,
                Ok(more) => read += more,
                Err(source) => return Err(self.broken(source)),
            }
        }
        if matches!(&rest[..read], b"\n" | b"\r\n") {
            return Ok(true);
        }
        self.line += 1;
        Err(self.place().wrong("an empty line"))
    }

    /// Returns the position of the line that was read last; line 1 before the first read.
    pub(crate) fn place(&self) -> FilePlace<'_> {
        FilePlace {
            path: &self.path,
            line: self.line.max(1),
        }
    }

    fn broken(&self, source: std::io::Error) -> LabError {
        LabError::Broken {
            path: self.path.clone(),
            line: self.line,
            source,
        }
    }
}

impl FilePlace<'_> {
    /// Creates an error at this line.
    pub(crate) fn wrong(&self, why: impl Into<String>) -> LabError {
        LabError::Table {
            path: self.path.to_owned(),
            line: self.line,
            why: why.into(),
        }
    }
}

fn unpack(path: &Path) -> std::io::Result<Box<dyn BufRead>> {
    let file = BufReader::with_capacity(CHUNK, File::open(path)?);
    let ending = path.extension().and_then(|ending| ending.to_str());
    Ok(match ending {
        Some("gz") => Box::new(BufReader::with_capacity(CHUNK, MultiGzDecoder::new(file))),
        Some("zst") => {
            let mut zstd = zstd::stream::read::Decoder::with_buffer(file)?;
            zstd.window_log_max(WINDOW)?;
            Box::new(BufReader::with_capacity(CHUNK, zstd))
        }
        _ => Box::new(file),
    })
}
