//! What does it cost to keep an ordering's knowledge of the graph up to date?
//!
//! A web is told page by page: 20 links each, targets by Zipf's law, four new pages on each until all are
//! known. **Invariant:** only `observe` is timed; what its moves cost the queues is in `cell`.

use std::time::Duration;

use anyhow::{Result, ensure};
use policy::{Discovered, Fact, Link, Moves, Number, Policy, Read, Text};
use serde::{Deserialize, Serialize};

use crate::cli::OrderUpkeep;
use crate::machine::{resident, thread_time};
use crate::urls::{Urls, scramble};

const LINKS: u64 = 20;
const NEW: u64 = 4;
/// Pages between two looks at the clock.
const TURN: u64 = 100;
/// Pages of a host.
const PAGES_PER_HOST: u64 = 100;

/// What was measured.
#[derive(Debug, Serialize, Deserialize)]
pub struct Kept {
    /// Microseconds a page, over all pages.
    pub mean: f64,
    /// The same, over the last tenth.
    pub last: f64,
    /// Moves of waiting pages that a page caused.
    pub moves: f64,
    /// Memory for a page, in bytes.
    pub memory: f64,
}

/// Measures here, and prints it.
pub fn run(asked: &OrderUpkeep) -> Result<()> {
    println!("{}", serde_json::to_string(&measure(asked)?)?);
    Ok(())
}

/// Tells one ordering of a web of so many pages.
pub fn measure(asked: &OrderUpkeep) -> Result<Kept> {
    let mut order = super::ordering(&asked.order, 1)?;
    let mut web = Web {
        pages: asked.pages,
        known: 0,
        drawn: 0,
    };
    let before = resident();
    let mut moves = Moves::default();
    let (mut moved, mut read) = (0, 0);
    let (mut all, mut last) = (Duration::ZERO, Duration::ZERO);
    while read < asked.pages {
        let turn: Vec<Told> = (read..asked.pages.min(read + TURN))
            .map(|page| web.page(page))
            .collect();
        let began = thread_time();
        for told in &turn {
            told.observe(&mut *order, &mut moves);
            moved += moves.drain().count();
        }
        let took = thread_time() - began;
        all += took;
        if read >= asked.pages / 10 * 9 {
            last += took;
        }
        read += turn.len() as u64;
    }
    ensure!(moved > 0, "nothing moved");
    let count = asked.pages as f64;
    Ok(Kept {
        mean: all.as_secs_f64() * 1e6 / count,
        last: last.as_secs_f64() * 1e6 / (count / 10.0),
        moves: moved as f64 / count,
        memory: resident().saturating_sub(before) as f64 / count,
    })
}

struct Web {
    pages: u64,
    known: u64,
    drawn: u64,
}

/// A page, and the pages that it is the first to name.
struct Told {
    page: Number,
    new: Vec<(Number, String)>,
    links: Vec<(Number, String)>,
}

impl Web {
    fn page(&mut self, number: u64) -> Told {
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
            links.push(self.popular());
        }
        links.sort_unstable();
        links.dedup();
        links.retain(|&to| to != number);
        let link = |to: u64| (Number(to as u32), Urls::anchor(to));
        Told {
            page: Number(number as u32),
            new,
            links: links.into_iter().map(link).collect(),
        }
    }

    fn popular(&mut self) -> u64 {
        self.drawn += 1;
        let even = (scramble(self.drawn) >> 11) as f64 / (1u64 << 53) as f64;
        let rank = (self.pages as f64).powf(even) as u64;
        scramble(rank) % self.known
    }
}

impl Told {
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
        let links: Vec<Link<'_>> = links.map(|(to, anchor)| Link::new(*to, anchor)).collect();
        let read = Read {
            page: self.page,
            text: Text::Nothing,
            links: &links,
            out_links: LINKS as u32,
        };
        order.observe(&Fact::Read(read), moves);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_known_before_it_is_read() {
        let mut web = Web {
            pages: 1000,
            known: 0,
            drawn: 0,
        };
        let mut known = 0;
        for number in 0..1000 {
            let told = web.page(number);
            for (page, _) in &told.new {
                assert_eq!(u64::from(page.0), known, "numbers are dense");
                known += 1;
            }
            assert!(number < known, "{number}");
            assert!(told.links.iter().all(|(to, _)| u64::from(to.0) < known));
            assert!(told.links.len() >= 5 || number < 5, "{number}");
        }
        assert_eq!(known, 1000);
    }
}
