//! The gain of searchers when the score of a page for a word is corrected.
//!
//! ΔQ_A of Pandey & Olston (2005), §5.1, for one query of frequency 1. A page that moves from
//! rank r1 to r2 changes its own attention by I(r2) − I(r1). Every page in between moves by one
//! rank. Let s be the new, true score of the page and F⁻¹(r) the score at rank r. Both effects
//! together are a sum over the passed pages:
//!
//! - down: Σ_{r1 < r ≤ r2} (I(r−1) − I(r)) · (F⁻¹(r) − s),
//! - up: Σ_{r2 ≤ r < r1} (I(r) − I(r+1)) · (s − F⁻¹(r)).
//!
//! This form avoids the cancellation of large numbers.
//!
//! **Invariant:** the gain is never negative. The scores of the other pages are taken as true, so
//! pages passed on the way down are better, and pages passed on the way up are worse. A move of at
//! most one rank inside the list passes no page.
//!
//! A page that enters a list of n pages starts behind it. The pages that it passes move down,
//! the last to rank n + 1, and it gains its own attention in full. A page that leaves the list
//! is one of its n pages and has no true score. It gains nothing, and the pages behind it move
//! up.

use super::score_rank::{LogRank, RankCurve, RankPiece};
use super::{Attention, ScoreRank};

/// A move over at most this number of ranks is summed rank by rank.
const SUMMED: u32 = 4;

/// In a longer move, up to [`SUMMED`] ranks are summed rank by rank if they lie before this rank.
/// The sum over the other ranks is approximated by an integral.
///
/// The integral is off by less than 0.3 % from rank 5 on, and by less than 0.03 % from this rank
/// on, if scores fall no faster than 1/r.
const FRONT: f64 = 16.0;

/// Returns ΔQ_A of a page whose score for a word changes from `before` to `after`, with this
/// attention of searchers.
///
/// A score is zero if the page does not have the word. `list` holds the results of the word,
/// with the page as it was.
pub fn gain(attention: Attention, list: &ScoreRank, before: f64, after: f64) -> f64 {
    if before == after {
        return 0.0;
    }
    let list = &AttentiveList {
        curve: list.curve(),
        attention,
    };
    // The page itself is in the list, so its rank is at most the last.
    let last = list.curve.last;
    let inside = |score| list.curve.rank(score).min(last.max(1.0));
    match (before > 0.0, after > 0.0) {
        (false, false) => 0.0,
        (false, true) => {
            let end = last + 1.0;
            up(list, end, list.curve.rank(after), after) + attention.at(end) * after
        }
        (true, false) => down(list, inside(before), last, 0.0),
        (true, true) => {
            let (old, new) = (inside(before), inside(after));
            if (old - new).abs() <= 1.0 && new > 1.0 && new < last {
                // The page passes no other page. This is not certain at the ends of the list,
                // where the score of the page can differ from that of its rank.
                0.0
            } else if old < new {
                down(list, old, new, after)
            } else {
                up(list, old, new, after)
            }
        }
    }
}

/// The results of a word, and the attention of searchers by rank.
struct AttentiveList {
    curve: RankCurve,
    attention: Attention,
}

impl AttentiveList {
    /// Returns ∫_u^∞ of θ · x^(−θ−1) · e^log · (x + aside)^(−fall) dx, to first order in `aside`,
    /// with the exponent θ of attention.
    fn antiderivative(&self, piece: &RankPiece, u: LogRank, aside: f64) -> f64 {
        let (fall, exponent) = (piece.fall, self.attention.exponent());
        let score = (piece.log - fall * u.log).exp();
        let near = 1.0 / (exponent + fall) - aside * fall / (u.rank * (exponent + 1.0 + fall));
        exponent * self.attention.at(u.rank) * score * near
    }
}

/// Returns the gain of a move down by a page of this score.
fn down(list: &AttentiveList, from: f64, to: f64, score: f64) -> f64 {
    let mut sum = 0.0;
    let at = one_by_one(from, to, |at, next| {
        sum += list.attention.between(at, next) * (list.curve.score(next) - score).max(0.0);
    });
    let others = || others(list, at, to, 0.5) - list.attention.between(at, to) * score;
    sum + if at < to { others().max(0.0) } else { 0.0 }
}

