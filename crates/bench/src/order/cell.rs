//! Measures the cost of a decision with one ordering and one strategy, at one size.
//!
//! **Invariant:** time is CPU time of the one thread that works, without other load of the machine.
//! Deciding and reading are timed separately, in alternation, so that each finds the caches as the
//! other left them.

use std::time::Duration;

use anyhow::{Result, ensure};
use frontier::Frontier;
use frontier::bench::Manners;
use policy::catalog::Catalog;
use policy::{Crawl, History, Moment, Number, Page, Policy, Price};
use serde::{Deserialize, Serialize};

use super::OrderCell;
use super::visits::Visits;
use super::world::OrderWorld;
use crate::machine::{resident, thread_time};
use crate::report::per_second;
use crate::urls::scramble;

/// Pages settled in the measurement. As many are settled before it, to warm up.
const SETTLED: u64 = 100_000;
/// Pages between two reads of the clock; enough to make the cost of these reads negligible.
const TURN: u64 = 100;
/// Evaluations of worth and due time per settled page.
const EVALUATIONS: u64 = 20;

/// The result of the measurement.
#[derive(Debug, Serialize, Deserialize)]
pub struct CellCost {
    /// Pages settled.
    pub settled: u64,
    /// Pages claimed and settled per second.
    pub decisions: f64,
    /// The same, with the reading of each page: 20 links, of which 4 are new.
    pub with_links: f64,
    /// Evaluations of worth and due time per second.
    pub evaluations: f64,
    /// Memory of the process with the full frontier, in bytes.
    pub memory: u64,
}

/// Measures in this process, and prints the result.
pub fn run(cell: &OrderCell) -> Result<()> {
    println!("{}", serde_json::to_string(&measure(cell, SETTLED)?)?);
    Ok(())
}

/// Measures `settled` decisions.
pub fn measure(cell: &OrderCell, settled: u64) -> Result<CellCost> {
    let policy = Crawl {
        order: super::ordering(&cell.order, cell.servers)?,
        ..Crawl::default()
    };
    let strategy = Catalog::standard().servers(&cell.strategy)?;
    // No limit per host: the largest hosts of the Zipf distribution are part of the measurement.
    let manners = Manners {
        pages_per_host: u32::MAX,
        ..Manners::default()
    };
    let mut frontier = Frontier::new(policy, strategy, Price::LEAST, manners, 0x5eed);
    let mut world = OrderWorld::new(cell.servers);
    let mut now = Moment::from_micros(1_700_000_000_000_000);
    world.fill(&mut frontier, cell.urls, now)?;
    let memory = resident();
    let mut visits = Visits::default();
    // Warm-up: afterwards worths differ, and servers have estimates of their speed.
    turns(&mut frontier, &mut world, &mut visits, settled, &mut now)?;
    let took = turns(&mut frontier, &mut world, &mut visits, settled, &mut now)?;
    let known = frontier.known() as u64;
    Ok(CellCost {
        settled,
        decisions: per_second(settled, took.deciding.as_secs_f64()),
        with_links: per_second(settled, (took.deciding + took.reading).as_secs_f64()),
        evaluations: evaluations(frontier.policy(), known, settled * EVALUATIONS)?,
        memory,
    })
}

#[derive(Default)]
struct Took {
    deciding: Duration,
    reading: Duration,
}

/// Settles and reads `settled` pages, and returns the time of both.
fn turns(
    frontier: &mut Frontier<Crawl>,
    world: &mut OrderWorld,
    visits: &mut Visits,
    settled: u64,
    now: &mut Moment,
) -> Result<Took> {
    let mut took = Took::default();
    let mut left = settled;
    while left > 0 {
        let turn = left.min(TURN);
        let mut contents = Vec::new();
        for _ in 0..turn {
            contents.push(world.prepare()?);
        }
        let mut pages = Vec::with_capacity(turn as usize);
        let began = thread_time();
        for _ in 0..turn {
            *now = *now + Duration::from_micros(1);
            pages.extend(visits.decide(frontier, *now));
        }
        let decided = thread_time();
        for (page, content) in pages.iter().zip(&contents) {
            world.read(frontier, *page, content, *now);
        }
        took.deciding += decided - began;
        took.reading += thread_time() - decided;
        ensure!(pages.len() as u64 == turn, "the frontier has no page left");
        left -= turn;
    }
    Ok(took)
}

/// Evaluates worth and due time `count` times, on pages in random order. Returns the evaluations
/// per second.
fn evaluations(policy: &Crawl, known: u64, count: u64) -> Result<f64> {
    let now = Moment::from_micros(1_800_000_000_000_000);
    let began = thread_time();
    let mut paid = 0;
    for turn in 0..count {
        let history = History::discovered(now, 1 + turn as u16 % 8);
        let page = Page {
            number: Number((scramble(turn) % known) as u32),
            history: &history,
        };
        let due = policy.due(page, Price::LEAST);
        paid += u64::from(policy.worth(page, now).pays(Price::LEAST) && due.is_some());
    }
    let took = thread_time() - began;
    ensure!(paid > 0, "no page is worth a fetch");
    Ok(per_second(count, took.as_secs_f64()))
}
