//! What is in a compressed body?
//!
//! **Invariant:** decoding goes in steps of 64 KB and stops at the size limit or when the output is out
//! of all proportion to the input, layer by layer, so that no bomb is held in memory or run to its end.

use std::io::{self, BufRead, BufReader, Read};

use bytes::Bytes;
use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;

use crate::response::Truncation;
use crate::settings::Limits;

/// hostile-web.md, row 1.
const STEP: usize = 64 * 1024;
/// hostile-web.md, row 3. Real servers use one; a second is a proxy that compressed again.
const LAYERS: usize = 2;
/// hostile-web.md, row 2: a window of at most 8 MB (2^23), which is also what RFC 9659 allows on the web.
const ZSTD_WINDOW_LOG: u32 = 23;

/// A body after decoding.
pub(crate) struct Decoded {
    pub(crate) content: Bytes,
    pub(crate) truncated: Option<Truncation>,
    /// The content is still in a coding that could not be undone.
    pub(crate) undecoded: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// Undoes the content codings that the headers name.
pub(crate) fn decode(headers: &HeaderMap, body: &Bytes, limits: &Limits) -> Decoded {
    let as_it_is = |undecoded| Decoded {
        content: body.clone(),
        truncated: None,
        undecoded,
    };
    if body.is_empty() || !headers.contains_key(CONTENT_ENCODING) {
        return as_it_is(false);
    }
    let Some(codings) = codings(headers) else {
        return as_it_is(true);
    };
    if codings.is_empty() {
        return as_it_is(false);
    }
    let (content, truncated) = unpack(body, &codings, limits);
    // Not one byte came out: the header lies, and the body may well be plain.
    if content.is_empty() && truncated == Some(Truncation::Coding) {
        return as_it_is(true);
    }
    Decoded {
        content: content.into(),
        truncated,
        undecoded: false,
    }
}

/// The codings in the order in which they were applied; `None` when one is unknown or there are too many.
fn codings(headers: &HeaderMap) -> Option<Vec<Coding>> {
    let mut codings = Vec::new();
    for value in headers.get_all(CONTENT_ENCODING) {
        for name in value.to_str().ok()?.split(',') {
            codings.push(match name.trim().to_ascii_lowercase().as_str() {
                "" | "identity" => continue,
                "gzip" | "x-gzip" => Coding::Gzip,
                "deflate" => Coding::Deflate,
                "br" => Coding::Brotli,
                "zstd" => Coding::Zstd,
                _ => return None,
            });
        }
    }
    (codings.len() <= LAYERS).then_some(codings)
}

fn unpack(body: &[u8], codings: &[Coding], limits: &Limits) -> (Vec<u8>, Option<Truncation>) {
    let ceiling = limits.decoded.min(
        limits
            .ratio_from
            .max(body.len().saturating_mul(limits.ratio)),
    );
    let mut reader: Box<dyn BufRead + '_> = Box::new(body);
    for (depth, &coding) in codings.iter().rev().enumerate() {
        let Ok(layer) = layer(coding, reader) else {
            return (Vec::new(), Some(Truncation::Coding));
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
        Coding::Deflate if is_zlib(reader.fill_buf()?) => Box::new(ZlibDecoder::new(reader)),
        Coding::Deflate => Box::new(DeflateDecoder::new(reader)),
        Coding::Brotli => Box::new(brotli_decompressor::Decompressor::new(reader, STEP)),
        Coding::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(reader)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG)?;
            Box::new(decoder)
        }
    })
}

/// "deflate" is zlib by the standard (RFC 9110, 8.4.1.2) and raw on some servers. A zlib header names
/// method 8 and is a multiple of 31.
fn is_zlib(start: &[u8]) -> bool {
    let [first, second, ..] = *start else {
        return false;
    };
    first & 0x0f == 8 && u16::from_be_bytes([first, second]).is_multiple_of(31)
}

fn fill(
    mut layer: Box<dyn Read + '_>,
    ceiling: usize,
    limits: &Limits,
) -> (Vec<u8>, Option<Truncation>) {
    let mut content = Vec::new();
    loop {
        // One byte beyond the ceiling tells a full measure from an overflowing one.
        let step = STEP.min(ceiling + 1 - content.len());
        let read = layer.by_ref().take(step as u64).read_to_end(&mut content);
        if content.len() > ceiling {
            content.truncate(ceiling);
            let reason = if ceiling == limits.decoded {
                Truncation::Size
            } else {
                Truncation::Ratio
            };
            return (content, Some(reason));
        }
        match read {
            Ok(0) => return (content, None),
            Ok(_) => {}
            Err(_) => return (content, Some(Truncation::Coding)),
        }
    }
}
