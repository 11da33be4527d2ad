//! Tests that a policy is in the same state after a read in parts as after a whole read.

use std::time::Duration;

use super::needs::{FactSequence, Named, drawn, with_sources};
use super::policies;
use super::sources::story;
use super::world::world;
use crate::{Fact, Moment, Moves, Page, Policy, Worth};

/// A policy that observes every read in parts of `size` links.
struct SplitReads<'p> {
    policy: &'p mut dyn Policy,
    size: usize,
}

impl Policy for SplitReads<'_> {
    fn observe(&mut self, fact: &Fact<'_>, moves: &mut Moves) {
        let Fact::Read(read) = fact else {
            return self.policy.observe(fact, moves);
        };
        for part in read.in_parts(self.size) {
            self.policy.observe(&Fact::Read(part), moves);
        }
    }

    fn worth(&self, page: Page<'_>, now: Moment) -> Worth {
        self.policy.worth(page, now)
    }
}

/// Returns the worths and the importance of all pages.
fn values(sequence: &dyn FactSequence, policy: &dyn Policy) -> Vec<f64> {
    let of_page = |(number, history)| {
        let history = &history;
        let page = Page { number, history };
        let last = history.asked.unwrap_or(history.discovered);
        let worths = [0, 24, 240].map(|hours| {
            let now = last + Duration::from_secs(hours * 3_600);
            policy.worth(page, now).value()
        });
        let importance = policy.importance(page).value();
        worths.into_iter().chain([importance])
    };
    sequence.pages().into_iter().flat_map(of_page).collect()
}

/// Returns the largest relative difference of two values that are equal up to rounding, or, for
/// worths from `estimate/flow.rs`, up to what each part announces.
fn tolerance(name: &str) -> f64 {
    let is_flow = ["pagerank", "rankmass"]
        .iter()
        .any(|flow| name.contains(flow));
    if is_flow { 2.0 / 128.0 } else { 1e-6 }
}

fn check(sequence: &dyn FactSequence, policies: fn() -> Named) {
    for size in [1, 2] {
        for ((name, mut whole), (_, mut parts)) in policies().into_iter().zip(policies()) {
            sequence.feed(whole.as_mut());
            let policy = parts.as_mut();
            sequence.feed(&mut SplitReads { policy, size });
            let whole = values(sequence, whole.as_ref());
            let parts = values(sequence, parts.as_ref());
            for (whole, parts) in whole.iter().zip(&parts) {
                let most = tolerance(&name) * whole.max(*parts);
                assert!((whole - parts).abs() <= most, "{name}: {parts} was {whole}");
            }
        }
    }
}

#[test]
fn orderings_and_refresh_policies_are_the_same_after_reads_in_parts() {
    for world in drawn(world(), 60) {
        check(&world, policies);
    }
}

#[test]
fn schedulers_are_the_same_after_reads_in_parts() {
    for story in drawn(story(), 12) {
        check(&story, with_sources);
    }
}
