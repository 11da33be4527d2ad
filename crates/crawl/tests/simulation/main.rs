//! Simulates whole crawls: the core on an invented web, with faults of network and disk drawn
//! from a seed.
//!
//! `AVOCET_SEED=7 AVOCET_SEEDS=1 cargo test -p crawl --test simulation a_crawl_that_ends` runs one
//! test with seed 7 alone. `AVOCET_TRACE=1` prints all events and actions.

/// Fails the simulation unless a condition holds.
macro_rules! check {
    ($holds:expr, $($text:tt)*) => {
        if !$holds {
            panic!("{}", format!($($text)*));
        }
    };
}

mod budget;
mod disk;
mod driver;
mod invariants;
mod network;
mod politeness;
mod random;
mod records;
mod setup;
mod web;

use std::panic::{AssertUnwindSafe, catch_unwind};

use driver::Simulation;
use setup::CrawlKind;

/// Number of seeds of each test, unless the environment sets another.
const SEEDS: u64 = 1000;

fn number(name: &str, usual: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.map_or(usual, |value| value.parse().expect("a number"))
}

/// Runs simulations of a kind. Prints how to repeat those that fail. Runs `found` too: seeds beyond
/// the usual ones that once failed.
fn simulate(test: &str, kind: CrawlKind, found: &[u64]) {
    let first = number("AVOCET_SEED", 0);
    let seeds = first..first + number("AVOCET_SEEDS", SEEDS);
    let seeds = seeds.chain(found.iter().copied());
    let (mut events, mut runs, mut pages) = (0, 0, 0);
    let mut longest_burst = 0;
    let mut failed = Vec::new();
    for seed in seeds {
        // Every 8th seed runs twice: the same events must give the same actions, and a core that
        // is restored from a checkpoint must take the actions of one from the ledger.
        let twice = seed % 8 == 0;
        let simulation = |checkpoints| Simulation::new(kind, seed, twice, checkpoints).run();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let outcome = simulation(false);
            assert!(
                !twice || simulation(true) == outcome,
                "the run from checkpoints has other actions"
            );
            outcome
        }));
        match outcome {
            Ok(outcome) => {
                events += outcome.events;
                runs += outcome.runs;
                pages += outcome.pages;
                longest_burst = longest_burst.max(outcome.longest_burst);
            }
            Err(_) => failed.push(seed),
        }
    }
    println!("{events} events, {runs} runs, {pages} pages");
    let all = number("AVOCET_SEEDS", SEEDS) >= SEEDS;
    assert!(
        !all || longest_burst == u32::from(setup::BURST),
        "no visit made as many requests as it may, but {longest_burst}"
    );
    if let Some(seed) = failed.first() {
        panic!(
            "{} simulations fail, with the seeds {failed:?}. To repeat one: AVOCET_SEED={seed} AVOCET_SEEDS=1 cargo test -p crawl --test simulation {test}",
            failed.len()
        );
    }
}

#[test]
fn a_crawl_that_ends_keeps_all_invariants() {
    // Seed 4287 failed when a host name, after a request on a closed connection, resolved to
    // another server. Seeds 4265 and 6874 failed when a clock had gone back by an hour: the record
    // of the delay lost against an earlier one that was dated later.
    simulate("a_crawl_that_ends", CrawlKind::Once, &[4265, 4287, 6874]);
}

#[test]
fn a_crawl_with_limits_keeps_all_invariants() {
    // Seed 2163 failed for the same reason as seed 4287 above.
    simulate("a_crawl_with_limits", CrawlKind::Limited, &[2163]);
}

#[test]
fn a_crawl_that_refreshes_keeps_all_invariants() {
    simulate("a_crawl_that_refreshes", CrawlKind::Continuous, &[]);
}

#[test]
fn a_crawl_on_two_nodes_keeps_all_invariants() {
    simulate("a_crawl_on_two_nodes", CrawlKind::Split, &[]);
}
