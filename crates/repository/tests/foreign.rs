//! Tests with WARC files of other tools: the conformance set, and hostile files.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use repository::archive::{
    ArchiveError, BLOCK_LIMIT, CodingLimits, Fault, FoundRecord, RecordKind, Records, WarcRecord,
};

fn records(path: &Path, limit: u64) -> Vec<Result<FoundRecord, ArchiveError>> {
    Records::open(path, limit).unwrap().collect()
}

fn of_bytes(bytes: &[u8], limit: u64) -> Vec<Result<FoundRecord, ArchiveError>> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), bytes).unwrap();
    records(file.path(), limit)
}

/// Returns one letter per result, as a compact description of the file.
fn outline(found: &[Result<FoundRecord, ArchiveError>]) -> String {
    found
        .iter()
        .map(|found| match found {
            Ok(found) => match found.record.kind() {
                RecordKind::Response => 'R',
                RecordKind::Revisit => 'V',
                RecordKind::Warcinfo => 'I',
                RecordKind::Other(_) => 'o',
            },
            Err(ArchiveError::Torn { .. }) => 't',
            Err(ArchiveError::Damaged { source, .. }) => match source {
                Fault::Gzip(_) => 'g',
                Fault::NotWarc => 'n',
                Fault::LongHeader(_) => 'h',
                Fault::Length => 'l',
                Fault::Large(_) => 'L',
                Fault::Bomb => 'b',
                Fault::Hopeless => 'H',
                Fault::Misplaced => 'm',
            },
            Err(other) => panic!("{other}"),
        })
        .collect()
}

/// Returns the files of the conformance set by name, or `None` if the set is missing.
fn samples() -> Option<BTreeMap<String, Vec<u8>>> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/data/conformance/conformance-data-only.tar.zst"
    );
    let Ok(file) = fs::File::open(path) else {
        eprintln!("skipped: {path} is missing");
        return None;
    };
    let mut archive = tar::Archive::new(zstd::Decoder::new(file).unwrap());
    let mut samples = BTreeMap::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().into_owned();
        if path.starts_with("data-only/warc") && path.file_name().is_some() {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if !bytes.is_empty() {
                samples.insert(name, bytes);
            }
        }
    }
    Some(samples)
}

#[test]
fn samples_of_other_tools_are_read() {
    let Some(samples) = samples() else { return };
    // ARC files have an older format and are rejected as a whole. `example-wrong-chunks` splits
    // a record over two gzip members. The record in the middle of `example-trunc` is cut short.
    let expected = BTreeMap::from([
        ("bad.arc", "n"),
        ("cc.warc.gz", "R"),
        ("dupes.warc.gz", "IRoRoVoRoVoVoVoVoVoVoVoVo"),
        ("example-bad-non-chunked.warc.gz", "IIRoVo"),
        ("example-bad.warc.gz.bad", "IRoVoR"),
        ("example-digest.warc", "oooo"),
        ("example-extra.warc", "RoVRoV"),
        ("example-iana.org-chunked.warc", "IRo"),
        ("example-resource.warc.gz", "IIo"),
        ("example-space-in-target-uri.warc.gz", "Io"),
        ("example-space-in-url.arc", "n"),
        ("example-trunc.warc", "IIRno"),
        ("example-url-agnostic-orig.warc.gz", "IR"),
        ("example-url-agnostic-revisit.warc.gz", "IV"),
        ("example-wget-1-14.warc.gz", "IoRooo"),
        ("example-wget-bad-target-uri.warc.gz", "IoRooo"),
        ("example-wpull.warc.gz", "IoRo"),
        ("example-wrong-chunks.warc.gz", "l"),
        ("example.arc", "n"),
        ("example.arc.gz", "n"),
        ("example.warc", "IIRoVo"),
        ("example.warc.gz", "IIRoVo"),
        ("example2.warc.gz", "IRo"),
        ("gzip_extra_sl.warc.gz", "I"),
        ("httpbin-resource.warc.gz", "o"),
        ("missing-status-text.warc", "R"),
        ("post-test.warc.gz", "RoRoRo"),
    ]);
    for (name, bytes) in &samples {
        let found = of_bytes(bytes, BLOCK_LIMIT);
        // The one large file has 171 pairs after its first record: a response or a revisit, and a
        // request.
        if name == "iana.warc.gz" {
            assert_eq!(
                (found.len(), outline(&found).replace('V', "R")),
                (343, format!("I{}", "Ro".repeat(171)))
            );
            continue;
        }
        assert_eq!(outline(&found), expected[name.as_str()], "{name}");
    }
    assert_eq!(samples.len(), expected.len() + 1);
    let page = |name: &str, n: usize| {
        of_bytes(&samples[name], BLOCK_LIMIT)
            .remove(n)
            .unwrap()
            .record
    };
    for (name, n) in [
        ("example.warc", 2),
        ("example.warc.gz", 2),
        ("example-wget-bad-target-uri.warc.gz", 2),
    ] {
        let page = page(name, n);
        assert_eq!(
            page.url().unwrap().as_str(),
            "http://example.com/",
            "{name}"
        );
        assert_eq!(page.status(), Some(200), "{name}");
        assert!(content(&page).contains("<h1>Example Domain</h1>"), "{name}");
        assert_ne!(page.is_intact(), Some(false), "{name}");
    }
    let chunked = page("example-iana.org-chunked.warc", 1);
    assert!(content(&chunked).trim_end().ends_with("</html>"));
    assert_eq!(page("missing-status-text.warc", 0).status(), Some(302));
}

