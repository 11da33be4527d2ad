//! In which order does an ordering fetch the pages of a graph?
//!
//! Servers cost nothing here, so a visit is for one page, and the best page anywhere is next: the
//! setting of Cho, Garcia-Molina & Page (1998). **Invariant:** the policy is told what a crawler has
//! fetched so far and nothing else; the graph is not reachable from it.

use std::time::Duration;

use frontier::bench::Manners;
use frontier::{Frontier, Link, Next, Reading};
use page::PageUrl;
use policy::server::Quality;
use policy::{Moment, Policy, Price, Text};

use crate::world::Graph;

/// The pages in the order in which they are fetched from these seeds.
pub fn order_of_visits(graph: &Graph, order: Box<dyn Policy>, seeds: &[usize]) -> Vec<usize> {
    let manners = Manners {
        pages_per_visit: 1,
        pages_per_host: u32::MAX,
        ..Manners::default()
    };
    let mut crawl = Crawl {
        graph,
        frontier: Frontier::new(order, Box::new(Quality), Price::LEAST, manners, 0),
        pages: Vec::new(),
        now: Moment::from_micros(1),
    };
    for &seed in seeds {
        crawl.hear(seed, 0, None);
    }
    crawl.run()
}

struct Crawl<'a> {
    graph: &'a Graph,
    frontier: Frontier<Box<dyn Policy>>,
    /// The page of each number, and its depth.
    pages: Vec<(usize, u16)>,
    now: Moment,
}

impl Crawl<'_> {
    fn run(mut self) -> Vec<usize> {
        let mut visits = Vec::new();
        loop {
            match self.frontier.bench.next(self.now) {
                Next::Idle => return visits,
                Next::WaitUntil(moment) => self.now = moment,
                Next::Visit(mut visit) => {
                    while let Some(number) = visit.first() {
                        visits.push(self.fetch(number.index()));
                        visit.settled(number);
                    }
                    self.frontier
                        .bench
                        .settle(visit, self.now, Duration::ZERO, false);
                }
            }
        }
    }

    /// Fetches a page and tells what it links to.
    fn fetch(&mut self, number: usize) -> usize {
        let (page, depth) = self.pages[number];
        self.now = self.now + Duration::from_micros(1);
        let url = self.graph.url(page);
        let targets = self.graph.links(page);
        let anchor = "";
        let links: Vec<_> = targets
            .iter()
            .map(|&to| {
                let to = self.hear(to, depth.saturating_add(1), Some(url));
                policy::Link { to, anchor }
            })
            .collect();
        let reading = Reading {
            text: Text::Nothing,
            links: &links,
            out_links: links.len() as u32,
        };
        self.frontier.read(url.id(), reading, self.now);
        page
    }

    fn hear(&mut self, page: usize, depth: u16, source: Option<&PageUrl>) -> policy::Number {
        let url = self.graph.url(page);
        if let Some(number) = self.frontier.number(url.id()) {
            return number;
        }
        let link = Link {
            url,
            depth,
            hops: 0,
            source: source.map(PageUrl::id),
        };
        self.pages.push((page, depth));
        self.frontier.hear(link, self.now).0
    }
}

#[cfg(test)]
mod tests {
    use policy::catalog::{Catalog, Wishes};

    use super::*;

    fn visits(order: &str) -> Vec<usize> {
        // 0 leads to 1, 2, 3; two of these lead to 5, one to 4; 5 leads to 6.
        let edges = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 5), (3, 5), (5, 6)];
        let urls: Vec<String> = (0..7)
            .map(|page| format!("http://{}.org/{page}", page % 2))
            .collect();
        let graph = Graph::new(urls.iter().map(String::as_str), edges.into_iter());
        let order = Catalog::standard()
            .order(order, &Wishes::default())
            .unwrap();
        order_of_visits(&graph, order, &[0])
    }

    #[test]
    fn orderings_fetch_in_their_order_across_hosts() {
        assert_eq!(visits("breadth-first"), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(
            visits("backlink"),
            [0, 1, 2, 3, 5, 4, 6],
            "two links before one"
        );
        assert_eq!(visits("depth-limited(1)"), [0, 1, 2, 3]);
        assert_ne!(visits("random(1)"), visits("random(2)"));
    }
}
