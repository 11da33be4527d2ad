//! Tests of the archive through its public interface: records are read back exactly, and damage
//! is detected.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use jiff::Timestamp;
use page::PageUrl;
use proptest::prelude::*;
use repository::archive::{
    ArchiveError, ArchiveOptions, ArchiveWriter, Capture, CodingLimits, End, Info, Inventory,
    Level, Original, PayloadDigest, Profile, RecordKind, RecordLocation, Sealed, Truncated,
    WarcRecord, make_index, read, scan, seal, verify,
};

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\n";

fn options(max_bytes: u64) -> ArchiveOptions {
    let info = Info {
        notes: vec![("note\r\n".into(), "\nWARC-Type: response".into())],
        software: "avocet/0.1.0".into(),
        operator: "A. Person <a@example.org>\r\nWARC-Type: response".into(),
        user_agent: "avocet/0.1.0 (+https://example.org/bot)".into(),
        robots: "obey".into(),
    };
    ArchiveOptions {
        max_bytes,
        info,
        at_risk: 20,
    }
}

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text).unwrap()
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap()
}

const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));

fn sealed(page: &str, body: &[u8]) -> Sealed {
    let page = url(page);
    let capture = Capture::new(&page, at(1_700_000_000_123), ADDRESS, HEAD, body, None);
    seal::response(&capture, Level::default())
}

/// Returns the body of page `n`, which differs for each page and compresses badly.
fn body(n: usize) -> Vec<u8> {
    (0..400)
        .flat_map(|i| (n * 7919 + i * i).to_string().into_bytes())
        .collect()
}

/// Appends page `n`.
fn append(writer: &mut ArchiveWriter, n: usize) -> RecordLocation {
    let page = sealed(&format!("http://a.example/{n}"), &body(n));
    writer.append(&page).unwrap()
}

/// Appends an answer.
fn append_capture(writer: &mut ArchiveWriter, capture: &Capture<'_>) -> RecordLocation {
    let sealed = seal::response(capture, Level::default());
    writer.append(&sealed).unwrap()
}

/// Writes pages 0..n. Returns their locations and the end; the last file stays open.
fn written(dir: &Path, n: usize, max_bytes: u64) -> (Vec<RecordLocation>, End) {
    let mut writer = ArchiveWriter::open(dir, options(max_bytes), None).unwrap();
    let locations = (0..n).map(|n| append(&mut writer, n)).collect();
    writer.sync().unwrap();
    (locations, writer.end())
}

fn is_page(record: &WarcRecord, n: usize) -> bool {
    record.url() == Some(url(&format!("http://a.example/{n}"))) && *record.body() == body(n)
}

fn unzipped(path: &Path, location: &RecordLocation) -> String {
    use std::io::Read;
    let bytes = fs::read(path).unwrap();
    let bytes = &bytes[location.offset as usize..][..location.length as usize];
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes)
        .read_to_string(&mut text)
        .unwrap();
    text
}

#[test]
fn records_are_written_in_the_expected_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = ArchiveWriter::open(dir.path(), options(1 << 20), None).unwrap();
    let page = url("http://a.example/x?q=\r\nWARC-Type: evil\u{2028}");
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n\
        WARC/1.1\r\nWARC-Type: response\r\n\r\n";
    let capture = Capture::new(
        &page,
        at(1_700_000_000_123),
        ADDRESS,
        head,
        b"hello",
        Some(Truncated::Time),
    );
    let location = append_capture(&mut writer, &capture);
    let path = dir.path().join("avocet-00000001.warc.gz.open");
    let expected = "WARC/1.1\r\n\
        WARC-Type: response\r\n\
        WARC-Record-ID: <urn:uuid:ID>\r\n\
        WARC-Target-URI: http://a.example/x?q=WARC-Type:%20evil%E2%80%A8\r\n\
        WARC-Date: 2023-11-14T22:13:20.123Z\r\n\
        WARC-IP-Address: 192.0.2.7\r\n\
        WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N\r\n\
        WARC-Truncated: time\r\n\
        WARC-Block-Digest: BLOCK\r\n\
        Content-Type: application/http;msgtype=response\r\n\
        Content-Length: 87\r\n\
        \r\n\
        HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Crawler-Transfer-Encoding: chunked\r\n\r\n\
        hello\r\n\r\n";
    assert_eq!(without_hashes(&unzipped(&path, &location)), expected);
    let info = RecordLocation {
        file: 1,
        offset: 0,
        length: location.offset as u32,
    };
    let expected = "WARC/1.1\r\n\
        WARC-Type: warcinfo\r\n\
        WARC-Record-ID: <urn:uuid:ID>\r\n\
        WARC-Date: 2023-11-14T22:13:20.123Z\r\n\
        WARC-Filename: avocet-00000001.warc.gz\r\n\
        WARC-Block-Digest: BLOCK\r\n\
        Content-Type: application/warc-fields\r\n\
        Content-Length: 323\r\n\
        \r\n\
        software: avocet/0.1.0\r\n\
        format: WARC File Format 1.1\r\n\
        conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n\
        operator: A. Person <a@example.org>%0D%0AWARC-Type: response\r\n\
        http-header-user-agent: avocet/0.1.0 (+https://example.org/bot)\r\n\
        robots: obey\r\n\
        note%0D%0A: %0AWARC-Type: response\r\n\
        \r\n\r\n";
    assert_eq!(without_hashes(&unzipped(&path, &info)), expected);
}

