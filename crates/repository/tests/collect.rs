//! Tests of garbage collection in the archive: live records stay unchanged, dead ones are
//! removed, and a kill between any two steps loses nothing.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use page::PageUrl;
use proptest::prelude::*;
use repository::archive::{
    ArchiveError, ArchiveOptions, ArchiveWriter, Capture, End, Info, Level, Moved, Original,
    PayloadDigest, Profile, RecordKind, RecordLocation, read, scan, seal, sizes,
};

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));

/// Size limit of a file: a few records of [`body`].
const MAX_BYTES: u64 = 4_000;

/// What the ledger would store: the location of each live page, and the end of the archive.
#[derive(Debug, Clone, Default)]
struct LiveRecords {
    places: BTreeMap<u32, RecordLocation>,
    end: Option<End>,
}

fn open(dir: &Path, ledger: &LiveRecords) -> ArchiveWriter {
    let info = Info {
        software: "avocet".into(),
        ..Info::default()
    };
    let options = ArchiveOptions {
        max_bytes: MAX_BYTES,
        info,
        at_risk: 1000,
    };
    ArchiveWriter::open(dir, options, ledger.end).unwrap()
}

fn url(page: u32) -> PageUrl {
    PageUrl::parse(&format!("http://h{}.example/{page}", page % 3)).unwrap()
}

fn body(page: u32) -> Vec<u8> {
    (0..200)
        .flat_map(|i| (page * 7919 + i * i).to_string().into_bytes())
        .collect()
}

fn append(writer: &mut ArchiveWriter, page: u32) -> RecordLocation {
    let (url, body) = (url(page), body(page));
    let at = Timestamp::from_second(1_700_000_000 + i64::from(page)).unwrap();
    let capture = Capture::new(&url, at, ADDRESS, HEAD, &body, None);
    writer
        .append(&seal::response(&capture, Level::default()))
        .unwrap()
}

fn bytes_at(dir: &Path, at: &RecordLocation) -> Vec<u8> {
    let closed = dir.join(format!("avocet-{:08}.warc.gz", at.file));
    let path = if closed.exists() {
        closed
    } else {
        dir.join(format!("avocet-{:08}.warc.gz.open", at.file))
    };
    fs::read(path).unwrap()[at.offset as usize..][..at.length as usize].to_vec()
}

/// Asserts that every live page can be read at its location, intact.
fn assert_readable(dir: &Path, ledger: &LiveRecords) {
    for (&page, at) in &ledger.places {
        let record = read(dir, at).unwrap();
        assert_eq!(record.url(), Some(url(page)), "{at:?}");
        assert_eq!(&*record.body(), body(page), "{at:?}");
        assert_eq!(record.is_intact(), Some(true));
    }
}

/// Copies the live records of a file. The locations in the result are in the order of the pages.
fn keep(writer: &mut ArchiveWriter, file: u32, ledger: &LiveRecords) -> (Vec<u32>, Moved) {
    let live = ledger.places.iter().filter(|(_, at)| at.file == file);
    let (pages, places): (Vec<u32>, Vec<RecordLocation>) =
        live.map(|(&page, &at)| (page, at)).unzip();
    let moved = writer.keep(file, &places).unwrap();
    (pages, moved)
}

fn commit(ledger: &mut LiveRecords, pages: &[u32], moved: &Moved) {
    assert_eq!(pages.len(), moved.places().len());
    let moves = pages.iter().copied().zip(moved.places().iter().copied());
    ledger.places.extend(moves);
    ledger.end = Some(moved.end());
}

fn collect(writer: &mut ArchiveWriter, file: u32, ledger: &mut LiveRecords) {
    let (pages, moved) = keep(writer, file, ledger);
    commit(ledger, &pages, &moved);
    writer.discard(moved).unwrap();
}