fn content(record: &WarcRecord) -> String {
    let content = record.content(CodingLimits::default());
    assert_eq!(content.cut, None);
    String::from_utf8_lossy(&content.bytes).into_owned()
}

fn warc(fields: &str, block: &str) -> Vec<u8> {
    format!("WARC/1.0\r\n{fields}\r\n\r\n{block}\r\n\r\n").into_bytes()
}

fn response(n: usize, block: &str) -> Vec<u8> {
    let fields = format!(
        "WARC-Type: response\r\nWARC-Target-URI: http://a.example/{n}\r\nContent-Length: {}",
        block.len()
    );
    warc(&fields, block)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::best());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

const OK: &str = "HTTP/1.1 200 OK\r\n\r\nhello";

#[test]
fn records_are_read_from_every_layout_of_a_file() {
    let plain = [response(0, OK), response(1, OK)].concat();
    let members = [gzip(&response(0, OK)), gzip(&response(1, OK))].concat();
    let shared = gzip(&plain);
    for (bytes, alone) in [(&plain, true), (&members, true), (&shared, false)] {
        let found = of_bytes(bytes, BLOCK_LIMIT);
        assert_eq!(outline(&found), "RR");
        let mut end = 0;
        for (n, found) in found.into_iter().map(Result::unwrap).enumerate() {
            assert_eq!(
                found.record.url().unwrap().as_str(),
                format!("http://a.example/{n}")
            );
            assert_eq!(content(&found.record), "hello");
            assert_eq!(found.length.is_some(), alone);
            assert_eq!(found.offset, end);
            end += found.length.unwrap_or(0);
        }
        assert_eq!(end, if alone { bytes.len() as u64 } else { 0 });
    }
    assert_eq!(outline(&of_bytes(b"", BLOCK_LIMIT)), "");
}

