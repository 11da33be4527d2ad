//! Repository quality from complete result lists.
//!
//! Tests and simulations use it. A crawl does not: the computation is too costly, and a crawl does
//! not know the live scores.
//!
//! **Invariant:** quality is at most 1. It is 1 if every list is in the order of the live scores.

use std::cmp::Ordering;

use super::Attention;

/// A query and its results: pages with their scores, each page once, in any order.
///
/// A page that is not listed, or has no score above zero, is not a result.
#[derive(Debug, Clone, Copy)]
pub struct ScoredQuery<'a> {
    /// How often it is searched for, in any unit that all queries share.
    pub frequency: f64,
    /// Results by the live copies.
    pub live: &'a [(u32, f64)],
    /// Results by the copies in the repository.
    pub ours: &'a [(u32, f64)],
}

/// Returns the repository quality Q(W^L), from 0 to 1. Pandey & Olston (2005), equation 5.
///
/// This is the value of the repository's results to searchers, relative to a repository that
/// equals the web. Results with equal scores are ordered by page number. Returns `None` if no
/// live page matches any query, because quality is then undefined.
pub fn quality(queries: &[ScoredQuery<'_>]) -> Option<f64> {
    let (mut have, mut could) = (0.0, 0.0);
    for asked in queries {
        have += asked.frequency * usefulness(asked);
        could += asked.frequency
            * usefulness(&ScoredQuery {
                ours: asked.live,
                ..*asked
            });
    }
    (could > 0.0).then(|| have / could)
}

/// Returns the value of one query to a searcher: Σ_p I(R(p, ours)) · S(live p). Equation 3,
/// without the frequency.
pub fn usefulness(asked: &ScoredQuery<'_>) -> f64 {
    let mut shown: Vec<(u32, f64)> = asked.ours.iter().copied().filter(is_result).collect();
    shown.sort_by(best_first);
    let mut live: Vec<(u32, f64)> = asked.live.iter().copied().filter(is_result).collect();
    live.sort_by_key(|&(page, _)| page);
    let mut sum = 0.0;
    for (before, (page, _)) in shown.iter().enumerate() {
        if let Ok(at) = live.binary_search_by_key(page, |&(page, _)| page) {
            sum += Attention::PUBLISHED.at(before as f64 + 1.0) * live[at].1;
        }
    }
    sum
}

fn is_result(&(_, score): &(u32, f64)) -> bool {
    score > 0.0
}

fn best_first(a: &(u32, f64), b: &(u32, f64)) -> Ordering {
    b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn one(live: &[(u32, f64)], ours: &[(u32, f64)]) -> Option<f64> {
        quality(&[ScoredQuery {
            frequency: 0.5,
            live,
            ours,
        }])
    }

    #[test]
    fn wrong_order_missing_pages_and_gone_pages_lower_the_quality() {
        let live = [(1, 4.0), (2, 2.0), (3, 0.0)];
        let (second, third) = (Attention::PUBLISHED.at(2.0), Attention::PUBLISHED.at(3.0));
        let best = 4.0 + 2.0 * second;
        for (ours, expected) in [
            (&[(1, 4.0), (2, 2.0)][..], best),
            (&[(2, 7.0), (1, 9.0)], best),
            // Wrong order; a missing page; a page that is gone on top; no result.
            (&[(1, 1.0), (2, 2.0)], 2.0 + 4.0 * second),
            (&[(2, 2.0)], 2.0),
            (&[(9, 9.0), (1, 4.0), (2, 2.0)], 4.0 * second + 2.0 * third),
            (&[(1, 0.0)], 0.0),
        ] {
            let found = one(&live, ours).unwrap();
            assert!((found - expected / best).abs() < 1e-12, "{ours:?}: {found}");
        }
        assert_eq!(one(&[(3, 0.0)], &live), None);
        assert_eq!(quality(&[]), None);
    }

    proptest! {
        #[test]
        fn quality_is_at_most_1_and_is_1_for_live_copies(
            queries in prop::collection::vec((
                0.0f64..1.0,
                prop::collection::vec(0u8..4, 12),
                prop::collection::vec(0u8..4, 12),
            ), 1..6),
        ) {
            let list = |scores: &[u8]| -> Vec<(u32, f64)> {
                (0..).zip(scores).map(|(page, &score)| (page, f64::from(score))).collect()
            };
            let lists: Vec<_> = queries.iter().map(|(f, live, ours)| (*f, list(live), list(ours))).collect();
            type Lists = (f64, Vec<(u32, f64)>, Vec<(u32, f64)>);
            let ask = |lists: &[Lists]| {
                let asked: Vec<_> = lists.iter()
                    .map(|(frequency, live, ours)| ScoredQuery { frequency: *frequency, live, ours })
                    .collect();
                quality(&asked)
            };
            let Some(before) = ask(&lists) else { return Ok(()) };
            prop_assert!((0.0..=1.0 + 1e-12).contains(&before));
            let fresh: Vec<_> = lists.iter()
                .map(|(f, live, _)| (*f, live.clone(), live.clone()))
                .collect();
            prop_assert!((ask(&fresh).unwrap() - 1.0).abs() < 1e-12);
        }
    }
}