/// Returns the pages whose captures a scan of all files finds, sorted by number.
fn pages_in(dir: &Path) -> Vec<u32> {
    let records = scan(dir).unwrap().map(|found| found.unwrap().1);
    let captures = records.filter(|record| record.kind() != &RecordKind::Warcinfo);
    let mut pages: Vec<u32> = captures.map(|record| number(record.url())).collect();
    pages.sort_unstable();
    pages
}

fn number(url: Option<PageUrl>) -> u32 {
    url.unwrap().path()[1..].parse().unwrap()
}

fn files_ending(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = entries
        .filter(|path| path.to_str().unwrap().ends_with(ending))
        .collect();
    found.sort();
    found
}

/// Returns the pages that the indexes of all files name, and asserts that each line leads to its
/// record.
fn pages_indexed(dir: &Path) -> Vec<u32> {
    let mut pages = Vec::new();
    for path in files_ending(dir, ".cdxj") {
        let index = fs::read_to_string(&path).unwrap();
        assert!(index.lines().is_sorted(), "{index}");
        for line in index.lines() {
            let json = line.splitn(3, ' ').nth(2).unwrap();
            let json: serde_json::Value = serde_json::from_str(json).unwrap();
            let value = |name: &str| json[name].as_str().unwrap().to_owned();
            let name = value("filename");
            assert_eq!(
                dir.join(&name).with_extension("").with_extension("cdxj"),
                path
            );
            let at = RecordLocation {
                file: name["avocet-".len()..][..8].parse().unwrap(),
                offset: value("offset").parse().unwrap(),
                length: value("length").parse().unwrap(),
            };
            let record = read(dir, &at).unwrap();
            assert_eq!(record.url().unwrap().as_str(), value("url"));
            let digest = record.payload_digest().unwrap().to_string();
            assert_eq!(digest, value("digest"));
            pages.push(number(record.url()));
        }
    }
    pages.sort_unstable();
    pages
}

/// Returns the problems that `warcio`, the reference reader for WARC files, finds in closed
/// files; nothing if it is not installed.
fn warcio_complaints(dir: &Path) -> String {
    let python = |arguments: &[&str]| {
        std::process::Command::new("python3")
            .args(arguments)
            .output()
    };
    if !python(&["-c", "import warcio"]).is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: the Python package warcio is not installed");
        return String::new();
    }
    let mut complaints = String::new();
    for path in files_ending(dir, ".warc.gz") {
        let check = python(&["-m", "warcio.cli", "check", path.to_str().unwrap()]).unwrap();
        if !check.status.success() || !check.stdout.is_empty() {
            complaints.push_str(&format!("{check:?}\n"));
        }
    }
    complaints
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn live_records_stay_and_dead_ones_are_removed(
        rounds in prop::collection::vec((1..12_u32, any::<u64>(), any::<u64>()), 1..5),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let mut ledger = LiveRecords::default();
        let mut written: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
        let mut next = 0;
        let mut writer = open(dir, &ledger);
        for (pages, dropped, collected) in rounds {
            for page in next..next + pages {
                let at = append(&mut writer, page);
                ledger.places.insert(page, at);
                written.insert(page, bytes_at(dir, &at));
            }
            next += pages;
            writer.sync().unwrap();
            ledger.end = Some(writer.end());
            ledger.places.retain(|page, _| dropped >> (page % 64) & 1 == 0);
            // Some of the files are collected; one of them may be the open file.
            for (file, _) in sizes(dir).unwrap() {
                if collected >> (file % 64) & 1 == 1 {
                    collect(&mut writer, file, &mut ledger);
                }
            }
            assert_readable(dir, &ledger);
            // Simulates a kill in some of the rounds.
            if dropped % 3 == 0 {
                drop(writer);
                writer = open(dir, &ledger);
                prop_assert!(writer.discrepancy().set_aside.is_empty());
                assert_readable(dir, &ledger);
            }
        }
        // Every file is collected, so that no dead record remains.
        for (file, _) in sizes(dir).unwrap() {
            collect(&mut writer, file, &mut ledger);
        }
        for (file, bytes) in sizes(dir).unwrap() {
            let live = ledger.places.values().filter(|at| at.file == file);
            let live: u64 = live.map(|at| u64::from(at.length)).sum();
            prop_assert!(bytes - live < 500, "a record other than `warcinfo` is dead");
        }
        writer.close().unwrap();
        assert_readable(dir, &ledger);
        for (page, at) in &ledger.places {
            prop_assert_eq!(&bytes_at(dir, at), &written[page]);
        }
        let live: Vec<u32> = ledger.places.keys().copied().collect();
        prop_assert_eq!(&pages_in(dir), &live);
        prop_assert_eq!(&pages_indexed(dir), &live);
        prop_assert_eq!(files_ending(dir, ".cdxj").len(), files_ending(dir, ".warc.gz").len());
        // Moving records did not make a file exceed the size limit.
        let record = written.values().map(Vec::len).max().unwrap_or(0) as u64;
        for (_, bytes) in sizes(dir).unwrap() {
            prop_assert!(bytes <= MAX_BYTES.max(2 * record), "{bytes}");
        }
    }
}

