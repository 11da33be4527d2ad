//! Description of a query log.

use super::WorldDescription;
use super::distribution::{mean, ranked, top_share};
use crate::world::Queries;

pub(super) fn describe(queries: &Queries, description: &mut WorldDescription) {
    let mut counts: Vec<(&str, u64)> = Vec::new();
    for (query, count) in &queries.queries {
        counts.push((query, u64::from(*count)));
    }
    // Rows with the same query count as one query.
    counts.sort_unstable();
    let same = counts.chunk_by(|(one, _), (other, _)| one == other);
    let different: Vec<(&str, u64)> = same
        .filter_map(|rows| Some((rows.first()?.0, rows.iter().map(|(_, count)| count).sum())))
        .collect();
    let counts: Vec<u64> = different.iter().map(|(_, count)| *count).collect();
    description.count("queries", different.len());
    description.number("asked", queries.total() as f64);
    description.number("asked@top", top_share(&counts));
    let words = different
        .iter()
        .map(|(query, _)| query.split_whitespace().count() as f64);
    description.number("words@mean", mean(&words.collect::<Vec<f64>>()));
    description.draw(
        "queries",
        [
            "Query frequencies",
            "rank of the query, log10",
            "how often, log10",
        ],
        vec![("queries", ranked(&counts))],
    );
}
