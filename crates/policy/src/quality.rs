//! Repository quality for searchers, and the gain of refreshing a page.
//!
//! Pandey & Olston, "User-centric web crawling" (WWW 2005). The value of a result is the score
//! of its *live* copy times the probability that a searcher looks at it. The repository only
//! decides the order of the results. [`exact`] computes the quality from complete result lists.
//! [`gain`](gain()) computes the effect of one page's new score from a [`ScoreRank`] of 20 bytes
//! instead of the list.
//!
//! **Invariant:** attention never grows with rank, so no order beats the order by live scores.
//! Quality is therefore at most 1. If all other scores are live scores, replacing an old score by
//! the live one never reduces the quality.

pub mod exact;
mod gain;
mod score_rank;

pub use exact::{ScoredQuery, quality};
pub use gain::gain;
pub use score_rank::ScoreRank;

/// Returns the probability that a searcher looks at the result of this rank, relative to the
/// first: r^(−3/2).
///
/// Equation 2 of the paper, from logs of AltaVista. Ranks start at 1; estimated ranks may be
/// fractional. A page in no list has an infinite rank and gets no attention.
pub fn attention(rank: f64) -> f64 {
    // Avoids `powf`, because this runs for every word of every page that changes.
    1.0 / (rank * rank.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attention_falls_with_rank() {
        for (rank, expected) in [
            (1.0, 1.0),
            (4.0, 0.125),
            (100.0, 0.001),
            (f64::INFINITY, 0.0),
        ] {
            assert!((attention(rank) - expected).abs() < 1e-15, "{rank}");
        }
    }
}