#[test]
fn hostile_records_are_reported_and_good_ones_read() {
    let good = response(1, OK);
    let no_length = warc("WARC-Type: response", "");
    let big = response(0, &"x".repeat(5000));
    let endless = format!("WARC/1.0\r\nA: {}", "a".repeat(200_000)).into_bytes();
    let claims = warc(
        "WARC-Type: response\r\nContent-Length: 18446744073709551615",
        "x",
    );
    let zeros = response(0, &"\0".repeat(3 << 20));
    let lines = "\r\n".repeat(1 << 17).into_bytes();
    let join = |parts: &[&[u8]]| parts.concat();
    for (what, bytes, expected) in [
        ("no length", join(&[&no_length, &good]), "lR"),
        (
            "no length, gzip",
            join(&[&gzip(&no_length), &gzip(&good)]),
            "lR",
        ),
        ("over the limit", join(&[&big, &good]), "LR"),
        (
            "over the limit, gzip",
            join(&[&gzip(&big), &gzip(&good)]),
            "LR",
        ),
        (
            "over the limit, one member",
            gzip(&join(&[&big, &good])),
            "LR",
        ),
        ("a length beyond the file", join(&[&claims]), "t"),
        (
            "a length beyond the file, more follows",
            join(&[&claims, &good]),
            "gR",
        ),
        (
            "a length beyond the member",
            join(&[&gzip(&claims), &gzip(&good)]),
            "lR",
        ),
        (
            "an endless header",
            join(&[&gzip(&endless), &gzip(&good)]),
            "hR",
        ),
        ("a bomb", join(&[&gzip(&zeros), &gzip(&good)]), "bR"),
        (
            "a bomb of line ends",
            join(&[&gzip(&lines), &gzip(&good)]),
            "hR",
        ),
        ("no archive", b"<html>hello</html>".to_vec(), "n"),
        ("no archive, gzip", gzip(b"<html>hello</html>"), "n"),
        ("an empty member", join(&[&gzip(b""), &gzip(&good)]), "R"),
        ("a zeroed tail", join(&[&gzip(&good), &[0; 100]]), "Rn"),
        (
            "zeros between",
            join(&[&gzip(&good), &[0; 100], &gzip(&good)]),
            "RnR",
        ),
        ("half a magic number", join(&[&gzip(&good), b"\x1f"]), "Rt"),
        // A damaged uncompressed file is not searched for gzip members, nor the reverse: a page
        // may contain either.
        ("forged gzip", join(&[&no_length, &gzip(&good)]), "l"),
        (
            "forged plain",
            join(&[&gzip(&no_length), b"\n", &good]),
            "l",
        ),
    ] {
        let found = of_bytes(&bytes, 4000);
        assert_eq!(outline(&found), expected, "{what}");
    }
}

#[test]
fn reading_ends_after_1000_damaged_records() {
    let bytes = gzip(&warc("WARC-Type: response", "")).repeat(5000);
    let found = of_bytes(&bytes, BLOCK_LIMIT);
    assert_eq!(outline(&found), "l".repeat(1000) + "H");
}

#[test]
fn bodies_of_other_tools_are_decoded() {
    let check = |block: &str, body: &str| {
        let found = of_bytes(&response(0, block), BLOCK_LIMIT)
            .remove(0)
            .unwrap();
        assert_eq!(&*found.record.body(), body.as_bytes(), "{block}");
    };
    check(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "hello",
    );
    check(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello",
        "hello",
    );
    check(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nffffffff\r\nx",
        "hellox",
    );
    check("HTTP/1.1 200 OK\n\nhello", "hello");
    check("HTTP/1.1 200 OK", "");
    // This is not HTTP, so the whole block is the body.
    check("hello", "hello");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Reading a file with random edits terminates, and every method of a record returns.
    #[test]
    fn files_with_random_edits_are_read_without_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        cut in any::<prop::sample::Index>(),
        zip in any::<bool>(),
    ) {
        let pages: Vec<Vec<u8>> = (0..4)
            .map(|n| response(n, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"))
            .collect();
        let mut bytes: Vec<u8> = if zip { pages.iter().flat_map(|page| gzip(page)).collect() } else { pages.concat() };
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len() * 2).max(1));
        for found in of_bytes(&bytes, BLOCK_LIMIT).into_iter().flatten() {
            let record = found.record;
            let _ = (record.url(), record.at(), record.status(), record.media_type());
            let _ = (record.is_intact(), record.payload_digest(), record.content(CodingLimits::default()));
            prop_assert!(found.offset < bytes.len() as u64);
        }
    }
}
