//! Tests that every coding is undone, and that no body exceeds its limits.

use std::io::Write;

use flate2::Compression;
use flate2::read::{DeflateEncoder, GzEncoder, ZlibEncoder};
use proptest::prelude::*;

use super::*;

/// `avocet ` fifty times, compressed by Google's `brotli` 1.x; no crate in use here compresses
/// Brotli.
const BROTLI: &[u8] =
    b"\x1b\x5d\x01\xf8\x8d\x54\xb5\xbf\x0e\x1b\xa3\xb3\x93\x20\x65\x6f\x41\x5b\x24\x30\x82\xb7\x00";

fn all(mut encoder: impl Read) -> Vec<u8> {
    let mut out = Vec::new();
    encoder.read_to_end(&mut out).unwrap();
    out
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    all(GzEncoder::new(bytes, Compression::best()))
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    all(ZlibEncoder::new(bytes, Compression::fast()))
}

fn raw(bytes: &[u8]) -> Vec<u8> {
    all(DeflateEncoder::new(bytes, Compression::fast()))
}

fn packed(bytes: &[u8], coding: &str) -> Vec<u8> {
    match coding {
        "gzip" => gzip(bytes),
        "deflate" => zlib(bytes),
        _ => zstd::encode_all(bytes, 1).unwrap(),
    }
}

fn within(body: &[u8], encoding: &str, limits: CodingLimits) -> (Vec<u8>, Option<Cut>) {
    let content = decode(Cow::Borrowed(body), [encoding.as_bytes()], limits);
    (content.bytes.into_owned(), content.cut)
}

fn decoded(body: &[u8], encoding: &str, bytes: usize) -> (Vec<u8>, Option<Cut>) {
    let limits = CodingLimits {
        bytes,
        ..CodingLimits::default()
    };
    within(body, encoding, limits)
}

#[test]
fn every_coding_of_the_web_is_decoded() {
    let text = b"avocet ".repeat(50);
    let zstd = zstd::encode_all(&text[..], 1).unwrap();
    for (body, encoding) in [
        (text.clone(), ""),
        (text.clone(), "identity"),
        (gzip(&text), "gzip"),
        (gzip(&text), " X-GZIP "),
        (gzip(&text), "identity,, gzip"),
        ([gzip(&text[..100]), gzip(&text[100..])].concat(), "gzip"),
        (zlib(&text), "deflate"),
        (raw(&text), "deflate"),
        (gzip(&zstd), "zstd, gzip"),
        (zstd, "zstd"),
        (BROTLI.to_vec(), "br"),
        (gzip(BROTLI), "br,gzip"),
    ] {
        assert_eq!(
            decoded(&body, encoding, 1 << 20),
            (text.clone(), None),
            "{encoding}"
        );
    }
}

#[test]
fn layers_may_stand_in_two_fields() {
    let body = zlib(&gzip(b"hi"));
    let content = decode(
        Cow::Borrowed(&body),
        [&b"gzip"[..], b"deflate"],
        CodingLimits::default(),
    );
    assert_eq!((&*content.bytes, content.cut), (&b"hi"[..], None));
}

#[test]
fn a_body_without_a_known_coding_is_not_copied() {
    for (body, values) in [(&b"abc"[..], vec![]), (b"abc", vec![&b"rot13"[..]])] {
        let content = decode(Cow::Borrowed(body), values, CodingLimits::default());
        assert!(matches!(content.bytes, Cow::Borrowed(b"abc")));
    }
}

#[test]
fn an_empty_body_is_complete_in_any_coding() {
    for encoding in ["gzip", "deflate", "br", "zstd", "snappy", "gzip, gzip, br"] {
        assert_eq!(decoded(b"", encoding, 10), (vec![], None), "{encoding}");
    }
    for body in [gzip(b""), [gzip(b""), gzip(b"")].concat()] {
        assert_eq!(decoded(&body, "gzip", 10), (vec![], None));
    }
}

#[test]
fn a_prefix_survives_damage() {
    let text: Vec<u8> = (0..100_000_u32)
        .flat_map(|n| n.to_string().into_bytes())
        .collect();
    for (encoding, whole) in [
        ("gzip", gzip(&text)),
        ("deflate", zlib(&text)),
        ("deflate", raw(&text)),
        ("zstd", zstd::encode_all(&text[..], 1).unwrap()),
    ] {
        let (bytes, cut) = decoded(&whole[..whole.len() / 2], encoding, 1 << 20);
        assert_eq!(cut, Some(Cut::Corrupt), "{encoding}");
        assert!(bytes.len() > 1000 && text.starts_with(&bytes), "{encoding}");
    }
}

