//! The omniscient crawler: a reference that knows all pages and targets.
//!
//! It may fetch only start pages and pages that a fetched page links to. It always takes the
//! shortest path to the nearest target, and fetches the remaining pages at the end. The optimum
//! would be a minimum Steiner tree, which is NP-hard to find. This greedy order is not optimal, so
//! a real method could exceed it; none did in our experiments.

use std::collections::VecDeque;

use crate::world::Graph;

/// Policy name of the omniscient crawler.
pub(super) const OMNISCIENT: &str = "omniscient";

/// Returns the order in which the omniscient crawler fetches the starts and all pages of `ground`
/// that it can reach from them.
pub(super) fn order(
    graph: &Graph,
    starts: &[usize],
    ground: &[bool],
    targets: &[bool],
) -> Vec<usize> {
    let mut fetched = vec![false; graph.pages()];
    let mut order = Vec::new();
    let fetch = |page: usize, order: &mut Vec<usize>, fetched: &mut Vec<bool>| {
        if !std::mem::replace(&mut fetched[page], true) {
            order.push(page);
        }
    };
    for &start in starts {
        fetch(start, &mut order, &mut fetched);
    }
    while let Some(path) = nearest(graph, ground, &fetched, &order, |page| targets[page]) {
        path.into_iter()
            .for_each(|page| fetch(page, &mut order, &mut fetched));
    }
    let mut next = 0;
    while let Some(&page) = order.get(next) {
        next += 1;
        for &to in graph.links(page) {
            if ground[to as usize] {
                fetch(to as usize, &mut order, &mut fetched);
            }
        }
    }
    order
}

/// Returns the shortest path of unfetched pages of `ground` from a page in `from` to a wanted page,
/// or `None` if there is no such path. The pages in `from` are fetched and not on the path.
fn nearest(
    graph: &Graph,
    ground: &[bool],
    fetched: &[bool],
    from: &[usize],
    wanted: impl Fn(usize) -> bool,
) -> Option<Vec<usize>> {
    let mut before: Vec<Option<u32>> = vec![None; graph.pages()];
    let mut queue: VecDeque<usize> = from.iter().copied().collect();
    while let Some(page) = queue.pop_front() {
        for to in graph.links(page).iter().map(|&to| to as usize) {
            if fetched[to] || !ground[to] || before[to].is_some() {
                continue;
            }
            before[to] = Some(page as u32);
            if wanted(to) {
                let mut path = vec![to];
                let mut place = page;
                while !fetched[place] {
                    path.push(place);
                    place = before[place]? as usize;
                }
                path.reverse();
                return Some(path);
            }
            queue.push_back(to);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_takes_the_shortest_path_to_the_nearest_target_within_the_ground() {
        let urls: Vec<String> = (0..8).map(|n| format!("http://e.org/{n}")).collect();
        let edges = [(0, 1), (0, 2), (1, 3), (2, 4), (4, 5), (3, 6), (0, 7)];
        let graph = Graph::new(urls.iter().map(String::as_str), edges.into_iter());
        let mut targets = vec![false; 8];
        (targets[3], targets[5]) = (true, true);
        let mut ground = vec![true; 8];
        ground[7] = false;
        let order = order(&graph, &[0], &ground, &targets);
        assert_eq!(
            order,
            [0, 1, 3, 2, 4, 5, 6],
            "a page outside the ground is never fetched"
        );
    }
}