/// Replaces record ids and block digests by placeholders.
fn without_hashes(text: &str) -> String {
    let line = |line: &str| {
        if line.starts_with("WARC-Record-ID: <urn:uuid:") {
            return "WARC-Record-ID: <urn:uuid:ID>\r\n".to_owned();
        }
        if line.starts_with("WARC-Block-Digest: sha1:") {
            return "WARC-Block-Digest: BLOCK\r\n".to_owned();
        }
        line.to_owned()
    };
    text.split_inclusive('\n').map(line).collect()
}

#[test]
fn a_revisit_names_its_original() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = ArchiveWriter::open(dir.path(), options(1 << 20), None).unwrap();
    let page = url("http://a.example/");
    let first = Capture::new(&page, at(1_000), ADDRESS, HEAD, b"hello", None);
    let response = append_capture(&mut writer, &first);
    let original = Original {
        url: &page,
        at: at(1_000),
        digest: PayloadDigest::of(&[b"hello"]),
    };
    let same = Capture::new(&page, at(2_000), ADDRESS, HEAD, b"hello", None);
    let not_modified = b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\nETag: \"x\"\r\n\r\n";
    let unmodified = Capture::new(&page, at(3_000), ADDRESS, not_modified, b"", None);
    let response = read(dir.path(), &response).unwrap();
    for (capture, profile, status, name, head) in [
        (
            same,
            Profile::IdenticalPayload,
            200,
            "identical-payload-digest",
            HEAD,
        ),
        (
            unmodified,
            Profile::NotModified,
            304,
            "server-not-modified",
            not_modified,
        ),
    ] {
        let sealed = seal::revisit(&capture, &original, profile, Level::default());
        let location = writer.append(&sealed).unwrap();
        let record = read(dir.path(), &location).unwrap();
        assert_eq!(record.kind(), &RecordKind::Revisit);
        assert_eq!(record.status(), Some(status));
        assert_eq!(record.head(), head);
        assert!(record.body().is_empty());
        assert_eq!(record.is_intact(), Some(true));
        assert_eq!(record.payload_digest(), response.payload_digest());
        assert_eq!(
            record.field("WARC-Refers-To"),
            response.field("WARC-Record-ID")
        );
        assert_eq!(
            record.field("WARC-Refers-To-Date"),
            response.field("WARC-Date")
        );
        assert!(record.field("WARC-Profile").unwrap().ends_with(name));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn captures_are_read_back_exactly(
        path in "[ -~\u{0}-\u{1f}éж東]{0,40}",
        fields in prop::collection::vec(("[A-Za-z-]{1,12}", "[^\r\n]{0,30}"), 0..6),
        raw in prop::option::of(prop::collection::vec(any::<u8>(), 0..200)),
        body in prop::collection::vec(any::<u8>(), 0..3000),
        millis in -62_000_000_000_000_i64..250_000_000_000_000,
        level in 0..=9_u32,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = ArchiveWriter::open(dir.path(), options(1 << 20), None).unwrap();
        let Ok(page) = PageUrl::parse(&format!("http://a.example/{path}")) else { return Ok(()) };
        let fields: String = fields.iter().map(|(n, v)| format!("{n}: {v}\r\n")).collect();
        // Any bytes at all may follow the status line.
        let head = match &raw {
            Some(raw) => [b"HTTP/1.1 200 OK\r\n".as_slice(), raw].concat(),
            None => format!("HTTP/1.1 200 OK\r\n{fields}\r\n").into_bytes(),
        };
        let address = IpAddr::V6(std::net::Ipv6Addr::LOCALHOST);
        let capture = Capture::new(&page, at(millis), address, &head, &body, None);
        let level = Level::new(level).unwrap();
        let location = writer.append(&seal::response(&capture, level)).unwrap();
        let record = read(dir.path(), &location).unwrap();
        prop_assert_eq!(record.kind(), &RecordKind::Response);
        prop_assert_eq!(record.url(), Some(page.clone()));
        prop_assert_eq!(record.at(), Some(at(millis)));
        prop_assert_eq!(&*record.body(), &body[..]);
        prop_assert_eq!(record.payload_digest(), Some(capture.digest()));
        prop_assert_eq!(record.is_intact(), Some(true));
        prop_assert_eq!(record.status(), Some(200));
        let kept = fields.to_ascii_lowercase();
        if raw.is_none() && !kept.contains("content-length") && !kept.contains("transfer-encoding") {
            prop_assert_eq!(record.head(), &head[..]);
        }
        let all: Vec<_> = scan(dir.path()).unwrap().map(Result::unwrap).collect();
        prop_assert_eq!(all.len(), 2);
        prop_assert_eq!(all[1].0, location);
        prop_assert_eq!(location.offset + u64::from(location.length), writer.end().offset);
    }
}

