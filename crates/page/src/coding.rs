//! What is in a compressed body?
//!
//! **Invariant:** decoding goes in steps of 64 KB and stops at the size limit or when the output is out
//! of all proportion to the input, layer by layer, so that no bomb is held in memory or run to its end.
//! What was decoded before a limit or a fault is kept; a body of which nothing could be decoded is given
//! back as it came.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

/// hostile-web.md, row 1.
const STEP: usize = 64 * 1024;
/// hostile-web.md, row 3. Real servers use one; a second is a proxy that compressed again.
const LAYERS: usize = 2;
/// hostile-web.md, row 2: a window of at most 8 MB (2^23), which is also what RFC 9659 allows on the web.
const ZSTD_WINDOW_LOG: u32 = 23;

/// How much to decode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Of decoded bytes.
    pub bytes: usize,
    /// Of decoded bytes for each encoded one, beyond [`Limits::ratio_from`].
    pub ratio: usize,
    /// Up to so many decoded bytes any ratio will do: short pages of spaces are no bombs.
    pub ratio_from: usize,
}

impl Default for Limits {
    /// 8 MB, and a ratio of 100 beyond the first megabyte (hostile-web.md, rows 1 and 5).
    fn default() -> Self {
        Self {
            bytes: 8 << 20,
            ratio: 100,
            ratio_from: 1 << 20,
        }
    }
}

/// Decoded bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content<'a> {
    /// As far as they could be decoded; the body itself where it has no coding or [`Cut::Encoded`] is set.
    pub bytes: Cow<'a, [u8]>,
    /// Why they end early, if they do.
    pub cut: Option<Cut>,
}

/// Why content is not the whole content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The size limit was reached.
    Size,
    /// The ratio limit was reached.
    Ratio,
    /// The encoded bytes end early or are wrong.
    Corrupt,
    /// The coding is unknown, there are too many, or not one byte could be decoded: the bytes are as
    /// they came.
    Encoded,
}

/// Undoes the content codings of a body. `values` are those of its `Content-Encoding` fields, in order.
pub fn decode<'a, 'v>(
    body: Cow<'a, [u8]>,
    values: impl IntoIterator<Item = &'v [u8]>,
    limits: Limits,
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
    // Not one byte came out: the header lies, and the body may well be plain.
    if bytes.is_empty() && cut == Some(Cut::Corrupt) {
        return as_it_is(body, Some(Cut::Encoded));
    }
    Content {
        bytes: Cow::Owned(bytes),
        cut,
    }
}

#[derive(Clone, Copy)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// The codings in the order in which they were applied; `None` when one is unknown or there are too many.
fn codings<'v>(values: impl IntoIterator<Item = &'v [u8]>) -> Option<Vec<Coding>> {
    let names = values
        .into_iter()
        .flat_map(|value| value.split(|&byte| byte == b','));
    let mut codings = Vec::new();
    for name in names {
        codings.push(match name.trim_ascii().to_ascii_lowercase().as_slice() {
            b"" | b"identity" => continue,
            b"gzip" | b"x-gzip" => Coding::Gzip,
            b"deflate" => Coding::Deflate,
            b"br" => Coding::Brotli,
            b"zstd" => Coding::Zstd,
            _ => return None,
        });
    }
    (codings.len() <= LAYERS).then_some(codings)
}

fn unpack(body: &[u8], codings: &[Coding], limits: Limits) -> (Vec<u8>, Option<Cut>) {
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
        // What lies between two layers is bounded like the result: many empty members that unpack to
        // nothing would otherwise cost time without end.
        reader = Box::new(BufReader::with_capacity(STEP, layer.take(ceiling as u64)));
    }
    (body.to_vec(), None)
}

fn layer<'a>(coding: Coding, mut reader: Box<dyn BufRead + 'a>) -> io::Result<Box<dyn Read + 'a>> {
    Ok(match coding {
        Coding::Gzip => Box::new(MultiGzDecoder::new(reader)),
        Coding::Deflate => {
            // Read, not peeked at: the layer above may hand out a single byte at a time.
            let mut start = [0; 2];
            reader.read_exact(&mut start)?;
            let whole = Cursor::new(start).chain(reader);
            if is_zlib(start) {
                Box::new(ZlibDecoder::new(whole))
            } else {
                Box::new(DeflateDecoder::new(whole))
            }
        }
        Coding::Brotli => Box::new(brotli_decompressor::Decompressor::new(reader, STEP)),
        Coding::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(reader)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG)?;
            Box::new(decoder)
        }
    })
}

/// "deflate" is zlib by the standard (RFC 9110, 8.4.1.2) and raw on some servers. A zlib header names
/// method 8 and is a multiple of 31 (RFC 1950, 2.2).
fn is_zlib(start: [u8; 2]) -> bool {
    start[0] & 0x0f == 8 && u16::from_be_bytes(start).is_multiple_of(31)
}

fn fill(mut layer: Box<dyn Read + '_>, ceiling: usize, limits: Limits) -> (Vec<u8>, Option<Cut>) {
    let mut content = Vec::new();
    loop {
        // One byte beyond the ceiling tells a full measure from an overflowing one.
        let step = STEP.min((ceiling - content.len()).saturating_add(1));
        let read = layer.by_ref().take(step as u64).read_to_end(&mut content);
        if content.len() > ceiling {
            content.truncate(ceiling);
            let reason = if ceiling == limits.bytes {
                Cut::Size
            } else {
                Cut::Ratio
            };
            return (content, Some(reason));
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
