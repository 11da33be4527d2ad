//! What does a decision cost with one ordering and one strategy, at one size?
//!
//! **Invariant:** time is CPU time of the one thread that works, so whoever else is on the machine is not
//! in it; deciding, reading and evaluating are timed apart, in turns, so that each finds the caches as the
//! others left them.

use std::time::Duration;

use anyhow::{Result, ensure};
use frontier::Frontier;
use frontier::bench::Manners;
use policy::catalog::Catalog;
use policy::{Crawl, History, Moment, Number, Page, Policy, Price};
use serde::{Deserialize, Serialize};

use super::visits::Visits;
use super::world::World;
use crate::cli::OrderCell;
use crate::machine::{resident, thread_time};
use crate::urls::scramble;

/// Pages settled while it is measured; as many again go before it.
const SETTLED: u64 = 100_000;
/// Pages between two looks at the clock: so many that the looks cost nothing.
const TURN: u64 = 100;
/// Evaluations of worth and due.
const EVALUATIONS: u64 = 2_000_000;

/// What was measured.
#[derive(Debug, Serialize, Deserialize)]
pub struct Measured {
    /// Pages settled.
    pub settled: u64,
    /// Pages claimed and settled in a second.
    pub decisions: f64,
    /// The same, with four new links heard and twenty links read for each.
    pub with_links: f64,
    /// Worth and due of a page, in a second.
    pub evaluations: f64,
    /// Memory of the process with everything queued, in bytes.
    pub memory: u64,
}

/// Measures here, and prints it.
pub fn run(cell: &OrderCell) -> Result<()> {
    println!("{}", serde_json::to_string(&measure(cell, SETTLED)?)?);
    Ok(())
}

/// Measures so many decisions.
pub fn measure(cell: &OrderCell, settled: u64) -> Result<Measured> {
    let policy = Crawl {
        order: super::ordering(&cell.order, cell.servers)?,
        ..Crawl::default()
    };
    let strategy = Catalog::standard().servers(&cell.strategy)?;
    // No host is large enough to be left alone: the head of Zipf's law is what is measured here.
    let manners = Manners {
        pages_per_host: u32::MAX,
        ..Manners::default()
    };
    let mut frontier = Frontier::new(policy, strategy, Price::LEAST, manners, 0x5eed);
    let mut world = World::new(cell.servers);
    let mut now = Moment::from_micros(1_700_000_000_000_000);
    world.fill(&mut frontier, cell.urls, now)?;
    let memory = resident();
    let mut visits = Visits::default();
    // So that worths differ and estimates are those of servers that were asked.
    turns(&mut frontier, &mut world, &mut visits, settled, &mut now)?;
    let took = turns(&mut frontier, &mut world, &mut visits, settled, &mut now)?;
    let known = frontier.known() as u64;
    Ok(Measured {
        settled,
        decisions: rate(settled, took.deciding),
        with_links: rate(settled, took.deciding + took.reading),
        evaluations: evaluations(frontier.policy(), known)?,
        memory,
    })
}

#[derive(Default)]
struct Took {
    deciding: Duration,
    reading: Duration,
}

/// Settles so many pages and reads them.
fn turns(
    frontier: &mut Frontier<Crawl>,
    world: &mut World,
    visits: &mut Visits,
    settled: u64,
    now: &mut Moment,
) -> Result<Took> {
    let mut took = Took::default();
    let mut left = settled;
    while left > 0 {
        let turn = left.min(TURN);
        let mut says = Vec::new();
        for _ in 0..turn {
            says.push(world.prepare()?);
        }
        let mut pages = Vec::with_capacity(turn as usize);
        let began = thread_time();
        for _ in 0..turn {
            *now = *now + Duration::from_micros(1);
            pages.extend(visits.decide(frontier, *now));
        }
        let decided = thread_time();
        for (page, says) in pages.iter().zip(&says) {
            world.read(frontier, *page, says, *now);
        }
        took.deciding += decided - began;
        took.reading += thread_time() - decided;
        ensure!(pages.len() as u64 == turn, "the frontier ran dry");
        left -= turn;
    }
    Ok(took)
}

/// How often worth and due can be asked in a second, of pages in no order.
fn evaluations(policy: &Crawl, known: u64) -> Result<f64> {
    let now = Moment::from_micros(1_800_000_000_000_000);
    let began = thread_time();
    let mut paid = 0;
    for turn in 0..EVALUATIONS {
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
    Ok(rate(EVALUATIONS, took))
}

fn rate(count: u64, took: Duration) -> f64 {
    (count as f64 / took.as_secs_f64().max(1e-9)).round()
}