/// Returns the gain of a move up by a page of this score.
fn up(list: &AttentiveList, from: f64, to: f64, score: f64) -> f64 {
    let mut sum = 0.0;
    let at = one_by_one(to, from, |at, next| {
        sum += list.attention.between(at, next) * (score - list.curve.score(at)).max(0.0);
    });
    let others = || list.attention.between(at, from) * score - others(list, at, from, -0.5);
    sum + if at < from { others().max(0.0) } else { 0.0 }
}

/// Steps through up to [`SUMMED`] ranks, if the whole move is that short or the rank is before
/// [`FRONT`]. Returns the rank that it reached.
fn one_by_one(from: f64, to: f64, mut step: impl FnMut(f64, f64)) -> f64 {
    let few = to - from <= f64::from(SUMMED);
    let mut at = from;
    for _ in 0..SUMMED {
        if at >= to || !few && at >= FRONT {
            break;
        }
        let next = (at + 1.0).min(to);
        step(at, next);
        at = next;
    }
    at
}

/// Returns the sum over ranks r of (I(r) − I(r+1)) · F⁻¹(r + ½ + aside), as an integral.
///
/// The sum over whole ranks from i to j is close to the integral from i − ½ to j + ½, here of
/// θ · u^(−θ−1) · F⁻¹(u + aside) with u = r + ½ and the exponent θ of attention. In a piece F⁻¹ is
/// a power of the rank, so the integral has a closed form. `aside` enters to first order, which
/// suffices where half a rank is small.
fn others(list: &AttentiveList, from: f64, to: f64, aside: f64) -> f64 {
    let (from, to) = (LogRank::of(from), LogRank::of(to));
    let mut sum = 0.0;
    let mut last = 0.0;
    for piece in list.curve.pieces() {
        let (low, high) = (piece.from.max(from), piece.to.min(to));
        if low.rank < high.rank {
            sum +=
                list.antiderivative(&piece, low, aside) - list.antiderivative(&piece, high, aside);
        }
        last = piece.to.rank;
    }
    // Behind the last page there is at most the page that enters.
    let low = from.rank.max(last);
    if low < to.rank {
        sum += list.attention.between(low, to.rank) * list.curve.score(last);
    }
    sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{ScoredQuery, exact::usefulness};
    use super::*;

    const PUBLISHED: Attention = Attention::PUBLISHED;

    fn gain(list: &ScoreRank, before: f64, after: f64) -> f64 {
        super::gain(PUBLISHED, list, before, after)
    }

    /// Returns a list of exactly three pieces, whose scores at whole ranks equal F.
    fn ideal(pages: u32, falls: [f64; 3]) -> (ScoreRank, Vec<f64>) {
        let step = f64::from(pages).ln() / 3.0;
        let mut scores: Vec<f32> = (1..=pages)
            .map(|rank| {
                let log = f64::from(rank).ln();
                let part = |k: usize| (log - step * k as f64).clamp(0.0, step) * falls[k];
                (3.0 - part(0) - part(1) - part(2)).exp() as f32
            })
            .collect();
        let exact = scores.iter().map(|&score| f64::from(score)).collect();
        (ScoreRank::of(&mut scores), exact)
    }

    /// Returns the gain of one page's move, from complete lists.
    fn brute(scores: &[f64], page: usize, after: f64) -> f64 {
        let named = |scores: &[f64]| -> Vec<(u32, f64)> {
            (0..)
                .zip(scores)
                .map(|(page, &score)| (page, score))
                .collect()
        };
        let mut live = scores.to_vec();
        live[page] = after;
        let (live, before) = (named(&live), named(scores));
        let asked = |ours| ScoredQuery {
            frequency: 1.0,
            live: &live,
            ours,
        };
        usefulness(&asked(&live)) - usefulness(&asked(&before))
    }

    #[test]
    fn correcting_each_discrepancy_of_table_1_gains() {
        let (list, scores) = ideal(27, [0.3, 0.5, 0.8]);
        let (best, worst) = (scores[0] * 2.0, scores[26] / 2.0);
        // An increased score, a decreased one, a new page, a page that is gone.
        for (before, after) in [
            (scores[20], best),
            (scores[1], worst),
            (0.0, best),
            (scores[1], 0.0),
        ] {
            assert!(gain(&list, before, after) > 0.01, "{before} to {after}");
        }
        // A new page at the end of the list gains less than one at the top.
        assert!(gain(&list, 0.0, worst) < gain(&list, 0.0, best) / 10.0);
        assert!(gain(&list, scores[26], 0.0) < 1e-9, "no page is behind it");
        assert_eq!(gain(&list, scores[3], scores[3]), 0.0);
        assert_eq!(gain(&list, 0.0, 0.0), 0.0);
    }

    #[test]
    fn gains_in_an_empty_list_and_a_list_of_one_are_exact() {
        // No other page has the word, so the page is the first and only one.
        assert_eq!(gain(&ScoreRank::EMPTY, 0.0, 2.0), 2.0);
        assert_eq!(gain(&ScoreRank::EMPTY, 2.0, 0.0), 0.0);
        assert_eq!(gain(&ScoreRank::EMPTY, 2.0, 1.0), 0.0);
        let one = ScoreRank::of(&mut [3.0]);
        assert_eq!(gain(&one, 3.0, 1.0), 0.0, "it stays the only one");
        assert_eq!(gain(&one, 3.0, 0.0), 0.0);
        let second = PUBLISHED.at(2.0);
        assert!((gain(&one, 0.0, 1.0) - second).abs() < 1e-9);
        let passed = (1.0 - second) * (5.0 - 3.0) + second * 5.0;
        assert!((gain(&one, 0.0, 5.0) - passed).abs() < 1e-6);
    }

    #[test]
    fn the_integral_is_near_the_sum() {
        let all = [[0.0; 3], [0.1, 0.2, 0.4], [1.0, 0.5, 0.1], [1.0; 3]];
        for (falls, exponent) in all
            .map(|falls| (falls, 1.5))
            .into_iter()
            .chain([([0.1, 0.2, 0.4], 0.5), ([0.1, 0.2, 0.4], 1.1)])
        {
            let (scores, _) = ideal(20_000, falls);
            let list = AttentiveList {
                curve: scores.curve(),
                attention: Attention { exponent },
            };
            for from in [5u32, 6, 10, 30, 700, 19_000] {
                for to in [from + 1, from + 5, 2 * from, 20_000] {
                    for aside in [0.5, -0.5] {
                        let sum: f64 = (from..to.min(20_000))
                            .map(|rank| {
                                let rank = f64::from(rank);
                                let step = list.attention.between(rank, rank + 1.0);
                                step * scores.score(rank + 0.5 + aside)
                            })
                            .sum();
                        let near = others(&list, from.into(), to.min(20_000).into(), aside);
                        assert!(
                            (near / sum - 1.0).abs() < 0.003,
                            "{falls:?} {exponent} {from}..{to} {aside}: {near} {sum}"
                        );
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn gains_are_near_those_of_whole_lists(
            root in 1u32..8,
            falls in [0.01f64..1.5, 0.01f64..1.5, 0.01f64..1.5],
            old in 0.0f64..1.0,
            new in 0.0f64..1.0,
            kind in 0..3,
        ) {
            // The knots of these lists are at whole ranks.
            let pages = root.pow(3);
            let (list, mut scores) = ideal(pages, falls);
            let place = |at: f64| ((f64::from(pages).powf(at)) as usize).clamp(1, pages as usize) - 1;
            let (old, new) = (place(old), place(new));
            // Slightly beyond the score at this rank, so that the page passes it.
            let past = if new > old { scores[new] * (1.0 - 1e-9) } else { scores[new] * (1.0 + 1e-9) };
            let (estimate, exact) = match kind {
                0 => (gain(&list, scores[old], past), brute(&scores, old, past)),
                1 => (gain(&list, scores[old], 0.0), brute(&scores, old, 0.0)),
                _ => {
                    scores.push(0.0);
                    let after = scores[new] * (1.0 + 1e-9);
                    (gain(&list, 0.0, after), brute(&scores, pages as usize, after))
                }
            };
            // Allows for the 32-bit logarithm of a rank near the top of a steep list, and 0.3 %
            // of the integral.
            prop_assert!((estimate - exact).abs() <= 0.01 * exact + 1e-4, "{estimate} is not {exact}");
        }

        #[test]
        fn gains_are_never_negative_and_bounded(
            scores in prop::collection::vec(0.01f32..20.0, 0..60),
            before in 0.0f64..25.0,
            after in 0.0f64..25.0,
        ) {
            let list = ScoreRank::of(&mut scores.clone());
            let gained = gain(&list, before, after);
            prop_assert!(gained >= 0.0 && gained.is_finite());
            // No more than all attention at the best score.
            prop_assert!(gained <= 20f64.max(after) * 1.01);
        }
    }
}