#[test]
fn the_content_coding_of_a_body_is_decoded() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = ArchiveWriter::open(dir.path(), options(1 << 20), None).unwrap();
    let page = url("http://a.example/");
    let head = b"HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\nContent-Type: Text/Plain;x=y\r\n\r\n";
    let encoded = zstd::encode_all(&b"hello"[..], 3).unwrap();
    let capture = Capture::new(&page, at(0), ADDRESS, head, &encoded, None);
    let location = append_capture(&mut writer, &capture);
    let record = read(dir.path(), &location).unwrap();
    assert_eq!(&*record.body(), encoded);
    assert_eq!(&*record.content(CodingLimits::default()).bytes, b"hello");
    assert_eq!(record.media_type().as_deref(), Some("text/plain"));
    assert_eq!(record.header("content-encoding").as_deref(), Some("zstd"));
}

#[test]
fn a_tail_torn_at_any_byte_costs_only_its_record() {
    let dir = tempfile::tempdir().unwrap();
    let (locations, end) = written(dir.path(), 3, 1 << 20);
    let path = dir.path().join("avocet-00000001.warc.gz.open");
    let whole = fs::read(&path).unwrap();
    let last = locations[2];
    for cut in last.offset..end.offset {
        fs::write(&path, &whole[..cut as usize]).unwrap();
        let found: Vec<_> = scan(dir.path()).unwrap().collect();
        let records = found
            .iter()
            .flatten()
            .filter(|(_, r)| r.kind() == &RecordKind::Response)
            .count();
        assert_eq!(records, 2, "cut at {cut}");
        match found.last().unwrap() {
            Ok(_) => assert_eq!(cut, last.offset, "an error is missing"),
            Err(ArchiveError::Torn { offset, .. }) => assert_eq!(*offset, last.offset),
            Err(other) => panic!("cut at {cut}: {other}"),
        }
        let torn = read(dir.path(), &last).unwrap_err();
        assert!(matches!(torn, ArchiveError::Torn { offset, .. } if offset == last.offset));
    }
    // When the archive is opened at the committed end, the bytes after it are cut off.
    let committed = End {
        file: 1,
        offset: last.offset,
    };
    let mut writer = ArchiveWriter::open(dir.path(), options(1 << 20), Some(committed)).unwrap();
    assert_eq!(append(&mut writer, 2), last);
    assert_eq!(fs::read(&path).unwrap(), whole);
    // A file that lost committed bytes stays as it is. The next record begins another file.
    let lost = &whole[..last.offset as usize - 1];
    fs::write(&path, lost).unwrap();
    let mut writer = ArchiveWriter::open(dir.path(), options(1 << 20), Some(committed)).unwrap();
    let short = writer.discrepancy().short.as_ref().unwrap().to_string();
    assert!(short.contains("rebuild --accept-loss"), "{short}");
    assert_eq!(append(&mut writer, 2).file, 2);
    assert_eq!(fs::read(&path).unwrap(), lost);
    // A file that is gone altogether does not prevent opening either.
    fs::remove_file(&path).unwrap();
    fs::remove_file(dir.path().join("avocet-00000002.warc.gz.open")).unwrap();
    let writer = ArchiveWriter::open(dir.path(), options(1 << 20), Some(committed)).unwrap();
    assert!(writer.discrepancy().short.is_some());
    assert_eq!(writer.end(), End { file: 2, offset: 0 });
}