/// A body with an unknown coding, or a plain page with a wrong `Content-Encoding` header, is not
/// lost.
#[test]
fn a_body_that_cannot_be_decoded_stays_as_it_is() {
    let check = |body: &[u8], encoding: &str| {
        let unchanged = (body.to_vec(), Some(Cut::Encoded));
        assert_eq!(decoded(body, encoding, 1 << 20), unchanged, "{encoding}");
    };
    for encoding in ["gzip, gzip, br", "snappy", "gzip, snappy", "gz\u{ef}p"] {
        check(b"abc", encoding);
    }
    for encoding in ["gzip", "deflate", "br", "zstd", "gzip, gzip", "br, gzip"] {
        check(b"\xff<html>not compressed at all</html>", encoding);
    }
    check(b"x", "deflate");
}

#[test]
fn bombs_are_cut() {
    let zeros = vec![0; 4 << 20];
    let bomb = gzip(&zeros);
    let (bytes, cut) = decoded(&bomb, "gzip", 1 << 30);
    assert_eq!((bytes.len(), cut), (1 << 20, Some(Cut::Ratio)));
    let limits = CodingLimits {
        bytes: 1 << 30,
        ratio: 300,
        ..CodingLimits::default()
    };
    let (bytes, cut) = within(&bomb, "gzip", limits);
    assert_eq!((bytes.len(), cut), (bomb.len() * 300, Some(Cut::Ratio)));
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

#[test]
fn the_ratio_is_enforced_beyond_ratio_from() {
    let body = gzip(&[0; 5000]);
    for (ratio_from, bytes, cut) in [
        (5000, 5000, None),
        (4999, 4999, Some(Cut::Ratio)),
        (0, body.len(), Some(Cut::Ratio)),
    ] {
        let limits = CodingLimits {
            bytes: 1 << 20,
            ratio: 1,
            ratio_from,
        };
        let (content, why) = within(&body, "gzip", limits);
        assert_eq!((content.len(), why), (bytes, cut), "{ratio_from}");
    }
    let boundless = CodingLimits {
        bytes: usize::MAX,
        ratio: usize::MAX,
        ratio_from: usize::MAX,
    };
    assert_eq!(within(&body, "gzip", boundless), (vec![0; 5000], None));
}

/// Row 2 of hostile-web.md: a body that needs a window of more than 8 MB is not decoded.
#[test]
fn a_wide_window_is_refused() {
    for (window_log, cut) in [(23, None), (24, Some(Cut::Encoded))] {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
        encoder.window_log(window_log).unwrap();
        encoder.write_all(b"x").unwrap();
        let body = encoder.finish().unwrap();
        assert_eq!(decoded(&body, "zstd", 10).1, cut, "{window_log}");
    }
}

/// A thousand members of one byte each: the decoded size is within the limit, the intermediate
/// size is not.
#[test]
fn intermediate_bytes_between_layers_are_limited() {
    let limits = CodingLimits {
        bytes: 1 << 20,
        ratio: 1,
        ratio_from: 1010,
    };
    let body = gzip(&gzip(b"a").repeat(1000));
    let (bytes, cut) = within(&body, "gzip, gzip", limits);
    assert!((1..100).contains(&bytes.len()), "{}", bytes.len());
    assert_eq!(cut, Some(Cut::Corrupt));
}

/// The zlib header is recognized even if the layer above delivers one byte at a time.
#[test]
fn a_split_zlib_header_is_seen() {
    let members: Vec<u8> = zlib(b"hello").chunks(1).flat_map(gzip).collect();
    assert_eq!(
        decoded(&members, "deflate, gzip", 1 << 20),
        (b"hello".to_vec(), None)
    );
}

proptest! {
    #[test]
    fn no_bytes_break_a_limit(
        body in proptest::collection::vec(any::<u8>(), 0..300),
        encoding in "(gzip|deflate|br|zstd)(, (gzip|deflate|br|zstd))?",
        bytes in 0_usize..200,
    ) {
        let (content, cut) = decoded(&body, &encoding, bytes);
        if cut == Some(Cut::Encoded) {
            prop_assert_eq!(content, body);
        } else {
            prop_assert!(content.len() <= bytes);
        }
    }

    #[test]
    fn a_limit_keeps_exactly_a_prefix(
        seed in proptest::collection::vec(any::<u8>(), 1..300),
        length in 1_usize..200_000,
        bytes in 1_usize..200_000,
        first in "gzip|deflate|zstd",
        second in "gzip|deflate|zstd",
    ) {
        let text: Vec<u8> = seed.into_iter().cycle().take(length).collect();
        let once = packed(&text, &first);
        let (content, cut) = decoded(&once, &first, bytes);
        prop_assert_eq!(&content[..], &text[..bytes.min(text.len())]);
        prop_assert_eq!(cut, (text.len() > bytes).then_some(Cut::Size));
        let twice = packed(&once, &second);
        prop_assert_eq!(decoded(&twice, &format!("{first}, {second}"), 1 << 20), (text, None));
    }
}
