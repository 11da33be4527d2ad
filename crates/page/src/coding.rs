//! Decodes compressed bodies (`Content-Encoding`).
//!
//! **Invariant:** decoding proceeds in steps of 64 KiB. Each layer stops at the size limit or at
//! the ratio limit. A decompression bomb is therefore neither held in memory nor decoded to its
//! end. What was decoded before a limit or a fault is kept. A body of which nothing could be
//! decoded is returned unchanged.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

/// Step of decoding in bytes (hostile-web.md, row 1).
const STEP: usize = 64 * 1024;
/// Maximum number of layers of coding (hostile-web.md, row 3). Real servers use one; a proxy that
/// compresses again adds a second.
const LAYERS: usize = 2;
/// Binary logarithm of the zstd window: 2^23 bytes are 8 MiB, the limit of hostile-web.md, row 2,
/// and of RFC 9659.
const ZSTD_WINDOW_LOG: u32 = 23;

/// Limits of decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodingLimits {
    /// Maximum decoded bytes.
    pub bytes: usize,
    /// Maximum decoded bytes per encoded byte, enforced beyond [`CodingLimits::ratio_from`].
    pub ratio: usize,
    /// Decoded bytes up to which any ratio is accepted: a short page of spaces is not a bomb.
    pub ratio_from: usize,
}

impl Default for CodingLimits {
    /// 8 MiB, and a ratio of 100 beyond the first MiB (hostile-web.md, rows 1 and 5).
    fn default() -> Self {
        Self {
            bytes: 8 << 20,
            ratio: 100,
            ratio_from: 1 << 20,
        }
    }
}

/// A decoded body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content<'a> {
    /// The bytes as far as they could be decoded; the body itself if it has no coding or `cut`
    /// is [`Cut::Encoded`].
    pub bytes: Cow<'a, [u8]>,
    /// Why the bytes are incomplete, if they are.
    pub cut: Option<Cut>,
}

/// Why a decoded body is incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The size limit was reached.
    Size,
    /// The ratio limit was reached.
    Ratio,
    /// The encoded bytes are truncated or invalid.
    Corrupt,
    /// The coding is unknown, there are too many layers, or nothing could be decoded. The bytes
    /// are the encoded ones.
    Encoded,
}

/// Decodes a body. `values` are the values of its `Content-Encoding` fields, in order.
pub fn decode<'a, 'v>(
    body: Cow<'a, [u8]>,
    values: impl IntoIterator<Item = &'v [u8]>,
    limits: CodingLimits,
) -> Content<'a> {
    let as_it_is = |bytes, cut| Content { bytes, cut };
    if body.is_empty() {
        return as_it_is(body, None);
    }
    let Some(codings) = codings(values) else {
        return as_it_is(body, Some(Cut::Encoded));
    };
    if codings.is_empty() {
        return as_it_is(body, None);
    }
    let (bytes, cut) = unpack(&body, &codings, limits);
    // Nothing could be decoded: the header may be wrong and the body plain.
    if bytes.is_empty() && cut == Some(Cut::Corrupt) {
        return as_it_is(body, Some(Cut::Encoded));
    }
    Content {
        bytes: Cow::Owned(bytes),
        cut,
    }
}

#[derive(Clone, Copy)]
enum ContentCoding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// Returns the codings in the order in which they were applied; `None` if one is unknown or
/// there are too many.
fn codings<'v>(values: impl IntoIterator<Item = &'v [u8]>) -> Option<Vec<ContentCoding>> {
    let names = values
        .into_iter()
        .flat_map(|value| value.split(|&byte| byte == b','));
    let mut codings = Vec::new();
    for name in names {
        codings.push(match name.trim_ascii().to_ascii_lowercase().as_slice() {
            b"" | b"identity" => continue,
            b"gzip" | b"x-gzip" => ContentCoding::Gzip,
            b"deflate" => ContentCoding::Deflate,
            b"br" => ContentCoding::Brotli,
            b"zstd" => ContentCoding::Zstd,
            _ => return None,
        });
    }
    (codings.len() <= LAYERS).then_some(codings)
}

fn unpack(body: &[u8], codings: &[ContentCoding], limits: CodingLimits) -> (Vec<u8>, Option<Cut>) {
    let by_ratio = body.len().saturating_mul(limits.ratio);
    let ceiling = limits.bytes.min(by_ratio.max(limits.ratio_from));
    let mut reader: Box<dyn BufRead + '_> = Box::new(body);
    // The last coding applied is the first to undo.
    for (depth, &coding) in codings.iter().rev().enumerate() {
        let Ok(layer) = layer(coding, reader) else {
            return (Vec::new(), Some(Cut::Corrupt));
        };
        if depth + 1 == codings.len() {
            return fill(layer, ceiling, limits);
        }
        // The intermediate bytes are bounded like the result. Otherwise many empty gzip members,
        // which decode to nothing, would cost unbounded time.
        reader = Box::new(BufReader::with_capacity(STEP, layer.take(ceiling as u64)));
    }
    (body.to_vec(), None)
}

fn layer<'a>(
    coding: ContentCoding,
    mut reader: Box<dyn BufRead + 'a>,
) -> io::Result<Box<dyn Read + 'a>> {
    Ok(match coding {
        ContentCoding::Gzip => Box::new(MultiGzDecoder::new(reader)),
        ContentCoding::Deflate => {
            // Reads instead of peeking, because the layer above may deliver one byte at a time.
            let mut start = [0; 2];
            reader.read_exact(&mut start)?;
            let whole = Cursor::new(start).chain(reader);
            if is_zlib(start) {
                Box::new(ZlibDecoder::new(whole))
            } else {
                Box::new(DeflateDecoder::new(whole))
            }
        }
        ContentCoding::Brotli => Box::new(brotli_decompressor::Decompressor::new(reader, STEP)),
        ContentCoding::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(reader)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG)?;
            Box::new(decoder)
        }
    })
}

/// Returns whether a "deflate" body has a zlib header.
///
/// The standard requires one (RFC 9110, 8.4.1.2), but some servers send raw deflate. A zlib
/// header names method 8 and is a multiple of 31 (RFC 1950, 2.2).
fn is_zlib(start: [u8; 2]) -> bool {
    start[0] & 0x0f == 8 && u16::from_be_bytes(start).is_multiple_of(31)
}

fn fill(
    mut layer: Box<dyn Read + '_>,
    ceiling: usize,
    limits: CodingLimits,
) -> (Vec<u8>, Option<Cut>) {
    let mut content = Vec::new();
    loop {
        // One byte beyond the ceiling distinguishes output of exactly that size from longer
        // output.
        let step = STEP.min((ceiling - content.len()).saturating_add(1));
        let read = layer.by_ref().take(step as u64).read_to_end(&mut content);
        if content.len() > ceiling {
            content.truncate(ceiling);
            let is_size = ceiling == limits.bytes;
            return (content, Some(if is_size { Cut::Size } else { Cut::Ratio }));
        }
        match read {
            Ok(0) => return (content, None),
            Ok(_) => {}
            Err(_) => return (content, Some(Cut::Corrupt)),
        }
    }
}

#[cfg(test)]
mod tests;
