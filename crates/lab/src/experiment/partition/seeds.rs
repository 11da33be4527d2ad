//! Choice of the crawler that gets a seed.
//!
//! Baldi, Frasconi & Smyth (2003), §6.3: if crawlers are independent, their overlap "can only be
//! controlled by having different seeds", and will become significant "unless a partition of the
//! seed set is properly chosen".

use crate::run::Division;
use crate::world::Graph;

/// How seeds are given to the crawlers of a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SeedChoice {
    /// In turn, in random order.
    Dealt,
    /// Each seed to all crawlers.
    Same,
    /// By the hash that also divides pages.
    Hash,
    /// Gives seeds that reach the same pages to one crawler. This needs knowledge of the whole web,
    /// which no crawler has, so it shows what a choice of seeds can gain at most.
    Near,
}

impl SeedChoice {
    /// Returns pairs of a crawler and a seed that it gets.
    pub fn assign(
        self,
        graph: &Graph,
        division: &Division,
        seeds: &[usize],
        crawlers: usize,
    ) -> Vec<(usize, usize)> {
        let each = seeds.iter().copied();
        match self {
            Self::Dealt => (0..crawlers).cycle().zip(each).collect(),
            Self::Same => each
                .flat_map(|seed| (0..crawlers).map(move |crawler| (crawler, seed)))
                .collect(),
            Self::Hash => each
                .map(|seed| (division.shares[seed] as usize % crawlers, seed))
                .collect(),
            Self::Near => {
                let groups = groups(graph, seeds, crawlers);
                let numbered = (0..).zip(groups);
                numbered
                    .flat_map(|(crawler, group)| group.into_iter().map(move |seed| (crawler, seed)))
                    .collect()
            }
        }
    }
}

/// Seeds that one crawler gets, and the pages that they reach.
struct SeedGroup {
    seeds: Vec<usize>,
    reached: PageSet,
}

/// Partitions seeds into at most `most` groups, so that few pages are reached from two groups.
///
/// To crawl a group costs as many fetches as the group reaches pages, so merging two groups saves
/// their common pages. Starting from single seeds, the pair that saves most is merged, until there
/// are few enough groups. A merged group may have at most an equal share of the seeds, as long as
/// some pair meets this condition. So no crawler gets all the work.
fn groups(graph: &Graph, seeds: &[usize], most: usize) -> Vec<Vec<usize>> {
    let mut groups: Vec<SeedGroup> = seeds
        .iter()
        .map(|&seed| SeedGroup {
            seeds: vec![seed],
            reached: PageSet::new(graph.pages(), &graph.reachable(&[seed])),
        })
        .collect();
    let share = seeds.len().div_ceil(most);
    while groups.len() > most {
        let pairs = || (0..groups.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        let fits =
            |&(a, b): &(usize, usize)| groups[a].seeds.len() + groups[b].seeds.len() <= share;
        // The first of the best pairs, so that the choice does not depend on the iteration.
        let saves = |&(a, b): &(usize, usize)| {
            let common = groups[a].reached.common(&groups[b].reached);
            (common, std::cmp::Reverse((a, b)))
        };
        let best = pairs().filter(fits).max_by_key(saves);
        let Some((a, b)) = best.or_else(|| pairs().max_by_key(saves)) else {
            break;
        };
        let merged = groups.swap_remove(b);
        groups[a].seeds.extend(merged.seeds);
        groups[a].reached.add(&merged.reached);
    }
    groups.into_iter().map(|group| group.seeds).collect()
}

/// A set of pages, one bit each.
struct PageSet(Vec<u64>);

impl PageSet {
    fn new(pages: usize, members: &[usize]) -> Self {
        let mut bits = vec![0; pages.div_ceil(64)];
        for &page in members {
            bits[page / 64] |= 1 << (page % 64);
        }
        Self(bits)
    }

    fn common(&self, other: &Self) -> u32 {
        let words = self.0.iter().zip(&other.0);
        words.map(|(a, b)| (a & b).count_ones()).sum()
    }

    fn add(&mut self, other: &Self) {
        for (own, more) in self.0.iter_mut().zip(&other.0) {
            *own |= more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns two islands of three pages each. The even pages link to each other in a ring, and so
    /// do the odd ones.
    fn islands() -> (Graph, Division) {
        let urls = (0..6).map(|page| format!("http://h{page}.org/"));
        let urls: Vec<String> = urls.collect();
        let edges = [(0, 2), (2, 4), (4, 0), (1, 3), (3, 5), (5, 1)];
        let graph = Graph::new(urls.iter().map(String::as_str), edges.into_iter());
        let division = Division {
            shares: vec![0, 0, 0, 1, 1, 1],
            hosts: (0..6).collect(),
        };
        (graph, division)
    }

    #[test]
    fn seeds_go_to_the_crawlers_that_the_choice_says() {
        let (graph, division) = islands();
        let of = |choice: SeedChoice, seeds: &[usize]| {
            let mut pairs = choice.assign(&graph, &division, seeds, 2);
            pairs.sort_unstable();
            pairs
        };
        let seeds = [0, 1, 2, 5];
        assert_eq!(
            of(SeedChoice::Dealt, &seeds),
            [(0, 0), (0, 2), (1, 1), (1, 5)]
        );
        assert_eq!(
            of(SeedChoice::Same, &[0, 5]),
            [(0, 0), (0, 5), (1, 0), (1, 5)]
        );
        assert_eq!(
            of(SeedChoice::Hash, &seeds),
            [(0, 0), (0, 1), (0, 2), (1, 5)]
        );
        assert_eq!(
            of(SeedChoice::Near, &[0, 2, 1, 5]),
            [(0, 0), (0, 2), (1, 1), (1, 5)]
        );
        assert_eq!(
            of(SeedChoice::Near, &[3]),
            [(0, 3)],
            "one crawler has nothing to do"
        );
    }

    #[test]
    fn groups_are_of_equal_size_while_that_is_possible() {
        let (graph, _) = islands();
        let sizes = |seeds: &[usize], most: usize| {
            let mut sizes: Vec<usize> = groups(&graph, seeds, most).iter().map(Vec::len).collect();
            sizes.sort_unstable();
            sizes
        };
        assert_eq!(sizes(&[0, 2, 4, 1], 2), [2, 2]);
        assert_eq!(sizes(&[0, 2, 4, 1, 3, 5], 2), [3, 3]);
        // Pairs of seeds are merged first, and then two pairs, which exceed a share of two.
        assert_eq!(sizes(&[0, 2, 4, 1, 3, 5], 4), [1, 1, 2, 2]);
        assert_eq!(sizes(&[0, 1], 5), [1, 1]);
    }
}
