//! The content of a body, decoded from its content encoding.
//!
//! **Invariant:** no input makes it hold more than [`DecodeLimits::bytes`] of output or decode
//! much more than that; what was decoded before a limit or a fault is kept, with the reason why it
//! ends. The limits are those of the network (hostile-web.md, rows 1 to 4 and 81).

use std::borrow::Cow;
use std::io::{self, Read};

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

/// A body is encoded twice at most; more is a trick (hostile-web.md, row 3).
const LAYERS: usize = 2;

/// 8 MB: more than any sender's window should need (RFC 9659 sets it for zstd on the web).
const ZSTD_WINDOW_LOG: u32 = 23;

/// Below this output a high ratio is innocent: a page of blanks.
const RATIO_FLOOR: usize = 1 << 20;

/// How much to decode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeLimits {
    /// Of decoded bytes.
    pub bytes: usize,
    /// Of decoded bytes for each encoded one, beyond the first megabyte.
    pub ratio: usize,
}

impl Default for DecodeLimits {
    /// 8 MB and a ratio of 100 (hostile-web.md, rows 1 and 5).
    fn default() -> Self {
        Self {
            bytes: 8 << 20,
            ratio: 100,
        }
    }
}

/// Decoded bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content<'a> {
    /// As far as they could be decoded; the body itself where it has no encoding.
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
    /// The encoding is unknown, or there are too many: the bytes are still encoded.
    Encoded,
}

/// Decodes a body. `encodings` are the values of its `Content-Encoding` fields, in order.
pub(super) fn decode<'a, 'e>(
    body: Cow<'a, [u8]>,
    encodings: impl Iterator<Item = &'e [u8]>,
    limits: DecodeLimits,
) -> Content<'a> {
    let names: Vec<Vec<u8>> = encodings
        .flat_map(|value| value.split(|&byte| byte == b','))
        .map(|name| name.trim_ascii().to_ascii_lowercase())
        .filter(|name| !name.is_empty() && name != b"identity")
        .collect();
    if names.is_empty() || body.is_empty() {
        return Content {
            bytes: body,
            cut: None,
        };
    }
    let Some(layers) = layers(&names) else {
        return Content {
            bytes: body,
            cut: Some(Cut::Encoded),
        };
    };
    let mut bytes = Vec::new();
    let cut = unpack(&body, &layers, limits, &mut bytes);
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

fn layers(names: &[Vec<u8>]) -> Option<Vec<Coding>> {
    if names.len() > LAYERS {
        return None;
    }
    names
        .iter()
        .map(|name| match name.as_slice() {
            b"gzip" | b"x-gzip" => Some(Coding::Gzip),
            b"deflate" => Some(Coding::Deflate),
            b"br" => Some(Coding::Brotli),
            b"zstd" => Some(Coding::Zstd),
            _ => None,
        })
        .collect()
}

fn unpack(body: &[u8], layers: &[Coding], limits: DecodeLimits, out: &mut Vec<u8>) -> Option<Cut> {
    let mut input: Box<dyn Read + '_> = Box::new(body);
    // The last coding applied is the first to undo. What passes between two layers is limited
    // too: it could be endless and decode to nothing.
    for &layer in layers.iter().rev() {
        input = match open(layer, Box::new(input.take(limits.bytes as u64))) {
            Ok(decoder) => decoder,
            Err(_) => return Some(Cut::Corrupt),
        };
    }
    let by_ratio = body.len().saturating_mul(limits.ratio).max(RATIO_FLOOR);
    let limit = limits.bytes.min(by_ratio);
    // One byte more tells a body that fits from one that was cut.
    let read = input.take(limit as u64 + 1).read_to_end(out);
    if out.len() > limit {
        out.truncate(limit);
        return Some(if limit == limits.bytes {
            Cut::Size
        } else {
            Cut::Ratio
        });
    }
    read.is_err().then_some(Cut::Corrupt)
}

