//! Measures how fast pages are claimed, settled and made durable.
//!
//! One thread per core makes visits as the engine does, without the network: it claims a page,
//! binds the address, reads the page's discovery (from the ledger, if it is no longer in memory),
//! settles the page and passes the record to the committer.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use frontier::bench::Turn;
use frontier::{Bound, Entry, PageCopy, Visited};
use page::RecordLocation;
use page::{HostId, PageUrl, TextDigest};
use policy::{History, Moment, Number, Outcome, Visit};

use super::driver::{self, FrontierDriver, GROUP};
use crate::machine::{process_time, rest};
use crate::speed::{BenchConnection, ServerSpeed};

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
pub fn settle(driver: &FrontierDriver, claims: u64) -> Result<Settled> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let left = AtomicU64::new(claims);
    let commits = driver.lock().commits;
    let record = record();
    let (began, cpu) = (Instant::now(), process_time());
    let read = driver.work(|line| {
        thread::scope(|scope| {
            let start = |_| {
                let worker = Worker {
                    driver,
                    line: line.clone(),
                    left: &left,
                    record: &record,
                };
                scope.spawn(move || worker.run())
            };
            let threads: Vec<_> = (0..threads).map(start).collect();
            let mut read = 0;
            for thread in threads {
                read += thread
                    .join()
                    .unwrap_or_else(|_| bail!("a thread panicked"))?;
            }
            Ok(read)
        })
    })?;
    let wall = began.elapsed();
    rest();
    Ok(Settled {
        pages: claims - left.into_inner(),
        read,
        wall,
        cpu: process_time() - cpu,
        commits: driver.lock().commits - commits,
    })
}

struct Worker<'a> {
    driver: &'a FrontierDriver,
    line: driver::CommitQueue<'a>,
    /// Pages that may still be claimed by any thread.
    left: &'a AtomicU64,
    record: &'a Visited,
}

impl Worker<'_> {
    /// Makes visits until enough pages are settled or none waits.
    ///
    /// Returns the number of pages that were read from the ledger.
    fn run(self) -> Result<u64> {
        let mut read = 0;
        let mut pending = Vec::with_capacity(GROUP);
        loop {
            let mut shared = self.driver.lock();
            let now = shared.tick();
            let visit = match shared.frontier.bench.next(now) {
                Turn::Idle => break,
                Turn::WaitUntil(moment) => {
                    shared.now = moment;
                    continue;
                }
                Turn::Visit(visit) => visit,
            };
            let address = address(visit.host);
            let Bound::Go(mut visit) = shared.frontier.bench.bind(visit, address) else {
                continue;
            };
            drop(shared);
            let speed = ServerSpeed::of(visit.host);
            let mut line = speed.open(&mut visit.estimate);
            let mut enough = false;
            while let Some(number) = self.next(&mut visit, &line) {
                enough = !self.take();
                if enough {
                    break;
                }
                pending.push(self.visit(visit.host, number, &mut read)?);
                visit.settled(number);
                line.answer(&mut visit.estimate);
                if pending.len() == GROUP {
                    self.line.send(std::mem::take(&mut pending), GROUP)?;
                }
            }
            let mut shared = self.driver.lock();
            let now = shared.now;
            let bench = &mut shared.frontier.bench;
            bench.settle(visit, now, Duration::ZERO, line.is_open());
            if enough {
                break;
            }
        }
        let pages = pending.len();
        self.line.send(pending, pages)?;
        Ok(read)
    }

    /// Returns the next page of a visit, and extends the visit if the bench allows.
    fn next(&self, visit: &mut frontier::HostVisit, line: &BenchConnection) -> Option<Number> {
        if visit.first().is_none() && line.is_open() {
            let mut shared = self.driver.lock();
            let now = shared.now;
            shared.frontier.bench.more(visit, false, now);
        }
        visit.first()
    }

    fn take(&self) -> bool {
        let one_less = |left: u64| left.checked_sub(1);
        self.left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less)
            .is_ok()
    }

    /// Fetches one page, as if the server answered immediately.
    fn visit(&self, host: HostId, number: Number, read: &mut u64) -> Result<Entry> {
        let (page, key, recent) = {
            let shared = self.driver.lock();
            let page = shared.frontier.page(host, number);
            let key = shared
                .frontier
                .key(page)
                .context("a claimed page was never admitted")?;
            (page, key, shared.frontier.recent(page).cloned())
        };
        let (discovery, before) = match recent {
            Some(discovery) => (discovery, None),
            None => {
                *read += 1;
                let discovery = self.driver.ledger.discovery(key)?;
                (
                    discovery.context("a claimed page is not in the ledger")?,
                    self.driver.ledger.visited(key)?,
                )
            }
        };
        // The engine parses the URL to send the request.
        PageUrl::parse(&discovery.url).with_context(|| format!("the URL {}", discovery.url))?;
        let new = History::discovered(discovery.at, discovery.depth);
        let history = before.map_or(new, |before| before.history);
        let mut shared = self.driver.lock();
        let at = shared.tick();
        let before = history;
        let history = before.after(Visit::new(at, Outcome::Changed));
        shared.frontier.visited(page, &before, &history, at);
        Ok(Entry::Visited(
            key,
            Box::new(Visited {
                history,
                ..self.record.clone()
            }),
        ))
    }
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