/// Writes twelve pages to three or more files; the odd pages are live.
fn half_dead(dir: &Path) -> (ArchiveWriter, LiveRecords) {
    let mut ledger = LiveRecords::default();
    let mut writer = open(dir, &ledger);
    for page in 0..12 {
        let at = append(&mut writer, page);
        ledger.places.insert(page, at);
    }
    writer.sync().unwrap();
    ledger.end = Some(writer.end());
    ledger.places.retain(|page, _| page % 2 == 1);
    let files: Vec<u32> = sizes(dir).unwrap().iter().map(|&(file, _)| file).collect();
    assert!(files.len() >= 3 && files[..2] == [1, 2], "{files:?}");
    (writer, ledger)
}

#[test]
fn a_kill_between_any_two_steps_loses_nothing() {
    let live: Vec<u32> = (0..12).filter(|page| page % 2 == 1).collect();
    for step in 0..6 {
        // The third file is the one that is open when its collection begins.
        for which in 0..3 {
            let dir = tempfile::tempdir().unwrap();
            let dir = dir.path();
            let (mut writer, mut ledger) = half_dead(dir);
            let file = [1, 2, writer.end().file][which];
            let (pages, moved) = keep(&mut writer, file, &ledger);
            let torn = moved.end();
            if step >= 2 {
                commit(&mut ledger, &pages, &moved);
            }
            match step {
                // The records are copied. The power cut lost a part of what was not committed.
                0 => {
                    let path = dir.join(format!("avocet-{:08}.warc.gz.open", torn.file));
                    if let (Ok(bytes), true) = (fs::read(&path), Some(torn) != ledger.end) {
                        let committed = ledger.end.filter(|end| end.file == torn.file);
                        let least = committed.map_or(0, |end| end.offset as usize);
                        fs::write(&path, &bytes[..(least + bytes.len()) / 2]).unwrap();
                    }
                }
                // 1: copied, not committed. 2: committed, nothing deleted.
                1 | 2 => {}
                // Committed, and the index of the old file is deleted.
                3 => fs::remove_file(dir.join(format!("avocet-{file:08}.cdxj"))).unwrap(),
                // Committed, and the old file is deleted.
                4 => writer.discard(moved).unwrap(),
                // All steps are done, and the archive was closed before the kill.
                _ => {
                    writer.discard(moved).unwrap();
                    writer.close().unwrap();
                    writer = open(dir, &ledger);
                }
            }
            drop(writer);
            let mut writer = open(dir, &ledger);
            assert_readable(dir, &ledger);
            let seen = pages_in(dir);
            assert!(live.iter().all(|page| seen.contains(page)), "step {step}");
            // The next collection completes the interrupted one.
            for (file, _) in sizes(dir).unwrap() {
                collect(&mut writer, file, &mut ledger);
            }
            writer.close().unwrap();
            assert_readable(dir, &ledger);
            assert_eq!(pages_in(dir), live, "step {step}, file {file}");
            assert_eq!(pages_indexed(dir), live, "step {step}, file {file}");
        }
    }
}

