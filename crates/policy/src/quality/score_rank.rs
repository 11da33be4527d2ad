//! An approximation of the score-to-rank function of a word's results, in 20 bytes.
//!
//! The function F_q of Pandey & Olston (2005), §5.1.2. It is linear on a log–log scale, in three
//! pieces of equal length in log rank, so that the first ranks are the most precise.
//!
//! **Invariant:** scores never grow with rank, so F and its inverse are both well defined.

use std::cmp::Reverse;

/// Number of pieces of the function, as in the paper.
const PIECES: usize = 3;

/// Maps scores to ranks and ranks to scores for the results of a word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreRank {
    /// Number of results.
    pages: u32,
    /// Logarithms of the scores at the ranks pages^(k/3).
    logs: [f32; PIECES + 1],
}

const _: () = assert!(size_of::<ScoreRank>() == 20, "the paper's 20 bytes");

impl ScoreRank {
    /// A list without results.
    pub const EMPTY: Self = Self {
        pages: 0,
        logs: [0.0; PIECES + 1],
    };

    /// Creates the function from the scores of all results, in any order; reorders them.
    ///
    /// Values that are not finite and above zero are ignored. Runs in linear time, because it
    /// selects instead of sorting.
    pub fn of(scores: &mut [f32]) -> Self {
        let count = results_first(scores);
        let scores = &mut scores[..count];
        if scores.is_empty() {
            return Self::EMPTY;
        }
        let pages = u32::try_from(count).unwrap_or(u32::MAX);
        let step = f64::from(pages).ln() / PIECES as f64;
        let mut logs = [0.0; PIECES + 1];
        let mut end = count;
        // Starts with the last knot: the earlier ones lie in the part that the selection moved
        // to the front.
        for knot in (0..=PIECES).rev() {
            let rank = (step * knot as f64).exp().clamp(1.0, count as f64);
            // Rounds a rank that is nearly whole, such as the cube root of 8.
            let near = rank.round();
            let rank = if (rank - near).abs() < 1e-9 * rank {
                near
            } else {
                rank
            };
            let (above, below) = (rank.floor(), rank.ceil());
            let low = select(scores, &mut end, below as usize - 1);
            let high = select(scores, &mut end, above as usize - 1);
            let share = if below > above {
                (rank / above).ln() / (below / above).ln()
            } else {
                0.0
            };
            logs[knot] = (high.ln() + (low.ln() - high.ln()) * share) as f32;
        }
        Self { pages, logs }
    }

    /// Returns the number of results.
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// Returns the rank of a page with this score.
    ///
    /// It is 1 for a score above all others, and one more than the number of results for a score
    /// below all others. Among equal scores it is the middle in log rank. The rank of a score of
    /// zero is infinite.
    pub fn rank(&self, score: f64) -> f64 {
        self.curve().rank(score)
    }

    /// Returns the score of the page at this rank. Beyond the list it is the score of the last
    /// page, and at infinity it is 0.
    pub fn score(&self, rank: f64) -> f64 {
        self.curve().score(rank)
    }

    /// Prepares the function for frequent evaluation.
    pub(super) fn curve(&self) -> RankCurve {
        let last = f64::from(self.pages);
        let step = last.ln() / PIECES as f64;
        let root = step.exp();
        RankCurve {
            last,
            step,
            ranks: [1.0, root, root * root, last],
            logs: self.logs,
        }
    }
}

/// A [`ScoreRank`] with precomputed logarithms, which dominate the cost of an evaluation.
#[derive(Debug, Clone, Copy)]
pub(super) struct RankCurve {
    /// Number of results, which is the last rank.
    pub(super) last: f64,
    /// Length of a piece in log rank.
    step: f64,
    /// Ranks of the knots.
    ranks: [f64; PIECES + 1],
    /// Logarithms of their scores.
    logs: [f32; PIECES + 1],
}

impl RankCurve {
    /// See [`ScoreRank::rank`].
    pub(super) fn rank(&self, score: f64) -> f64 {
        if score.is_nan() || score <= 0.0 {
            return f64::INFINITY;
        }
        let log = score.ln() as f32;
        let Some(first) = self.logs.iter().position(|&knot| knot <= log) else {
            return self.last + 1.0;
        };
        if self.last == 0.0 {
            return 1.0;
        }
        let at = if self.logs[first] == log {
            let equal = self.logs[first..].iter().take_while(|&&knot| knot == log);
            first as f64 + (equal.count() - 1) as f64 / 2.0
        } else if first == 0 {
            0.0
        } else {
            let (high, low) = (self.logs[first - 1], self.logs[first]);
            (first - 1) as f64 + f64::from(high - log) / f64::from(high - low)
        };
        (at * self.step).exp()
    }

    /// See [`ScoreRank::score`].
    pub(super) fn score(&self, rank: f64) -> f64 {
        if self.last == 0.0 || rank == f64::INFINITY {
            return 0.0;
        }
        let at = if rank <= 1.0 || self.step == 0.0 {
            0.0
        } else if rank >= self.last {
            PIECES as f64
        } else {
            rank.ln() / self.step
        };
        let piece = (at as usize).min(PIECES - 1);
        let (high, low) = self.ends(piece);
        (high + (low - high) * (at - piece as f64)).exp()
    }

    /// Returns the pieces, from the first.
    pub(super) fn pieces(&self) -> impl Iterator<Item = RankPiece> + '_ {
        (0..PIECES).map(|piece| {
            let (high, low) = self.ends(piece);
            let place = |knot: usize| LogRank {
                rank: self.ranks[knot],
                log: self.step * knot as f64,
            };
            let fall = if self.step > 0.0 {
                (high - low) / self.step
            } else {
                0.0
            };
            RankPiece {
                from: place(piece),
                to: place(piece + 1),
                log: high + fall * self.step * piece as f64,
                fall,
            }
        })
    }

    fn ends(&self, piece: usize) -> (f64, f64) {
        (f64::from(self.logs[piece]), f64::from(self.logs[piece + 1]))
    }
}

