//! The workload `commit-1000-pages`: commits fetched pages as a crawl does, without an index.

use std::path::Path;

use anyhow::Result;
use frontier::{Discovery, Entry, OutLinks, PageCopy, PageKey, Visited};
use jiff::Timestamp;
use ledger::Ledger;
use node::clock::Clock;
use node::engine::committer::{CommitWork, Committer, Record};
use page::TextDigest;
use policy::{History, Moment, Outcome, Visit};
use repository::archive::{self, Capture, Level, seal};

use super::document;
use crate::urls::Urls;

const PAGES: u64 = 1000;
/// Pages per commit.
const GROUP: usize = 20;
/// Pages discovered on each page.
const DISCOVERED: u64 = 15;
/// Links of each page that are in scope.
const LINKS: u32 = 60;
const HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: \"65537a3c-6978\"\r\n\r\n";
const NOW: Moment = Moment::from_micros(1_700_000_000_000_000);

/// Commits 1,000 pages.
pub fn commit(place: &Path, only_set_up: bool) -> Result<()> {
    let ledger = Ledger::open(&place.join("ledger"))?;
    let options = archive::ArchiveOptions {
        max_bytes: archive::MAX_BYTES,
        info: archive::Info::default(),
        at_risk: 0,
    };
    let archive = archive::ArchiveWriter::open(&place.join("archive"), options, None)?;
    let mut committer = Committer::new(&ledger, Clock::start(), Some(archive), None);
    let mut pages = Vec::new();
    for number in 0..PAGES {
        pages.push(settled(number)?);
    }
    if only_set_up {
        return committer.close();
    }
    let mut pages = pages.into_iter();
    loop {
        let group: Vec<Record> = pages.by_ref().take(GROUP).collect();
        if group.is_empty() {
            return committer.close();
        }
        committer.commit(vec![CommitWork::Core(crawl::Work::Pages(group))])?;
    }
}

/// Returns the record that a visit passes to the committer.
///
/// The body is small, because compressing it is the work of the visit.
fn settled(number: u64) -> Result<Record> {
    let url = document::url(number)?;
    let key = PageKey::of(&url);
    let body = document::small(number);
    let address = std::net::IpAddr::from([127, 0, 0, 1]);
    let at = Timestamp::from_microsecond(NOW.micros() as i64)?;
    let capture = Capture::new(&url, at, address, HEAD, body.as_bytes(), None);
    let before = History::discovered(NOW, 2);
    let first = PAGES + number * DISCOVERED;
    let mut admitted = Vec::new();
    for order in first..first + DISCOVERED {
        let found = document::url(order)?;
        let discovery = Discovery {
            url: found.as_str().to_owned(),
            order,
            at: NOW,
            depth: 3,
            hops: 0,
            source: Some(url.id()),
            absent: None,
        };
        admitted.push(Entry::Admitted(PageKey::of(&found), discovery));
    }
    let links = (0..LINKS).map(|link| (link * 7 + number as u32, Urls::anchor(link.into())));
    admitted.push(Entry::Links(key, OutLinks::new(LINKS, links.collect())));
    Ok(Record {
        key,
        before,
        visited: Visited {
            history: before.after(Visit::new(NOW, Outcome::Changed)),
            status: Some(200),
            bytes: 18_000,
            copy: Some(PageCopy {
                at: NOW,
                payload: capture.digest().0,
                etag: Some("\"65537a3c-6978\"".into()),
                text: Some(TextDigest::of(&body)),
                indexed: true,
                ..PageCopy::default()
            }),
            ..Visited::default()
        },
        sealed: Some(seal::response(&capture, Level::default())),
        url,
        copied: true,
        text: None,
        gone: false,
        admitted,
        links: Vec::new(),
        leads: Vec::new(),
        asked: true,
    })
}
