//! Tests that a copy keeps its archive location when several visits are uncommitted.

use frontier::PageCopy;
use page::PageUrl;
use page::RecordLocation;
use policy::{History, Moment, Outcome, Visit};
use repository::archive::{Capture, Level, seal};

use super::*;
use crate::clock::timestamp;
use crate::recovery::archive_info;

const BODY: &[u8] = b"<p>A page that does not change.";

struct TestStore {
    _dir: tempfile::TempDir,
    ledger: Ledger,
    archive: Option<archive::ArchiveWriter>,
}

fn pages(records: Vec<Record>) -> CommitWork {
    CommitWork::Core(crawl::Work::Pages(records))
}

fn store() -> TestStore {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(&dir.path().join("ledger")).unwrap();
    let options = archive::ArchiveOptions {
        max_bytes: archive::MAX_BYTES,
        info: archive_info(Vec::new()),
        at_risk: 0,
    };
    let archive = archive::ArchiveWriter::open(&dir.path().join("archive"), options, None).unwrap();
    TestStore {
        _dir: dir,
        ledger,
        archive: Some(archive),
    }
}

fn url() -> PageUrl {
    PageUrl::parse("http://127.0.0.1/page").unwrap()
}

/// Returns the record of a page whose body was fetched.
fn read(at: Moment) -> Record {
    let url = url();
    let address = "127.0.0.1".parse().unwrap();
    let head = b"HTTP/1.1 200 OK\r\nETag: \"1\"\r\n\r\n";
    let capture = Capture::new(&url, timestamp(at), address, head, BODY, None);
    let before = History::discovered(at, 0);
    Record {
        key: PageKey::of(&url),
        before,
        visited: Visited {
            history: before.after(Visit::new(at, Outcome::Changed)),
            status: Some(200),
            copy: Some(PageCopy {
                at,
                payload: capture.digest().0,
                indexed: true,
                ..PageCopy::default()
            }),
            ..Visited::default()
        },
        sealed: Some(seal::response(&capture, Level::default())),
        copied: true,
        text: None,
        gone: false,
        admitted: Vec::new(),
        links: Vec::new(),
        leads: Vec::new(),
        asked: true,
        url,
    }
}

/// Returns the record of a 304 for the same page, requested before the first visit was committed.
fn not_modified(earlier: &Visited, at: Moment) -> Record {
    let visited = Visited {
        status: Some(304),
        copy: earlier.copy.clone(),
        ..Visited::default()
    };
    Record {
        visited,
        sealed: None,
        copied: false,
        ..read(at)
    }
}

fn kept(ledger: &Ledger) -> Option<RecordLocation> {
    let visited = ledger.visited(PageKey::of(&url())).unwrap().unwrap();
    assert_eq!(visited.status, Some(304), "the later visit was written");
    visited.copy.unwrap().place
}

#[test]
fn a_copy_keeps_its_location_after_a_304_that_was_requested_before_its_commit() {
    for together in [true, false] {
        let mut store = store();
        let mut committer =
            Committer::new(&store.ledger, Clock::start(), store.archive.take(), None);
        let first = read(Moment::from_micros(1_000_000));
        let again = not_modified(&first.visited, Moment::from_micros(2_000_000));
        if together {
            committer.commit(vec![pages(vec![first, again])]).unwrap();
        } else {
            committer.commit(vec![pages(vec![first])]).unwrap();
            committer.commit(vec![pages(vec![again])]).unwrap();
        }
        assert!(kept(&store.ledger).is_some(), "together: {together}");
    }
}

#[test]
fn a_copy_does_not_get_the_location_of_a_different_copy() {
    let mut store = store();
    let mut committer = Committer::new(&store.ledger, Clock::start(), store.archive.take(), None);
    let first = read(Moment::from_micros(1_000_000));
    let mut again = not_modified(&first.visited, Moment::from_micros(2_000_000));
    if let Some(copy) = &mut again.visited.copy {
        copy.at = Moment::from_micros(1);
    }
    committer.commit(vec![pages(vec![first, again])]).unwrap();
    assert_eq!(kept(&store.ledger), None);
}