/// A ledger that lost commits names an end that is too early. Even then no intact record may be
/// lost.
#[test]
fn records_that_a_kill_does_not_explain_stay() {
    let dir = tempfile::tempdir().unwrap();
    let (locations, _) = written(dir.path(), 30, 1 << 20);
    let path = dir.path().join("avocet-00000001.warc.gz.open");
    let mut torn = fs::OpenOptions::new().append(true).open(&path).unwrap();
    torn.write_all(&fs::read(&path).unwrap()[..40]).unwrap();
    let whole = fs::read(&path).unwrap();
    let open = |n: usize| {
        let end = End {
            file: 1,
            offset: locations[n].offset,
        };
        ArchiveWriter::open(dir.path(), options(1 << 20), Some(end)).unwrap()
    };

    // A kill explains 20 records, so they are cut off.
    let writer = open(10);
    assert!(writer.discrepancy().unexplained.is_none());
    assert_eq!(pages_in(dir.path()), (0..10).collect::<Vec<_>>());
    drop(writer);

    // A kill does not explain 21 records.
    fs::write(&path, &whole).unwrap();
    let mut writer = open(9);
    assert_eq!(writer.discrepancy().unexplained, Some(21));
    assert_eq!(writer.end(), End { file: 2, offset: 0 });
    assert_eq!(pages_in(dir.path()), (0..30).collect::<Vec<_>>());
    assert_eq!(append(&mut writer, 9).file, 2);
    writer.close().unwrap();
    assert_eq!(pages_in(dir.path()).len(), 31);
    let problems = verify::<ArchiveError>(dir.path(), |_, _| Ok(())).unwrap();
    assert!(problems.is_empty(), "{problems:?}");

    // If the ledger knows nothing of the archive, a kill does not explain its 31 records either.
    let writer = ArchiveWriter::open(dir.path(), options(1 << 20), None).unwrap();
    assert_eq!(writer.discrepancy().unexplained, Some(31));
    assert_eq!(writer.end(), End { file: 3, offset: 0 });
    assert_eq!(pages_in(dir.path()).len(), 31);
}

/// A changed byte at the start, in the middle or at the end of an index is detected, and so is a
/// missing index.
#[test]
fn a_wrong_index_is_found_and_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = ArchiveWriter::open(dir.path(), options(1 << 20), None).unwrap();
    for n in 0..3 {
        append(&mut writer, n);
    }
    writer.close().unwrap();
    let path = dir.path().join("avocet-00000001.cdxj");
    let whole = fs::read(&path).unwrap();
    let problems = || verify::<ArchiveError>(dir.path(), |_, _| Ok(())).unwrap();
    assert!(problems().is_empty());
    for at in [0, whole.len() / 2, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(&path, bytes).unwrap();
        assert!(matches!(
            problems()[..],
            [ArchiveError::WrongIndex { file: 1, .. }]
        ));
    }
    fs::remove_file(&path).unwrap();
    assert!(matches!(
        problems()[..],
        [ArchiveError::WrongIndex { file: 1, .. }]
    ));
    make_index(dir.path(), 1).unwrap();
    assert_eq!(fs::read(&path).unwrap(), whole);
}

#[test]
fn an_inventory_has_the_captures_of_closed_and_open_files() {
    let dir = tempfile::tempdir().unwrap();
    let page = |n: usize| sealed(&format!("http://a.example/{n}"), &body(n));
    let mut writer = ArchiveWriter::open(dir.path(), options(1 << 20), None).unwrap();
    append(&mut writer, 0);
    writer.close().unwrap();
    let end = End { file: 2, offset: 0 };
    let mut writer = ArchiveWriter::open(dir.path(), options(1 << 20), Some(end)).unwrap();
    append(&mut writer, 1);
    writer.sync().unwrap();
    let mut inventory = Inventory::of(dir.path()).unwrap();
    // Page 0 is known from the index of a closed file, page 1 from the records of the open file.
    assert!(!inventory.add(&page(0)) && !inventory.add(&page(1)));
    assert!(inventory.add(&page(2)) && !inventory.add(&page(2)));
    // The same page with another body is another capture.
    assert!(inventory.add(&sealed("http://a.example/0", b"other")));
}

