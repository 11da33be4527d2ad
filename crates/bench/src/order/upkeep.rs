//! Measures the cost of keeping an ordering up to date with the link graph.
//!
//! The ordering observes a web page by page. 20 links are drawn for each page, and links to the
//! same target count once. Four lead to new pages, until all pages are known; the targets of the
//! others follow Zipf's law.
//!
//! **Invariant:** only `observe` is timed. [`cell`](super::cell) covers the cost of moves in the
//! queues.

use std::time::Duration;

use anyhow::{Result, ensure};
use policy::{Discovered, Fact, LinkFact, Moves, Number, Part, Policy, Read, Text};
use serde::{Deserialize, Serialize};

use super::OrderUpkeep;
use crate::machine::{resident, thread_time};
use crate::urls::{Urls, popular};

const LINKS: u64 = 20;
const NEW: u64 = 4;
/// Pages between two reads of the clock.
const TURN: u64 = 100;
/// Pages per host.
const PAGES_PER_HOST: u64 = 100;

/// The result of the measurement.
#[derive(Debug, Serialize, Deserialize)]
pub struct UpkeepCost {
    /// Mean microseconds per page, over all pages.
    pub mean: f64,
    /// Mean microseconds per page, over the last tenth of the pages.
    pub last: f64,
    /// Mean number of waiting pages whose worth changes when the ordering observes a page.
    pub moves: f64,
    /// Memory per page, in bytes.
    pub memory: f64,
}

/// Measures in this process, and prints the result.
pub fn run(options: &OrderUpkeep) -> Result<()> {
    println!("{}", serde_json::to_string(&measure(options)?)?);
    Ok(())
}

/// Lets one ordering observe a web, and measures it.
pub fn measure(options: &OrderUpkeep) -> Result<UpkeepCost> {
    let mut order = super::ordering(&options.order, 1)?;
    let mut web = LinkedWeb {
        pages: options.pages,
        known: 0,
        drawn: 0,
    };
    let before = resident();
    let mut moves = Moves::default();
    let (mut moved, mut read) = (0, 0);
    let (mut all, mut last) = (Duration::ZERO, Duration::ZERO);
    while read < options.pages {
        let turn: Vec<PageLinks> = (read..options.pages.min(read + TURN))
            .map(|page| web.page(page))
            .collect();
        let began = thread_time();
        for page in &turn {
            page.observe(&mut *order, &mut moves);
            moved += moves.drain().count();
        }
        let took = thread_time() - began;
        all += took;
        if read >= options.pages / 10 * 9 {
            last += took;
        }
        read += turn.len() as u64;
    }
    ensure!(moved > 0, "the ordering moved no page");
    let count = options.pages as f64;
    Ok(UpkeepCost {
        mean: all.as_secs_f64() * 1e6 / count,
        last: last.as_secs_f64() * 1e6 / (count / 10.0),
        moves: moved as f64 / count,
        memory: resident().saturating_sub(before) as f64 / count,
    })
}

struct LinkedWeb {
    pages: u64,
    known: u64,
    drawn: u64,
}

/// A page with its links, and the pages that it is the first to link to.
struct PageLinks {
    page: Number,
    new: Vec<(Number, String)>,
    links: Vec<(Number, String)>,
}

impl LinkedWeb {
    fn page(&mut self, number: u64) -> PageLinks {
        let mut new = Vec::new();
        let discover = self.known.max(1)..self.pages.min(self.known.max(1) + NEW);
        let first = (self.known == 0).then_some(0);
        for known in first.into_iter().chain(discover.clone()) {
            let url = format!(
                "https://host{}.org/page/{known}.html",
                known / PAGES_PER_HOST
            );
            new.push((Number(known as u32), url));
        }
        self.known = discover.end.max(self.known);
        let mut links: Vec<u64> = discover.collect();
        while (links.len() as u64) < LINKS {
            self.drawn += 1;
            links.push(popular(self.drawn, self.pages) % self.known);
        }
        links.sort_unstable();
        links.dedup();
        links.retain(|&to| to != number);
        let link = |to: u64| (Number(to as u32), Urls::anchor(to));
        PageLinks {
            page: Number(number as u32),
            new,
            links: links.into_iter().map(link).collect(),
        }
    }
}

impl PageLinks {
    fn observe(&self, order: &mut dyn Policy, moves: &mut Moves) {
        for (page, url) in &self.new {
            let discovered = Discovered {
                page: *page,
                url,
                host: page.0 / PAGES_PER_HOST as u32,
                depth: 3,
                seed: page.0 == 0,
                at: policy::Moment::START,
                appeared: None,
            };
            order.observe(&Fact::Discovered(discovered), moves);
        }
        let links = self.links.iter();
        let links: Vec<LinkFact<'_>> = links
            .map(|(to, anchor)| LinkFact::new(*to, anchor))
            .collect();
        let read = Read {
            page: self.page,
            text: Text::Nothing,
            links: &links,
            out_links: LINKS as u32,
            part: Part::WHOLE,
        };
        order.observe(&Fact::Read(read), moves);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_known_before_it_is_read() {
        let mut web = LinkedWeb {
            pages: 1000,
            known: 0,
            drawn: 0,
        };
        let mut known = 0;
        for number in 0..1000 {
            let page = web.page(number);
            for (page, _) in &page.new {
                assert_eq!(u64::from(page.0), known, "numbers are dense");
                known += 1;
            }
            assert!(number < known, "{number}");
            assert!(page.links.iter().all(|(to, _)| u64::from(to.0) < known));
            assert!(page.links.len() >= 5 || number < 5, "{number}");
        }
        assert_eq!(known, 1000);
    }
}
