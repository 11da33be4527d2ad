//! Measures how fast links are admitted to the frontier.
//!
//! While the frontier is filled, a page has 15 links, all of them new. Then a page has 75 links, as
//! real documentation sites have 73 on average. Four of five are known, drawn uniformly from all
//! known pages. This is the worst case for every cache, and for the space that a page has for
//! anchor texts. Parsing and hashing of URLs is the work of the crate `page`, and is done outside
//! the measurement.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use frontier::{Entry, Frontier, FrontierLink, Reading};
use page::{PageId, PageUrl};
use policy::{Crawl, Moment, Text};

use super::driver::{FrontierDriver, GROUP};
use crate::machine::{process_time, rest, thread_time};
use crate::urls::{Urls, scramble};

/// New links per page.
const NEW: u64 = 15;
/// Pages prepared at a time.
const PREPARED: u64 = 2000;

/// The cost of admitting links.
#[derive(Debug, Default, Clone, Copy)]
pub struct Admitted {
    /// Links offered.
    pub links: u64,
    /// New links among them.
    pub new: u64,
    /// Wall time until all is durable, without the preparation.
    pub wall: Duration,
    /// CPU time of all threads, with the background work of the ledger, without the preparation.
    pub cpu: Duration,
    /// Batches committed.
    pub commits: u64,
}

struct OfferedPage {
    source: PageId,
    links: Vec<OfferedLink>,
}

struct OfferedLink {
    url: PageUrl,
    id: PageId,
    anchor: String,
}

/// Offers links until `until` URLs are known, with `known` known links per new link.
pub fn admit(driver: &mut FrontierDriver, urls: Urls, until: u64, known: u64) -> Result<Admitted> {
    let mut next = driver.frontier.known() as u64;
    let commits = driver.commits;
    let mut admitted = Admitted::default();
    let (began, cpu) = (Instant::now(), process_time());
    let mut preparing = (Duration::ZERO, Duration::ZERO);
    driver.work(|driver, queue| {
        while next < until {
            let (wall, cpu) = (Instant::now(), thread_time());
            let pages = prepare(urls, &mut next, until, known)?;
            preparing.0 += wall.elapsed();
            preparing.1 += thread_time() - cpu;
            for group in pages.chunks(GROUP) {
                let mut entries: Vec<Entry> = Vec::new();
                for page in group {
                    let now = driver.tick();
                    let before = driver.frontier.known();
                    page.admit(&mut driver.frontier, now, &mut entries);
                    admitted.links += page.links.len() as u64;
                    admitted.new += (driver.frontier.known() - before) as u64;
                }
                queue.send(driver, entries, group.len())?;
            }
        }
        Ok(())
    })?;
    admitted.wall = began.elapsed() - preparing.0;
    rest();
    admitted.cpu = (process_time() - cpu).saturating_sub(preparing.1);
    admitted.commits = driver.commits - commits;
    let known = driver.frontier.known() as u64;
    ensure!(known == until, "{known} of {until} are known");
    Ok(admitted)
}

impl OfferedPage {
    /// Admits the links of the page, as the engine does.
    fn admit(&self, frontier: &mut Frontier<Crawl>, now: Moment, entries: &mut Vec<Entry>) {
        let mut links = Vec::with_capacity(self.links.len());
        for OfferedLink { url, id, anchor } in &self.links {
            let to = match frontier.number(*id) {
                Some(number) => number,
                None => {
                    let link = FrontierLink {
                        url,
                        depth: 3,
                        hops: 0,
                        source: Some(self.source),
                        absent: None,
                    };
                    let (number, entry) = frontier.hear(link, now);
                    entries.push(entry);
                    number
                }
            };
            links.push(policy::LinkFact::new(to, anchor));
        }
        links.sort_by_key(|link| link.to);
        links.dedup_by_key(|link| link.to);
        let reading = Reading {
            text: Text::Nothing,
            links: &links,
            out_links: self.links.len() as u32,
            again: false,
        };
        entries.extend(frontier.read(self.source, reading));
    }
}

fn prepare(urls: Urls, next: &mut u64, until: u64, known: u64) -> Result<Vec<OfferedPage>> {
    let admitted = *next;
    let mut pages = Vec::new();
    while *next < until && (pages.len() as u64) < PREPARED {
        let mut links = Vec::with_capacity((NEW * (known + 1)) as usize);
        for number in *next..until.min(*next + NEW) {
            let old = (0..known).map(|other| scramble(number * 8 + other) % admitted);
            for number in old.chain([number]) {
                let url = urls.url(number)?;
                let (id, anchor) = (url.id(), Urls::anchor(number));
                links.push(OfferedLink { url, id, anchor });
            }
        }
        let source = urls.url(scramble(*next) % admitted.max(1))?.id();
        *next = until.min(*next + NEW);
        pages.push(OfferedPage { source, links });
    }
    Ok(pages)
}
