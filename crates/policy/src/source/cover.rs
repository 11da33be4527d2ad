//! Greedy set cover: few sources that together reach all new pages.
//!
//! Lefortier et al. (2013), §3.1, Figure 4: "first take the source page which allows to reach
//! the most of pages, then remove it and all covered pages, then select the second one in the
//! same way". The number of pages that a source adds never grows as others are taken. Its last
//! count is therefore an upper bound, and only the source with the largest bound is counted
//! again (lazy greedy, Minoux 1978).
//!
//! **Invariant:** the result equals that of counting all sources at every step. Ties go to the
//! first source.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A source of the cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Its index among the sources.
    pub source: usize,
    /// Number of pages that it adds to those of the sources before it.
    pub more: usize,
}

/// Sources that together reach all pages that any source reaches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cover {
    /// The sources in the order of selection.
    pub steps: Vec<Step>,
    /// Number of pages that these sources reach together.
    pub pages: usize,
}

impl Cover {
    /// Computes the cover of sources, each given by the pages that it links to, in any order.
    pub fn of(sources: &[Vec<u32>]) -> Self {
        let last = sources.iter().flatten().max();
        let mut reached = vec![false; last.map_or(0, |last| *last as usize + 1)];
        let bounds = sources.iter().map(Vec::len).enumerate();
        let mut heap: BinaryHeap<(usize, Reverse<usize>)> = bounds
            .map(|(source, bound)| (bound, Reverse(source)))
            .collect();
        let mut cover = Self::default();
        while let Some((bound, Reverse(source))) = heap.pop() {
            let more = left(&sources[source], &mut reached);
            if more == bound && more > 0 {
                for &page in &sources[source] {
                    reached[page as usize] = true;
                }
                cover.steps.push(Step { source, more });
                cover.pages += more;
            } else if more > 0 {
                heap.push((more, Reverse(source)));
            }
        }
        cover
    }

    /// Returns how many of the first sources are needed to reach this share of the pages.
    pub fn sources_for(&self, share: f64) -> usize {
        let wanted = share * self.pages as f64;
        let mut reached = 0;
        let short = self.steps.iter().take_while(|step| {
            let short = (reached as f64) < wanted;
            reached += step.more;
            short
        });
        short.count()
    }
}

/// Returns how many of these pages are not reached, each counted once.
///
/// Marks pages while it counts them, and unmarks them afterwards.
fn left(pages: &[u32], reached: &mut [bool]) -> usize {
    let mut counted = Vec::new();
    for &page in pages {
        if !std::mem::replace(&mut reached[page as usize], true) {
            counted.push(page);
        }
    }
    counted
        .iter()
        .for_each(|&page| reached[page as usize] = false);
    counted.len()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    /// Computes the cover by counting all sources at every step.
    fn plain(sources: &[Vec<u32>]) -> Vec<Step> {
        let (mut reached, mut steps) = (HashSet::new(), Vec::new());
        loop {
            let more = |source: usize| {
                let pages: HashSet<u32> = sources[source].iter().copied().collect();
                pages.difference(&reached).count()
            };
            let best = (0..sources.len()).max_by_key(|&source| (more(source), Reverse(source)));
            match best.map(|source| (source, more(source))) {
                None | Some((_, 0)) => return steps,
                Some((source, more)) => steps.push(Step { source, more }),
            }
            reached.extend(&sources[steps[steps.len() - 1].source]);
        }
    }

    #[test]
    fn the_largest_source_is_first_and_its_pages_do_not_count_again() {
        let sources = [
            vec![1, 2, 3, 3],
            vec![3, 4],
            vec![],
            vec![1, 2, 3, 4, 5, 6],
            vec![7, 6, 5],
            vec![8, 8],
        ];
        let cover = Cover::of(&sources);
        let taken = |source, more| Step { source, more };
        assert_eq!(cover.steps, [taken(3, 6), taken(4, 1), taken(5, 1)]);
        assert_eq!(cover.pages, 8);
        for (share, expected) in [(0.0, 0), (0.5, 1), (0.75, 1), (0.8, 2), (1.0, 3)] {
            assert_eq!(cover.sources_for(share), expected, "{share}");
        }
        assert_eq!(Cover::of(&[]).sources_for(0.8), 0);
    }

    proptest! {
        #[test]
        fn lazy_counting_equals_plain_counting_and_is_near_optimal(
            sources in prop::collection::vec(prop::collection::vec(0..12u32, 0..8), 0..9),
        ) {
            let cover = Cover::of(&sources);
            prop_assert_eq!(&cover.steps, &plain(&sources));
            let all: HashSet<u32> = sources.iter().flatten().copied().collect();
            prop_assert_eq!(cover.pages, all.len());
            // Any choice of as many sources reaches at most 1/(1 − 1/e) times as many pages
            // (Nemhauser, Wolsey & Fisher 1978).
            let (taken, some) = (cover.steps.len().min(2), cover.steps.iter().take(2));
            let reached: usize = some.map(|step| step.more).sum();
            for chosen in 0..1_u32 << sources.len() {
                if chosen.count_ones() as usize <= taken {
                    let pages = sources.iter().enumerate().filter(|(place, _)| chosen >> place & 1 == 1);
                    let pages: HashSet<u32> = pages.flat_map(|(_, pages)| pages).copied().collect();
                    prop_assert!(pages.len() as f64 * 0.632 <= reached as f64);
                }
            }
        }
    }
}