#[test]
fn a_flipped_bit_never_passes_and_never_hides_another_record() {
    let dir = tempfile::tempdir().unwrap();
    let (locations, _) = written(dir.path(), 3, 1 << 20);
    let path = dir.path().join("avocet-00000001.warc.gz.open");
    let whole = fs::read(&path).unwrap();
    for byte in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[byte] ^= 1 << (byte % 8);
        fs::write(&path, &bytes).unwrap();
        let hit = locations
            .iter()
            .position(|at| (at.offset..at.offset + u64::from(at.length)).contains(&(byte as u64)));
        let found: Vec<_> = scan(dir.path()).unwrap().collect();
        let errors = found.iter().filter(|found| found.is_err()).count();
        let read: Vec<_> = found.into_iter().flatten().collect();
        for (n, location) in locations.iter().enumerate() {
            let same = read
                .iter()
                .filter(|(at, record)| at == location && is_page(record, n))
                .count();
            let whole = hit != Some(n) || errors == 0;
            assert_eq!(
                same,
                usize::from(whole),
                "bit {} of byte {byte}, record {n}",
                byte % 8
            );
        }
        // The fourth record is the `warcinfo` record. A few bits of a gzip header have no
        // meaning.
        assert!(
            read.len() == 4 || read.len() == 3 && errors > 0,
            "byte {byte}"
        );
    }
}

#[test]
fn what_was_not_committed_is_cut_or_set_aside() {
    let dir = tempfile::tempdir().unwrap();
    // Small enough that each file takes two records.
    let size = written(tempfile::tempdir().unwrap().path(), 1, 1 << 20).0[0].length;
    let max = 3 * u64::from(size);
    let (locations, _) = written(dir.path(), 7, max);
    let files: Vec<u32> = locations.iter().map(|at| at.file).collect();
    assert_eq!(files, [1, 1, 2, 2, 3, 3, 4]);
    // File 2 was closed later, but its second record was never committed.
    let committed = End {
        file: 2,
        offset: locations[3].offset,
    };
    let mut writer = ArchiveWriter::open(dir.path(), options(max), Some(committed)).unwrap();
    assert_eq!(writer.end(), committed);
    assert_eq!(writer.discrepancy().set_aside.len(), 2);
    assert!(writer.discrepancy().unexplained.is_none());
    let rest: Vec<usize> = pages_in(dir.path());
    assert_eq!(rest, [0, 1, 2]);
    assert_eq!(append(&mut writer, 3), locations[3]);
    // Nothing is committed: all files are set aside, and none is deleted.
    drop(writer);
    let writer = ArchiveWriter::open(dir.path(), options(max), None).unwrap();
    assert_eq!(writer.end(), End { file: 1, offset: 0 });
    assert_eq!(writer.discrepancy().set_aside.len(), 2);
    assert!(writer.discrepancy().unexplained.is_none());
    assert!(pages_in(dir.path()).is_empty());
    let names = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let aside = names
        .filter(|name| name.to_str().unwrap().contains("uncommitted"))
        .count();
    assert_eq!(aside, 4);
}

fn pages_in(dir: &Path) -> Vec<usize> {
    let records = scan(dir).unwrap().map(|found| found.unwrap().1);
    let pages = records.filter(|record| record.kind() == &RecordKind::Response);
    pages
        .map(|record| {
            record.url().unwrap().as_str()["http://a.example/".len()..]
                .parse()
                .unwrap()
        })
        .collect()
}

#[test]
fn closed_files_have_a_sorted_index_of_all_their_captures() {
    let dir = tempfile::tempdir().unwrap();
    let mut end = None;
    // The file is opened three times. Its index must contain the records of all.
    for round in 0..3 {
        let mut writer = ArchiveWriter::open(dir.path(), options(1 << 20), end).unwrap();
        for n in 0..5 {
            let page = format!("http://h{}.example/{round}", (n * 3 + round) % 5);
            writer.append(&sealed(&page, &body(n))).unwrap();
        }
        writer.sync().unwrap();
        end = Some(writer.end());
        if round == 2 {
            writer.close().unwrap();
        }
    }
    let index = fs::read_to_string(dir.path().join("avocet-00000001.cdxj")).unwrap();
    let lines: Vec<&str> = index.lines().collect();
    assert_eq!(lines.len(), 15);
    assert!(lines.is_sorted());
    for line in lines {
        let json: serde_json::Value =
            serde_json::from_str(line.splitn(3, ' ').nth(2).unwrap()).unwrap();
        let number = |name: &str| json[name].as_str().unwrap().parse::<u64>().unwrap();
        assert_eq!(json["filename"], "avocet-00000001.warc.gz");
        assert_eq!(json["status"], "200");
        assert_eq!(json["mime"], "text/html");
        let length = number("length") as u32;
        let record = read(
            dir.path(),
            &RecordLocation {
                file: 1,
                offset: number("offset"),
                length,
            },
        )
        .unwrap();
        assert_eq!(record.url().unwrap().as_str(), json["url"]);
        assert_eq!(
            record.payload_digest().unwrap().to_string(),
            json["digest"].as_str().unwrap()
        );
    }
    // When opened at its end, the closed file stays closed and the next begins.
    let mut writer = ArchiveWriter::open(dir.path(), options(1 << 20), end).unwrap();
    assert_eq!(append(&mut writer, 0).file, 2);
    assert!(dir.path().join("avocet-00000001.warc.gz").exists());
}

