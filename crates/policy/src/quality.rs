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

mod attention;
pub mod exact;
mod gain;
mod score_rank;

pub use attention::{Attention, RankClicks};
pub use exact::{ScoredQuery, quality};
pub use gain::gain;
pub use score_rank::ScoreRank;
