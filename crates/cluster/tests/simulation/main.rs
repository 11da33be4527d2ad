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
mod random;
mod web;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

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
    in_jumping_time(async { SimCluster::draw(seed).run().await })
}

fn in_jumping_time<T>(simulation: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    tokio::task::LocalSet::new().block_on(&runtime, simulation)
}

#[test]
fn two_nodes_divide_the_rate_of_an_address_that_both_request_pages_from() {
    let requests = in_jumping_time(SimCluster::share_an_address());
    let started = requests[0].0;
    // A node learns of the addresses of the other one within the time of some heartbeats.
    let known = started + Duration::from_secs(30);
    let later: Vec<_> = requests.iter().filter(|(at, _)| *at > known).collect();
    let (first, last) = (later[0].0, later[later.len() - 1].0);
    let seconds = (last - first).as_secs_f64();
    let count = later.len() as f64;
    assert!(seconds > 60.0, "{seconds}");
    assert!(count <= seconds + 3.0, "{count} requests in {seconds} s");
    assert!(count >= seconds * 0.8, "{count} requests in {seconds} s");
    for node in 0..2 {
        let own = later.iter().filter(|(_, by)| *by == node).count();
        assert!(own as f64 >= count * 0.4, "node {node}: {own} of {count}");
    }
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
