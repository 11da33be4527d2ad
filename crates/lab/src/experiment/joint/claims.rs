//! Our own claims about one price, judged by paired differences.
//!
//! No paper makes them. Three papers leave the division between discovery and refresh open
//! (docs/science/theory.md, §1).

use super::contestants::{
    BEST_QUOTA, DISCOVERY_FIRST, ONE_PRICE, PER_FETCH, PER_SECOND, RATIO, REFRESH_FIRST,
};
use crate::experiment::PublishedClaim;
use crate::findings::Measured;
use crate::statistics::Mean;

/// Returns all claims that the runs can judge.
pub(super) fn all(runs: &[Vec<Measured>]) -> Vec<PublishedClaim> {
    let claims = [
        claim(
            runs,
            "J1",
            "At every budget one price serves no fewer clicks than the best fixed quota in hindsight.",
            (ONE_PRICE, BEST_QUOTA),
        ),
        claim(
            runs,
            "J2",
            "At every budget one price serves no fewer clicks than WebFountain's optimized ratio of old and new.",
            (ONE_PRICE, RATIO),
        ),
        claim(
            runs,
            "J3",
            "At every budget one price serves no fewer clicks than refresh first.",
            (ONE_PRICE, REFRESH_FIRST),
        ),
        claim(
            runs,
            "J3",
            "At every budget one price serves no fewer clicks than discovery first.",
            (ONE_PRICE, DISCOVERY_FIRST),
        ),
        claim(
            runs,
            "J4",
            "If connections are scarce, a price per second of server time serves more clicks than a price per fetch.",
            (PER_SECOND, PER_FETCH),
        ),
    ];
    claims.into_iter().flatten().collect()
}

fn claim(
    runs: &[Vec<Measured>],
    id: &'static str,
    says: &str,
    (ours, theirs): (&str, &str),
) -> Option<PublishedClaim> {
    let compared = compare(runs, ours, theirs);
    let words: Vec<String> = compared.iter().map(Comparison::words).collect();
    (!compared.is_empty()).then(|| PublishedClaim {
        id,
        says: says.into(),
        published: "ours".into(),
        found: format!(
            "{ours} over {theirs}, served clicks a second: {}",
            words.join("; ")
        ),
        holds: compared.iter().all(|at| at.ratio.value >= 1.0),
    })
}

/// The ratio of two contestants at one budget, run by run.
struct Comparison {
    x: f64,
    ours: f64,
    theirs: f64,
    ratio: Mean,
}

impl Comparison {
    fn words(&self) -> String {
        let Self {
            x,
            ours,
            theirs,
            ratio,
        } = self;
        let interval = ratio
            .interval
            .map(|(low, high)| format!(" [{low:.3}, {high:.3}]"));
        format!(
            "at {x} {ours:.4} and {theirs:.4}, {:.3} times{}",
            ratio.value,
            interval.unwrap_or_default()
        )
    }
}

fn compare(runs: &[Vec<Measured>], ours: &str, theirs: &str) -> Vec<Comparison> {
    let of = |run: &[Measured], name: &str, x: f64| {
        let is_it = |row: &&Measured| row.policy == name && row.metric == "served" && row.x == x;
        run.iter().find(is_it).map(|row| row.value)
    };
    let first = runs.first().map(Vec::as_slice).unwrap_or_default();
    let budgets = first
        .iter()
        .filter(|row| row.policy == ours && row.metric == "served");
    let at = |x: f64| {
        let pairs: Vec<(f64, f64)> = runs
            .iter()
            .filter_map(|run| Some((of(run, ours, x)?, of(run, theirs, x)?)))
            .collect();
        let mean = |values: Vec<f64>| Mean::of(&values);
        (!pairs.is_empty()).then(|| Comparison {
            x,
            ours: mean(pairs.iter().map(|pair| pair.0).collect()).value,
            theirs: mean(pairs.iter().map(|pair| pair.1).collect()).value,
            ratio: mean(pairs.iter().map(|pair| pair.0 / pair.1).collect()),
        })
    };
    budgets.filter_map(|row| at(row.x)).collect()
}