/// A rank and its logarithm.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogRank {
    pub(super) rank: f64,
    pub(super) log: f64,
}

impl LogRank {
    pub(super) fn of(rank: f64) -> Self {
        Self {
            rank,
            log: rank.ln(),
        }
    }

    /// Returns the larger rank.
    pub(super) fn max(self, other: Self) -> Self {
        if other.rank > self.rank { other } else { self }
    }

    /// Returns the smaller rank.
    pub(super) fn min(self, other: Self) -> Self {
        if other.rank < self.rank { other } else { self }
    }
}

/// A piece of the function: between two ranks, the score of rank r is exp(log) · r^(−fall).
#[derive(Debug, Clone, Copy)]
pub(super) struct RankPiece {
    pub(super) from: LogRank,
    pub(super) to: LogRank,
    pub(super) log: f64,
    pub(super) fall: f64,
}

/// Moves all valid scores to the front. Returns their number.
fn results_first(scores: &mut [f32]) -> usize {
    let mut count = 0;
    for at in 0..scores.len() {
        if scores[at] > 0.0 && scores[at].is_finite() {
            scores.swap(count, at);
            count += 1;
        }
    }
    count
}

/// Returns the score that would be at `place` if the scores were sorted, the largest first.
///
/// `end` is the smallest place of all calls so far, at first the number of scores. The larger
/// scores are before it, in any order, so a smaller place is searched only there. Any other place
/// must have been asked for before.
fn select(scores: &mut [f32], end: &mut usize, place: usize) -> f64 {
    if place < *end {
        let front = &mut scores[..*end];
        // The bits of positive floats are ordered like the floats, and faster to compare.
        front.select_nth_unstable_by_key(place, |score| Reverse(score.to_bits()));
        *end = place;
    }
    f64::from(scores[place])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn scores_and_ranks_at_the_knots_are_exact() {
        // Ranks 1, 2, 4 and 8 are the knots of eight pages.
        let mut scores = [3.0, 16.0, 0.0, 4.0, 4.0, 8.0, 2.0, f32::NAN, 3.5, 1.0];
        let list = ScoreRank::of(&mut scores);
        assert_eq!(list.pages(), 8);
        for (rank, score) in [(1.0, 16.0), (2.0, 8.0), (4.0, 4.0), (8.0, 1.0)] {
            assert!((list.score(rank) - score).abs() < 1e-5, "{rank}");
            assert!((list.rank(score) - rank).abs() < 1e-5, "{score}");
        }
        for (score, rank) in [
            (99.0, 1.0),
            (0.5, 9.0),
            (0.0, f64::INFINITY),
            (-1.0, f64::INFINITY),
            (2.0, 32f64.sqrt()),
        ] {
            let found = list.rank(score);
            assert!(
                found == rank || (found - rank).abs() < 1e-5,
                "{score}: {found}"
            );
        }
        for (rank, score) in [(0.5, 16.0), (100.0, 1.0), (f64::INFINITY, 0.0)] {
            assert!((list.score(rank) - score).abs() < 1e-5, "{rank}");
        }
    }

    #[test]
    fn short_and_flat_lists_have_ranks_and_scores() {
        assert_eq!(ScoreRank::of(&mut []), ScoreRank::EMPTY);
        assert_eq!(ScoreRank::of(&mut [0.0, -1.0]), ScoreRank::EMPTY);
        assert_eq!(ScoreRank::EMPTY.rank(3.0), 1.0);
        assert_eq!(ScoreRank::EMPTY.score(1.0), 0.0);
        let one = ScoreRank::of(&mut [2.0]);
        assert_eq!(
            (one.rank(5.0), one.rank(2.0), one.rank(1.0)),
            (1.0, 1.0, 2.0)
        );
        assert!((one.score(1.0) - 2.0).abs() < 1e-6);
        let flat = ScoreRank::of(&mut [2.0; 100]);
        assert!(
            (flat.rank(f64::from(2f32.ln().exp())) - 10.0).abs() < 1e-4,
            "the middle in log rank"
        );
        assert_eq!((flat.rank(2.1), flat.rank(1.9)), (1.0, 101.0));
        assert!((flat.score(37.0) - 2.0).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn rank_and_score_are_inverse_and_monotone(
            scores in prop::collection::vec(0.01f32..50.0, 2..300),
            at in 0.0f64..1.0,
        ) {
            let list = ScoreRank::of(&mut scores.clone());
            let rank = (at * f64::from(list.pages()).ln()).exp();
            let score = list.score(rank);
            prop_assert!(list.score(rank * 1.1) <= score);
            prop_assert!(list.rank(score * 1.01) <= list.rank(score));
            prop_assert!(list.rank(score) >= 1.0 && list.rank(score) <= f64::from(list.pages()) + 1.0);
            // Ranks are uncertain where the list is flat.
            if list.score(rank * 0.9) > score * 1.01 && list.score(rank * 1.1) < score / 1.01 {
                prop_assert!((list.rank(score) / rank - 1.0).abs() < 0.01);
            }
        }

        #[test]
        fn the_order_of_scores_does_not_matter(scores in prop::collection::vec(-1.0f32..50.0, 0..200)) {
            let mut sorted = scores.clone();
            sorted.sort_by(|a, b| b.total_cmp(a));
            prop_assert_eq!(ScoreRank::of(&mut sorted), ScoreRank::of(&mut scores.clone()));
        }
    }
}