fn open<'a>(coding: Coding, mut input: Box<dyn Read + 'a>) -> io::Result<Box<dyn Read + 'a>> {
    Ok(match coding {
        Coding::Gzip => Box::new(MultiGzDecoder::new(input)),
        Coding::Brotli => Box::new(brotli_decompressor::Decompressor::new(input, 4096)),
        Coding::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::new(input)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG)?;
            Box::new(decoder)
        }
        // RFC 9110, 8.4.1.2: some send the deflate data without its zlib wrapper, whose two bytes
        // are a multiple of 31 (RFC 1950, 2.2).
        Coding::Deflate => {
            let mut start = [0; 2];
            input.read_exact(&mut start)?;
            let wrapped = start[0] & 0x0f == 8 && u16::from_be_bytes(start) % 31 == 0;
            let whole = io::Cursor::new(start).chain(input);
            if wrapped {
                Box::new(ZlibDecoder::new(whole))
            } else {
                Box::new(DeflateDecoder::new(whole))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut out = GzEncoder::new(Vec::new(), Compression::best());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    }

    fn decoded(body: &[u8], encoding: &str, bytes: usize) -> (Vec<u8>, Option<Cut>) {
        let limits = DecodeLimits { bytes, ratio: 100 };
        let content = decode(
            Cow::Borrowed(body),
            std::iter::once(encoding.as_bytes()),
            limits,
        );
        (content.bytes.into_owned(), content.cut)
    }

    #[test]
    fn every_coding_of_the_web() {
        let text = b"avocet ".repeat(50);
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(&text).unwrap();
        let mut raw = DeflateEncoder::new(Vec::new(), Compression::fast());
        raw.write_all(&text).unwrap();
        let zstd = zstd::encode_all(&text[..], 1).unwrap();
        // From Google's `brotli` 1.x, which no crate we use can compress with.
        let brotli = b"\x1b\x5d\x01\xf8\x8d\x54\xb5\xbf\x0e\x1b\xa3\xb3\x93\x20\x65\x6f\x41\x5b\x24\x30\x82\xb7\x00";
        for (body, encoding) in [
            (text.clone(), ""),
            (text.clone(), "identity"),
            (gzip(&text), "gzip"),
            (gzip(&text), " X-GZIP "),
            ([gzip(&text[..100]), gzip(&text[100..])].concat(), "gzip"),
            (zlib.finish().unwrap(), "deflate"),
            (raw.finish().unwrap(), "deflate"),
            (gzip(&zstd), "zstd, gzip"),
            (zstd, "zstd"),
            (brotli.to_vec(), "br"),
            (gzip(brotli), "br,gzip"),
        ] {
            assert_eq!(
                decoded(&body, encoding, 1 << 20),
                (text.clone(), None),
                "{encoding}"
            );
        }
    }

    #[test]
    fn what_cannot_be_decoded_stays_as_it_is() {
        for encoding in ["gzip, gzip, br", "snappy", "gzip, snappy"] {
            assert_eq!(
                decoded(b"abc", encoding, 10),
                (b"abc".to_vec(), Some(Cut::Encoded))
            );
        }
    }

    #[test]
    fn a_prefix_survives_damage() {
        let text: Vec<u8> = (0..50_000_u32)
            .flat_map(|n| n.to_string().into_bytes())
            .collect();
        let whole = gzip(&text);
        let (bytes, cut) = decoded(&whole[..whole.len() / 2], "gzip", 1 << 20);
        assert_eq!(cut, Some(Cut::Corrupt));
        assert!(bytes.len() > 1000 && text.starts_with(&bytes));
        for encoding in ["gzip", "deflate", "br", "zstd"] {
            let (_, cut) = decoded(b"\xff<html>not compressed at all</html>", encoding, 1 << 20);
            assert_eq!(cut, Some(Cut::Corrupt), "{encoding}");
        }
    }

    #[test]
    fn bombs_are_cut() {
        let zeros = vec![0; 4 << 20];
        let bomb = gzip(&zeros);
        let (bytes, cut) = decoded(&bomb, "gzip", 1 << 30);
        assert_eq!((bytes.len(), cut), (1 << 20, Some(Cut::Ratio)));
        let limits = DecodeLimits {
            bytes: 1 << 30,
            ratio: 300,
        };
        let content = decode(Cow::Borrowed(&bomb), std::iter::once(&b"gzip"[..]), limits);
        assert_eq!(
            (content.bytes.len(), content.cut),
            (bomb.len() * 300, Some(Cut::Ratio))
        );
        let (bytes, cut) = decoded(&bomb, "gzip", 1 << 19);
        assert_eq!((bytes.len(), cut), (1 << 19, Some(Cut::Size)));
        let small = gzip(&zeros[..1 << 20]);
        assert_eq!(
            decoded(&small, "gzip", 1 << 30),
            (zeros[..1 << 20].to_vec(), None)
        );
        let nested = gzip(&bomb);
        let (bytes, cut) = decoded(&nested, "gzip, gzip", 1 << 30);
        assert!(bytes.len() < 2 << 20 && cut == Some(Cut::Ratio));
        let zstd = zstd::encode_all(&zeros[..], 1).unwrap();
        assert_eq!(decoded(&zstd, "zstd", 1 << 30).1, Some(Cut::Ratio));
    }
}
