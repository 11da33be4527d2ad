//! A file to read records from, with the read position and the search for the next record.
//!
//! **Invariant:** the search for a record takes time linear in the size of the file, whatever
//! the file contains.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use flate2::bufread::GzDecoder;

/// The first byte of every gzip member (RFC 1952, section 2.3). No uncompressed record starts
/// with it.
pub(super) const GZIP_FIRST: u8 = 0x1f;

/// The first bytes of a gzip member (RFC 1952, section 2.3) that uses deflate and has no
/// optional parts.
const GZIP_START: &[u8] = &[GZIP_FIRST, 0x8b, 8, 0];

/// The first bytes of an uncompressed record, after the line end of the record before.
const PLAIN_START: &[u8] = b"\nWARC/";

pub(super) struct Input<R> {
    inner: BufReader<R>,
    pub(super) position: u64,
}

impl<R: Read + Seek> Input<R> {
    pub(super) fn new(file: R) -> Self {
        Self {
            inner: BufReader::with_capacity(64 * 1024, file),
            position: 0,
        }
    }

    pub(super) fn go(&mut self, position: u64) -> io::Result<()> {
        self.inner.seek(SeekFrom::Start(position))?;
        self.position = position;
        Ok(())
    }

    /// Returns where the next record after the one at `start` begins. Returns `None` if there is
    /// none before `end`.
    ///
    /// Searches only for the format of the file's first record, gzip or uncompressed. Bytes in
    /// the other format are most likely the content of a page.
    pub(super) fn find_record(&mut self, start: u64, end: u64) -> io::Result<Option<u64>> {
        self.go(0)?;
        let mut first = Vec::new();
        self.by_ref().take(3).read_to_end(&mut first)?;
        // The first record may be the damaged one, so two matching bytes of three suffice.
        let alike = first
            .iter()
            .zip(GZIP_START)
            .filter(|(found, gzip)| found == gzip)
            .count();
        let gzip = alike >= 2;
        let (pattern, skip) = if gzip {
            (GZIP_START, 0)
        } else {
            (PLAIN_START, 1)
        };
        let mut from = start + 1;
        let mut window = Vec::new();
        while from < end {
            self.go(from)?;
            window.clear();
            self.by_ref().take(64 * 1024).read_to_end(&mut window)?;
            for at in 0..window.len() {
                if window[at..].starts_with(pattern) {
                    let candidate = from + at as u64 + skip;
                    if !gzip || self.is_member_of_record(candidate)? {
                        return Ok(Some(candidate));
                    }
                }
            }
            if window.len() < pattern.len() {
                break;
            }
            // The windows overlap by one byte less than a pattern, so that no match is missed or
            // seen twice.
            from += (window.len() + 1 - pattern.len()) as u64;
        }
        Ok(None)
    }

    /// Returns whether a gzip member begins at this offset whose content starts with `WARC/`.
    /// Reads at most 1 KiB, so that the search stays linear.
    fn is_member_of_record(&mut self, at: u64) -> io::Result<bool> {
        self.go(at)?;
        let mut first = [0; 5];
        let mut decoder = GzDecoder::new(BufReader::new(self.by_ref().take(1024)));
        Ok(decoder.read_exact(&mut first).is_ok() && &first == b"WARC/")
    }
}

impl<R: Read> Read for Input<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(out)?;
        self.position += read as u64;
        Ok(read)
    }
}

impl<R: Read> BufRead for Input<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.inner.consume(amount);
        self.position += amount as u64;
    }
}
