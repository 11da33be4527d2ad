//! Simulates clusters: two to four nodes in one thread, with the real agent, publisher and core, on
//! a model of the broker. Faults are drawn from a seed.
//!
//! `AVOCET_SEED=7 AVOCET_SEEDS=1 cargo test -p cluster --test simulation` runs seed 7 alone.
//! `AVOCET_TRACE=1` prints faults, terms and requests.

mod disk;
mod invariants;
mod model;
mod node;
#[path = "../../../crawl/tests/simulation/random.rs"]
#[expect(
    dead_code,
    reason = "the simulation of the core draws more than this one"
)]
mod random;
mod web;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

use world::{ClusterOutcome, SimCluster};

/// Number of seeds, unless the environment sets another.
const SEEDS: u64 = 2000;

/// Seeds above [`SEEDS`] that found faults, which are mended: a node that had been cut off replaced
/// one that had started meanwhile (4913); a claim arrived after the slot's owner had come back to
/// life (11899, 23088); a node claimed a slot before any heartbeat of it was acknowledged, and
/// another one, which had not heard it yet, replaced it at once (74282, 93152).
const FOUND: [u64; 5] = [4_913, 11_899, 23_088, 74_282, 93_152];

fn number(name: &str, usual: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.map_or(usual, |value| value.parse().expect("a number"))
}

fn simulate(seed: u64) -> ClusterOutcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async { SimCluster::draw(seed).run().await })
}

#[test]
fn a_cluster_with_faults_keeps_all_invariants() {
    let first = number("AVOCET_SEED", 0);
    let seeds = first..first + number("AVOCET_SEEDS", SEEDS);
    let found = FOUND.into_iter().filter(|_| first == 0);
    let (mut whole, mut failed) = (ClusterOutcome::default(), Vec::new());
    for seed in seeds.chain(found) {
        let run = || {
            let outcome = simulate(seed);
            let again = seed % 64 == 0;
            assert!(!again || simulate(seed) == outcome, "another run differs");
            outcome
        };
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(outcome) => {
                whole.fetches += outcome.fetches;
                whole.repeats += outcome.repeats;
                whole.terms += outcome.terms;
                whole.messages += outcome.messages;
            }
            Err(_) => failed.push(seed),
        }
    }
    println!("{whole:?}");
    if let Some(seed) = failed.first() {
        panic!(
            "{} simulations fail, with the seeds {failed:?}. To repeat one: AVOCET_SEED={seed} AVOCET_SEEDS=1 cargo test -p cluster --test simulation",
            failed.len()
        );
    }
}
