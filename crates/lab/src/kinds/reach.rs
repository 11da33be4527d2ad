//! Breadth-first search for the pages that can be reached from others.
//!
//! **Invariant:** a search takes time in proportion to the pages and links that it finds, not to
//! the size of the web. Repeated searches from pages that reach few others are therefore cheap.

use super::Graph;

/// Reusable buffers for repeated searches.
pub(crate) struct ReachSearch<'g> {
    graph: &'g Graph,
    /// Number of the latest search that saw each page.
    seen: Vec<u32>,
    search: u32,
    found: Vec<usize>,
}

impl<'g> ReachSearch<'g> {
    pub fn new(graph: &'g Graph) -> Self {
        Self {
            graph,
            seen: vec![0; graph.pages()],
            search: 0,
            found: Vec::new(),
        }
    }

    /// Returns the pages that can be reached from these, themselves included, in breadth-first
    /// order.
    pub fn of(&mut self, from: &[usize]) -> &[usize] {
        self.search += 1;
        let mut is_new =
            |page: &usize| std::mem::replace(&mut self.seen[*page], self.search) != self.search;
        self.found.clear();
        self.found.extend(from.iter().copied().filter(&mut is_new));
        let mut next = 0;
        while let Some(&page) = self.found.get(next) {
            next += 1;
            let links = self.graph.links(page).iter().map(|&to| to as usize);
            self.found.extend(links.filter(&mut is_new));
        }
        &self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reachable_pages_are_found_once_in_breadth_first_order() {
        let urls: Vec<String> = (0..7).map(|n| format!("http://e.org/{n}")).collect();
        let edges = [(0, 3), (0, 1), (1, 2), (3, 2), (2, 0), (4, 1), (5, 6)];
        let graph = Graph::new(urls.iter().map(String::as_str), edges.into_iter());
        let mut reach = ReachSearch::new(&graph);
        let mut check = |from: &[usize], expected: &[usize]| {
            assert_eq!(reach.of(from), expected, "{from:?}");
            assert_eq!(graph.reachable(from), expected, "{from:?}, alone");
        };
        check(&[], &[]);
        check(&[0], &[0, 3, 1, 2]);
        check(&[6], &[6]);
        check(&[5, 4, 5], &[5, 4, 6, 1, 2, 0, 3]);
        check(&[0], &[0, 3, 1, 2]);
    }
}
