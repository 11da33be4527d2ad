//! How good is a repository for those who search it, and what was a change of it worth to them?
//!
//! Pandey & Olston, "User-centric web crawling" (WWW 2005). A page is worth to a searcher what the score of
//! its *live* copy says, times how likely it is looked at; the repository only decides in which order pages
//! are shown. [`exact`] has that quality in full, for lists that are at hand; [`gain`](gain()) what one page's
//! new score changes, from a [`ScoreRank`] of 20 bytes instead of the list.
//!
//! **Invariant:** attention never grows with rank, so nothing beats the order by live scores: quality is at
//! most 1, and putting the true score of a page in place of an old one never costs anything.

pub mod exact;
mod gain;
mod score_rank;

pub use exact::{Asked, quality};
pub use gain::gain;
pub use score_rank::ScoreRank;

/// How likely a searcher looks at the result of this rank, relative to the first: r^(−3/2).
///
/// Equation 2 of the paper, from logs of AltaVista. Ranks are from 1, and need not be whole where they are
/// estimates; what is in no list has the rank infinity and is not looked at.
pub fn attention(rank: f64) -> f64 {
    // Not powf: this is called for every word of every page that changes.
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