#[test]
fn wrong_locations_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (locations, _) = written(dir.path(), 2, 1 << 20);
    let RecordLocation { offset, length, .. } = locations[0];
    for (file, offset, length) in [
        (1, offset + 1, length - 1),
        (1, offset, length - 1),
        (1, offset, length + 1),
        (1, offset, length + locations[1].length),
        (1, offset, 0),
        (1, u64::MAX >> 1, length),
        (9, offset, length),
    ] {
        let at = RecordLocation {
            file,
            offset,
            length,
        };
        assert!(read(dir.path(), &at).is_err(), "{at:?}");
    }
    assert!(is_page(&read(dir.path(), &locations[0]).unwrap(), 0));
}

#[test]
fn an_error_names_the_directory() {
    let error = scan(Path::new("/nonexistent/archive")).err().unwrap();
    assert!(
        error.to_string().contains("/nonexistent/archive"),
        "{error}"
    );
    assert!(!error.is_full());
}

/// `warcio`, the reference reader for WARC files, must report no problem.
#[test]
fn warcio_accepts_our_files() {
    let python = |arguments: &[&str]| {
        std::process::Command::new("python3")
            .args(arguments)
            .output()
    };
    if !python(&["-c", "import warcio"]).is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: the Python package warcio is not installed");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut writer = ArchiveWriter::open(dir.path(), options(40_000), None).unwrap();
    let page = url("http://a.example/ü?x=\n");
    let original = Original {
        url: &page,
        at: at(0),
        digest: PayloadDigest::of(&[b"hello"]),
    };
    let chunked =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n";
    let wrong = b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n";
    let empty = b"HTTP/1.1 204\r\n\r\n";
    let not_modified = b"HTTP/1.1 304 Not Modified\r\nContent-Length: 999\r\n\r\n";
    for n in 0..30 {
        let text = body(n);
        for (head, body) in [
            (HEAD, &b"hello"[..]),
            (chunked, b"not gzip"),
            (wrong, &text),
            (empty, b""),
        ] {
            let cut = (n % 2 == 0).then_some(Truncated::Length);
            let capture = Capture::new(&page, at(n as i64), ADDRESS, head, body, cut);
            append_capture(&mut writer, &capture);
            let again = seal::revisit(
                &capture,
                &original,
                Profile::IdenticalPayload,
                Level::default(),
            );
            writer.append(&again).unwrap();
        }
        let capture = Capture::new(&page, at(n as i64), ADDRESS, not_modified, b"", None);
        let same = seal::revisit(&capture, &original, Profile::NotModified, Level::default());
        writer.append(&same).unwrap();
    }
    writer.close().unwrap();
    let files: Vec<_> = (1..)
        .map(|n| dir.path().join(format!("avocet-{n:08}.warc.gz")))
        .take_while(|path| path.exists())
        .collect();
    assert!(files.len() > 1);
    let records = scan(dir.path()).unwrap().map(Result::unwrap).count();
    let mut indexed = 0;
    for path in files {
        let path = path.to_str().unwrap();
        let check = python(&["-m", "warcio.cli", "check", path]).unwrap();
        assert!(
            check.status.success() && check.stdout.is_empty(),
            "{check:?}"
        );
        let index = python(&["-m", "warcio.cli", "index", path]).unwrap();
        assert!(
            index.status.success() && index.stderr.is_empty(),
            "{index:?}"
        );
        indexed += String::from_utf8(index.stdout).unwrap().lines().count();
    }
    assert_eq!(indexed, records);
}