#[test]
fn only_files_that_are_closed_have_an_index() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (writer, mut ledger) = half_dead(dir);
    writer.close().unwrap();
    let name = |file: u32, ending: &str| dir.join(format!("avocet-{file:08}.{ending}"));
    assert!(files_ending(dir, ".cdxj").len() >= 3);
    // The last commit was in the second file. So that file is open again, and the later ones are
    // set aside.
    ledger.end = Some(End {
        file: 2,
        offset: ledger
            .places
            .values()
            .find(|at| at.file == 2)
            .unwrap()
            .offset,
    });
    drop(open(dir, &ledger));
    assert_eq!(files_ending(dir, ".cdxj"), [name(1, "cdxj")]);
    // Simulates a kill after the index was written and before the file was renamed.
    fs::write(name(2, "cdxj"), "of more than was committed").unwrap();
    drop(open(dir, &ledger));
    assert_eq!(files_ending(dir, ".cdxj"), [name(1, "cdxj")]);
    assert!(name(2, "warc.gz.open").exists());
}

#[test]
fn warcio_accepts_moved_records() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, mut ledger) = half_dead(dir.path());
    for (file, _) in sizes(dir.path()).unwrap() {
        collect(&mut writer, file, &mut ledger);
    }
    writer.close().unwrap();
    assert_eq!(warcio_complaints(dir.path()), "");
}

#[test]
fn a_moved_revisit_still_names_its_original() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = open(dir.path(), &LiveRecords::default());
    let first = append(&mut writer, 1);
    let (page, text) = (url(1), body(1));
    let at = Timestamp::from_second(1_800_000_000).unwrap();
    let capture = Capture::new(&page, at, ADDRESS, HEAD, &text, None);
    let original = Original {
        url: &page,
        at: Timestamp::from_second(1_700_000_001).unwrap(),
        digest: PayloadDigest::of(&[&text]),
    };
    let again = seal::revisit(
        &capture,
        &original,
        Profile::IdenticalPayload,
        Level::default(),
    );
    let again = writer.append(&again).unwrap();
    // The order is reversed: each record must get its own new location.
    let moved = writer.keep(1, &[again, first]).unwrap();
    let places = moved.places().to_vec();
    writer.discard(moved).unwrap();
    let records = places.iter().map(|at| read(dir.path(), at).unwrap());
    let records: Vec<_> = records.collect();
    assert_eq!(records[0].kind(), &RecordKind::Revisit);
    assert_eq!(
        records[0].field("WARC-Refers-To"),
        records[1].field("WARC-Record-ID")
    );
    writer.close().unwrap();
    assert_eq!(pages_indexed(dir.path()), [1, 1]);
    let index = fs::read_to_string(dir.path().join("avocet-00000002.cdxj")).unwrap();
    assert!(index.contains("warc/revisit"), "{index}");
}

#[test]
fn a_damaged_live_record_is_named_and_its_file_stays() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, mut ledger) = half_dead(dir.path());
    let hurt = *ledger.places.values().next().unwrap();
    let path = dir.path().join("avocet-00000001.warc.gz");
    let mut bytes = fs::read(&path).unwrap();
    bytes[hurt.offset as usize + hurt.length as usize / 2] ^= 1;
    fs::write(&path, bytes).unwrap();
    let live = ledger.places.values().filter(|at| at.file == 1).copied();
    let error = writer.keep(1, &live.collect::<Vec<_>>()).unwrap_err();
    let named = matches!(error, ArchiveError::Damaged { offset, .. } if offset == hurt.offset);
    assert!(named, "{error}");
    assert!(path.exists());
    // The writer continues to work, and other files can be collected.
    collect(&mut writer, 2, &mut ledger);
    assert!(!dir.path().join("avocet-00000002.warc.gz").exists());
}
