//! Measures how fast pages are claimed, settled and made durable.
//!
//! One visit after another is made as the engine does, without the network. The driver claims a
//! page, binds the address, reads the page's discovery (from the ledger, if it is no longer in
//! memory), settles the page and passes the record to the committer.

use std::mem;
use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use frontier::bench::Turn;
use frontier::{Bound, Entry, PageCopy, Visited};
use page::RecordLocation;
use page::{HostId, PageUrl, TextDigest};
use policy::{History, Moment, Number, Outcome, Visit};

use super::driver::{FrontierDriver, GROUP};
use crate::machine::{process_time, rest};
use crate::speed::ServerSpeed;

/// The cost of claiming and settling.
#[derive(Debug, Default, Clone, Copy)]
pub struct Settled {
    /// Pages claimed and settled.
    pub pages: u64,
    /// Pages among them that were read from the ledger.
    pub read: u64,
    /// Wall time from the first claim until the last page was durable.
    pub wall: Duration,
    /// CPU time of all threads, with the background work of the ledger.
    pub cpu: Duration,
    /// Batches committed.
    pub commits: u64,
}

/// Claims and settles up to `claims` pages.
pub fn settle(driver: &mut FrontierDriver, claims: u64) -> Result<Settled> {
    let mut settled = Settled::default();
    let (record, commits) = (record(), driver.commits);
    let (began, cpu) = (Instant::now(), process_time());
    driver.work(|driver, queue| {
        let mut pending = Vec::with_capacity(GROUP);
        while settled.pages < claims {
            let now = driver.tick();
            let visit = match driver.frontier.bench.next(now) {
                Turn::Idle => break,
                Turn::WaitUntil(moment) => {
                    driver.now = moment;
                    continue;
                }
                Turn::Visit(visit) => visit,
            };
            let address = address(visit.host);
            let Bound::Go(mut visit) = driver.frontier.bench.bind(visit, address) else {
                continue;
            };
            let mut line = ServerSpeed::of(visit.host).open(&mut visit.estimate);
            while settled.pages < claims {
                if visit.first().is_none() && line.is_open() {
                    driver.frontier.bench.more(&mut visit, false, driver.now);
                }
                let Some(number) = visit.first() else { break };
                pending.push(fetch(
                    driver,
                    visit.host,
                    number,
                    &record,
                    &mut settled.read,
                )?);
                visit.settled(number);
                line.answer(&mut visit.estimate);
                settled.pages += 1;
                if pending.len() == GROUP {
                    queue.send(driver, mem::take(&mut pending), GROUP)?;
                }
            }
            let bench = &mut driver.frontier.bench;
            bench.settle(visit, driver.now, Duration::ZERO, line.is_open());
        }
        let pages = pending.len();
        queue.send(driver, pending, pages)
    })?;
    settled.wall = began.elapsed();
    rest();
    settled.cpu = process_time() - cpu;
    settled.commits = driver.commits - commits;
    Ok(settled)
}

/// Fetches one page, as if the server answered immediately. Counts reads of the ledger.
fn fetch(
    driver: &mut FrontierDriver,
    host: HostId,
    number: Number,
    record: &Visited,
    read: &mut u64,
) -> Result<Entry> {
    let page = driver.frontier.page(host, number);
    let key = driver.frontier.key(page);
    let key = key.context("a claimed page was never admitted")?;
    let (discovery, before) = match driver.frontier.recent(page).cloned() {
        Some(discovery) => (discovery, None),
        None => {
            *read += 1;
            let discovery = driver.ledger.discovery(key)?;
            let discovery = discovery.context("a claimed page is not in the ledger")?;
            (discovery, driver.ledger.visited(key)?)
        }
    };
    // The engine parses the URL to send the request.
    PageUrl::parse(&discovery.url).with_context(|| format!("the URL {}", discovery.url))?;
    let new = History::discovered(discovery.at, discovery.depth);
    let before = before.map_or(new, |before| before.history);
    let at = driver.tick();
    let history = before.after(Visit::new(at, Outcome::Changed));
    driver.frontier.visited(page, &before, &history, at);
    let visited = Visited {
        history,
        ..record.clone()
    };
    Ok(Entry::Visited(key, Box::new(visited)))
}

/// Returns the address of a host; each host has its own.
fn address(host: HostId) -> IpAddr {
    IpAddr::V6(Ipv6Addr::from(u128::from(host.0)))
}

/// Returns the ledger record of a visit to an ordinary page of 27 kB.
fn record() -> Visited {
    let place = RecordLocation {
        file: 12,
        offset: 612_345_678,
        length: 7_890,
    };
    let words: Vec<String> = (0..600u64)
        .map(|word| format!("word{}", word * word % 397))
        .collect();
    Visited {
        status: Some(200),
        bytes: 27_000,
        place: Some(place),
        copy: Some(PageCopy {
            place: Some(place),
            at: Moment::from_micros(1_700_000_000_000_000),
            payload: [0xa5; 20],
            etag: Some("\"65537a3c-6978\"".into()),
            last_modified: Some("Tue, 14 Nov 2023 13:46:36 GMT".into()),
            text: Some(TextDigest::of(&words.join(" "))),
            hub: None,
            indexed: true,
        }),
        ..Visited::default()
    }
}
