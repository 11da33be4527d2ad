//! Attacks by content encoding (rows 1 to 4).
//!
//! **Invariant:** the decompression bombs are valid encodings of what they expand to, with
//! correct checksums. A decoder that stops early stops because of its limits, never because of
//! an error in the input.

use std::io::Write;

use flate2::write::GzEncoder;
use flate2::{Compress, Compression, Crc, FlushCompress};

use super::script::{Script, ScriptRequest, page};

const MEGABYTE: usize = 1 << 20;

/// Size of the expanded bombs, in megabytes.
const BOMB_MEGABYTES: usize = 1_024;

pub(super) fn gzip_bomb(_: &ScriptRequest<'_>) -> Script {
    coded("gzip", gzip_zeros(BOMB_MEGABYTES))
}

pub(super) fn brotli_bomb(_: &ScriptRequest<'_>) -> Script {
    coded("br", brotli_zeros(BOMB_MEGABYTES))
}

pub(super) fn zstd_bomb(_: &ScriptRequest<'_>) -> Script {
    coded("zstd", zstd_zeros(BOMB_MEGABYTES, 20))
}

/// A zstd frame that expands to a megabyte and requires a window of two gigabytes.
pub(super) fn zstd_window(_: &ScriptRequest<'_>) -> Script {
    coded("zstd", zstd_zeros(1, 31))
}

pub(super) fn layered(_: &ScriptRequest<'_>) -> Script {
    let once = gzip(page("layered", "three layers").as_bytes());
    coded("gzip, gzip, gzip", gzip(&gzip(&once)))
}

pub(super) fn wrong_encoding(_: &ScriptRequest<'_>) -> Script {
    coded("gzip", page("plain", "not compressed at all").into_bytes())
}

pub(super) fn unknown_encoding(_: &ScriptRequest<'_>) -> Script {
    coded(
        "x-made-up",
        page("plain", "in an unknown coding").into_bytes(),
    )
}

fn coded(coding: &str, body: Vec<u8>) -> Script {
    let head = format!("200 OK\r\nContent-Type: text/html\r\nContent-Encoding: {coding}");
    Script::framed(&head, body)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.expect("writing to memory does not fail")
}

/// Returns `megabytes` of zeros in gzip.
///
/// A fully flushed block ends at a byte boundary and does not refer to earlier data. So the
/// block of one megabyte is made once and repeated.
fn gzip_zeros(megabytes: usize) -> Vec<u8> {
    let zeros = vec![0; MEGABYTE];
    let mut block = Vec::with_capacity(MEGABYTE);
    let mut deflate = Compress::new(Compression::best(), false);
    // The buffer is larger than any encoding of zeros, so it cannot be too small.
    let _ = deflate.compress_vec(&zeros, &mut block, FlushCompress::Full);
    let mut one = Crc::new();
    one.update(&zeros);
    let mut all = Crc::new();
    // RFC 1952: magic, deflate, no flags, no time, no extra flags, unknown system.
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    for _ in 0..megabytes {
        out.extend_from_slice(&block);
        all.combine(&one);
    }
    // A last, empty block with fixed codes.
    out.extend_from_slice(&[0x03, 0x00]);
    out.extend_from_slice(&all.sum().to_le_bytes());
    out.extend_from_slice(&all.amount().to_le_bytes());
    out
}

/// Returns `megabytes` of zeros in brotli.
///
/// The bytes are those that Google's encoder writes for the first megabyte and for each later
/// one (quality 5, window 22, flushed after each), followed by the end of the stream.
fn brotli_zeros(megabytes: usize) -> Vec<u8> {
    const FIRST: [u8; 14] = [
        0xab, 0xff, 0xff, 0x07, 0x40, 0x02, 0x20, 0x1e, 0x0b, 0x24, 0xf7, 0xfe, 0xc1, 0x00,
    ];
    const LATER: [u8; 13] = [
        0xfa, 0xff, 0x7f, 0x00, 0x24, 0x00, 0xe2, 0xb0, 0x00, 0x74, 0xef, 0x1f, 0x0c,
    ];
    const END: u8 = 0x03;
    let mut out = FIRST.to_vec();
    for _ in 1..megabytes {
        out.extend_from_slice(&LATER);
    }
    out.push(END);
    out
}

/// Returns `megabytes` of zeros in zstd (RFC 8878): blocks of 128 KiB, each a repeated byte.
fn zstd_zeros(megabytes: usize, window_log: u8) -> Vec<u8> {
    const BLOCK: u32 = 128 << 10;
    const REPEATED_BYTE: u32 = 1 << 1;
    const LAST: u32 = 1;
    let blocks = megabytes * MEGABYTE / BLOCK as usize;
    // Magic; a descriptor without flags; the window as an exponent above 10.
    let mut out = vec![0x28, 0xb5, 0x2f, 0xfd, 0, (window_log - 10) << 3];
    for n in 1..=blocks {
        let last = if n == blocks { LAST } else { 0 };
        let header = (BLOCK << 3 | REPEATED_BYTE | last).to_le_bytes();
        out.extend_from_slice(&header[..3]);
        out.push(0);
    }
    out
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn zeros(mut decoder: impl Read) -> usize {
        let mut out = Vec::new();
        decoder.read_to_end(&mut out).unwrap();
        assert!(out.iter().all(|&byte| byte == 0));
        out.len()
    }

    #[test]
    fn bombs_decode_to_the_stated_number_of_zeros() {
        for megabytes in [1, 2, 5] {
            let size = megabytes * MEGABYTE;
            let gzip = gzip_zeros(megabytes);
            assert_eq!(zeros(flate2::read::GzDecoder::new(&gzip[..])), size);
            let brotli = brotli_zeros(megabytes);
            assert_eq!(
                zeros(brotli_decompressor::Decompressor::new(&brotli[..], 4_096)),
                size
            );
            let zstd = zstd_zeros(megabytes, 20);
            assert_eq!(zeros(zstd::Decoder::new(&zstd[..]).unwrap()), size);
        }
    }

    #[test]
    fn bombs_expand_more_than_900_times() {
        for bomb in [
            gzip_zeros(BOMB_MEGABYTES),
            brotli_zeros(BOMB_MEGABYTES),
            zstd_zeros(BOMB_MEGABYTES, 20),
        ] {
            assert!(
                BOMB_MEGABYTES * MEGABYTE / bomb.len() > 900,
                "{}",
                bomb.len()
            );
        }
    }

    #[test]
    fn a_window_of_two_gigabytes_is_refused_by_default() {
        let mut out = Vec::new();
        let window = zstd_zeros(1, 31);
        assert!(
            zstd::Decoder::new(&window[..])
                .unwrap()
                .read_to_end(&mut out)
                .is_err()
        );
    }
}
