//! Compression of records: one gzip member per record.
//!
//! **Invariant:** a member is complete, with header, data, checksum and length. Members can be
//! concatenated, separated and read alone.

use std::cell::RefCell;

use flate2::{Compress, Compression, FlushCompress, Status};

/// Compression level, from 0 (store) to 9.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level(u32);

impl Level {
    /// Returns the level; `None` if it is above 9.
    pub fn new(level: u32) -> Option<Self> {
        (level <= 9).then_some(Self(level))
    }
}

impl Default for Level {
    /// Returns level 1: the time to compress a page limits a crawl sooner than disk space does.
    ///
    /// Measured on 2,706 documentation pages with a mean of 36 KB. For each row, this default was
    /// changed (`cargo run --release -p repository --example speed DIR`):
    ///
    /// | level | ms per page | KB per page |
    /// |---|---|---|
    /// | 1 | 0.19 | 10.5 |
    /// | 2 | 0.28 | 8.3 |
    /// | 6 | 0.46 | 7.3 |
    fn default() -> Self {
        Self(1)
    }
}

/// Base-2 logarithm of the deflate window: 32 KiB, the maximum of RFC 1951, section 2.
const WINDOW_BITS: u8 = 15;

thread_local! {
    /// The compressor of this thread, with its level. Creating one takes 10 µs, resetting it 4
    /// µs.
    static COMPRESSOR: RefCell<Option<(Level, Compress)>> = const { RefCell::new(None) };
}

/// Compresses the concatenation of the parts into one gzip member.
pub(super) fn member(parts: &[&[u8]], level: Level) -> Vec<u8> {
    COMPRESSOR.with_borrow_mut(|slot| {
        let compress = match slot {
            Some((made_for, compress)) if *made_for == level => {
                compress.reset();
                compress
            }
            _ => {
                let new = Compress::new_gzip(Compression::new(level.0), WINDOW_BITS);
                &mut slot.insert((level, new)).1
            }
        };
        let size: usize = parts.iter().map(|part| part.len()).sum();
        let mut out = Vec::with_capacity(size / 3 + 512);
        for part in parts {
            feed(compress, part, FlushCompress::None, &mut out);
        }
        feed(compress, &[], FlushCompress::Finish, &mut out);
        out
    })
}

fn feed(compress: &mut Compress, mut part: &[u8], flush: FlushCompress, out: &mut Vec<u8>) {
    loop {
        if out.capacity() - out.len() < 64 {
            out.reserve(out.len() / 2 + 4096);
        }
        let before = compress.total_in();
        let status = compress.compress_vec(part, out, flush);
        let status = status.expect("nothing else changes the state of this compressor");
        part = &part[(compress.total_in() - before) as usize..];
        let finishing = matches!(flush, FlushCompress::Finish);
        if status == Status::StreamEnd || part.is_empty() && !finishing {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

        #[test]
        fn members_decode_to_their_parts(
            parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..5000), 0..4),
            run in 0..40_000_usize,
            level in 0..=9_u32,
        ) {
            let mut parts = parts;
            parts.push(vec![b'x'; run]);
            let slices: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
            let level = Level::new(level).unwrap();
            let mut joined = member(&slices, level);
            joined.extend(member(&slices, level));
            let mut decoded = Vec::new();
            flate2::read::MultiGzDecoder::new(&joined[..]).read_to_end(&mut decoded).unwrap();
            prop_assert_eq!(decoded, [parts.concat(), parts.concat()].concat());
        }
    }

    #[test]
    fn levels_end_at_nine() {
        assert!(Level::new(9).is_some());
        assert!(Level::new(10).is_none());
    }
}
