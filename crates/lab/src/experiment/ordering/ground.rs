//! Start page of a run and the part of the web that it reaches.
//!
//! **Invariant:** starts are drawn uniformly from the pages that reach at least half of the web.
//! If none is found, the start is the examined page that reaches most.

use rand::seq::SliceRandom;
use testweb::chance::{For, stream};

use crate::LabError;
use crate::kinds::{Graph, ReachSearch};

/// Maximum number of links followed to find starts, as a multiple of the number of all links and
/// pages. Real webs need far fewer. The limit ends the search in a web where 100,000 pages each
/// reach a third of the web.
const PATIENCE: usize = 2_000;

/// The web of a run: all that can be reached from its start.
#[derive(Debug, Clone)]
pub(super) struct ReachableWeb {
    pub start: usize,
    /// Pages in breadth-first order from the start.
    pub pages: Vec<usize>,
    /// Index in `pages` of each page of the world; `u32::MAX` for pages outside this web.
    places: Vec<u32>,
}

impl ReachableWeb {
    pub fn from(graph: &Graph, start: usize) -> Self {
        let pages = graph.reachable(&[start]);
        let mut places = vec![u32::MAX; graph.pages()];
        for (place, &page) in (0..).zip(&pages) {
            places[page] = place;
        }
        Self {
            start,
            pages,
            places,
        }
    }

    /// Maps pages of the world to their indices in this web.
    pub fn places(&self, pages: &[usize]) -> Vec<usize> {
        let place = |&page: &usize| self.places[page] as usize;
        pages.iter().map(place).collect()
    }

    /// Returns the links of this web as pairs of indices. All their targets are in this web, too.
    pub fn edges(&self, graph: &Graph) -> Vec<(usize, usize)> {
        let mut edges = Vec::new();
        for (from, &page) in self.pages.iter().enumerate() {
            let targets = graph.links(page).iter();
            edges.extend(targets.map(|&to| (from, self.places[to as usize] as usize)));
        }
        edges
    }

    pub fn describe(&self, run: usize, graph: &Graph) -> String {
        format!(
            "run {}: from {}, {} of {} pages can be reached",
            run + 1,
            graph.url(self.start).as_str(),
            self.pages.len(),
            graph.pages()
        )
    }
}

/// Finds the pages with these ids or URLs.
pub(super) fn named(graph: &Graph, names: &[String]) -> Result<Vec<usize>, LabError> {
    let find = |name: &String| {
        let wrong = || format!("no page of this world has the id or URL {name:?}");
        graph.find(name).ok_or_else(|| LabError::Wish(wrong()))
    };
    names.iter().map(find).collect()
}

/// Draws up to `most` different starts; empty only if the graph has no pages.
pub(super) fn draw(graph: &Graph, seed: u64, most: usize) -> Vec<usize> {
    let mut candidates: Vec<usize> = (0..graph.pages()).collect();
    candidates.shuffle(&mut stream(seed, For::Starts, 0, 0));
    let enough = graph.pages().div_ceil(2);
    let links = |pages: &[usize]| -> usize {
        let each = pages.iter().map(|&page| graph.links(page).len());
        each.sum()
    };
    let mut patience = PATIENCE.saturating_mul(links(&candidates) + graph.pages());
    let mut reach = ReachSearch::new(graph);
    // If a page reaches too little, so do all pages that it reaches.
    let mut hopeless = vec![false; graph.pages()];
    let (mut starts, mut best) = (Vec::new(), None);
    for page in candidates {
        if starts.len() == most || patience == 0 {
            break;
        }
        if hopeless[page] {
            continue;
        }
        let reached = reach.of(&[page]);
        patience = patience.saturating_sub(links(reached) + 1);
        if reached.len() >= enough {
            starts.push(page);
            continue;
        }
        reached.iter().for_each(|&page| hopeless[page] = true);
        if best.is_none_or(|(most, _)| reached.len() > most) {
            best = Some((reached.len(), page));
        }
    }
    if starts.is_empty() {
        starts.extend(best.map(|(_, page)| page));
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(pages: usize, edges: &[(usize, usize)]) -> Graph {
        let urls: Vec<String> = (0..pages).map(|n| format!("http://e.org/{n}")).collect();
        Graph::new(urls.iter().map(String::as_str), edges.iter().copied())
    }

    #[test]
    fn starts_reach_half_of_the_web_or_else_the_start_reaches_most_pages() {
        // 0, 1 and 2 reach four pages of six; 5 reaches two.
        let half = graph(6, &[(0, 1), (1, 2), (2, 0), (2, 3), (5, 3)]);
        let mut starts = draw(&half, 1, 9);
        starts.sort_unstable();
        assert_eq!(starts, [0, 1, 2]);
        assert_eq!(draw(&half, 1, 2).len(), 2);
        let most = graph(7, &[(3, 4), (3, 5), (0, 1)]);
        for seed in 0..9 {
            assert_eq!(draw(&most, seed, 2), [3], "it reaches three pages of seven");
        }
        assert!(draw(&graph(0, &[]), 1, 2).is_empty());
        let firsts: std::collections::HashSet<_> =
            (0..30).map(|seed| draw(&half, seed, 1)[0]).collect();
        assert_eq!(firsts.len(), 3, "each can be drawn");
    }

    #[test]
    fn named_starts_are_found_by_url_and_unknown_ones_are_an_error() {
        let graph = graph(3, &[(2, 1)]);
        let names = ["http://e.org/2".to_owned()];
        assert_eq!(named(&graph, &names).unwrap(), [2]);
        let wrong = named(&graph, &["http://f.org/".to_owned()]).unwrap_err();
        assert!(wrong.to_string().contains("http://f.org/"), "{wrong}");
    }

    #[test]
    fn the_web_of_a_run_is_what_its_start_reaches() {
        let graph = graph(4, &[(2, 1), (1, 3), (0, 1)]);
        let ground = ReachableWeb::from(&graph, 2);
        assert_eq!(ground.pages, [2, 1, 3]);
        assert_eq!(ground.edges(&graph), [(0, 1), (1, 2)]);
        assert_eq!(ground.places(&[3, 2]), [2, 0]);
    }
}
