//! A file to read records from: how far it was read, and where the next record starts.
//!
//! **Invariant:** looking for a record takes time linear in the file, whatever the file is made of.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use flate2::bufread::GzDecoder;

/// The first byte of every gzip member (RFC 1952, 2.3), which no plain record starts with.
pub(super) const GZIP_FIRST: u8 = 0x1f;

/// How a gzip member starts (RFC 1952, 2.3), with deflate and without optional parts.
const GZIP_START: &[u8] = &[GZIP_FIRST, 0x8b, 8, 0];

/// How a plain record starts after the line ends of the one before.
const PLAIN_START: &[u8] = b"\nWARC/";

/// A file and how far it was read.
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

    /// Where the next record after the one at `start` begins. Looks for the same kind as the
    /// file's first: the other kind could only be something a page contained.
    pub(super) fn find_record(&mut self, start: u64, end: u64) -> io::Result<Option<u64>> {
        self.go(0)?;
        let mut first = Vec::new();
        self.by_ref().take(3).read_to_end(&mut first)?;
        // The first record may be the damaged one, so two bytes of its start decide.
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
            // The windows overlap by less than a pattern, so that none is missed or seen twice.
            from += (window.len() + 1 - pattern.len()) as u64;
        }
        Ok(None)
    }

    /// Decodes the first bytes, from no more than a kilobyte: the search must stay linear, whatever
    /// the file is made of.
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
