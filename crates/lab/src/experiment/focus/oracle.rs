//! Two reference policies for focused crawling, which know some facts about pages before a fetch.
//!
//! Both extend the policy [`METHOD`]. [`LINKS`] knows whether a linked page is a target. [`AHEAD`]
//! also knows how many undiscovered targets that page links to. Everything else the two must learn
//! as other policies do. They are not in the catalog: they show how much a better link classifier
//! could gain.
//!
//! **Invariant:** the known facts about a page change only when a target is discovered. The
//! new worth of every discovered page that links to the target is then reported.

use std::collections::HashMap;

use policy::{Fact, History, Moment, Moves, Needs, Number, Page, Policy, Worth};

use super::split::TopicSplit;
use crate::world::Graph;

/// Name of the reference that knows which links lead to targets.
pub(super) const LINKS: &str = "told-links";
/// Name of the reference that also knows how many undiscovered targets a linked page links to.
pub(super) const AHEAD: &str = "told-ahead";
/// The extended method.
pub(super) const METHOD: &str = "learned";
/// Bonus of a target; it exceeds every worth that [`METHOD`] assigns (at most 2.1). With [`AHEAD`],
/// each undiscovered target that a page links to adds 1.
const TARGET: f64 = 10.0;

/// A policy with added knowledge of the web.
pub(super) struct LinkOracle {
    inner: Box<dyn Policy>,
    pages: Vec<Behind>,
    /// Graph index of each page, by URL.
    places: HashMap<String, usize>,
    /// Page numbers of the discovered pages, by graph index.
    numbers: HashMap<usize, Number>,
    /// Graph index of each discovered page, by page number.
    discovered: Vec<usize>,
    moved: Moves,
}

/// Facts about a page that only a fetch would reveal.
#[derive(Debug, Clone, Default)]
struct Behind {
    target: bool,
    /// Number of undiscovered targets that the page links to. 0 except for [`AHEAD`].
    ahead: u32,
    /// Pages that link to the page, if it is an undiscovered target. Empty except for [`AHEAD`].
    parents: Vec<usize>,
}

impl LinkOracle {
    pub fn new(inner: Box<dyn Policy>, graph: &Graph, split: &TopicSplit, name: &str) -> Self {
        let mut pages = vec![Behind::default(); graph.pages()];
        let mut places = HashMap::new();
        for page in (0..graph.pages()).filter(|page| split.ground[*page]) {
            places.insert(graph.url(page).as_str().to_owned(), page);
            pages[page].target = split.targets[page];
            for &to in graph.links(page) {
                if name == AHEAD && split.targets[to as usize] {
                    pages[page].ahead += 1;
                    pages[to as usize].parents.push(page);
                }
            }
        }
        Self {
            inner,
            pages,
            places,
            numbers: HashMap::new(),
            discovered: Vec::new(),
            moved: Moves::default(),
        }
    }

    fn discover(&mut self, page: Number, url: &str, moves: &mut Moves) {
        let Some(&place) = self.places.get(url) else {
            return;
        };
        self.numbers.insert(place, page);
        if self.discovered.len() <= page.index() {
            self.discovered.resize(page.index() + 1, usize::MAX);
        }
        self.discovered[page.index()] = place;
        for parent in std::mem::take(&mut self.pages[place].parents) {
            self.pages[parent].ahead -= 1;
            if let Some(&number) = self.numbers.get(&parent) {
                moves.push(number, self.of(number, self.inner_worth(number)));
            }
        }
    }

    /// Returns the worth of a page: the method's own worth plus the bonuses for known targets.
    fn of(&self, page: Number, worth: Worth) -> Worth {
        let place = self.discovered.get(page.index());
        let behind = place.and_then(|place| self.pages.get(*place));
        behind.map_or(worth, |behind| {
            let target = if behind.target { TARGET } else { 0.0 };
            Worth::new(worth.value() + target + f64::from(behind.ahead))
        })
    }

    fn inner_worth(&self, number: Number) -> Worth {
        let history = History::discovered(Moment::START, 0);
        let page = Page {
            number,
            history: &history,
        };
        self.inner.worth(page, Moment::START)
    }
}

impl Policy for LinkOracle {
    fn needs(&self) -> Needs {
        self.inner.needs()
    }

    fn observe(&mut self, fact: &Fact<'_>, moves: &mut Moves) {
        let mut moved = std::mem::take(&mut self.moved);
        self.inner.observe(fact, &mut moved);
        for (page, worth) in moved.drain() {
            moves.push(page, self.of(page, worth));
        }
        self.moved = moved;
        if let Fact::Discovered(discovered) = fact {
            self.discover(discovered.page, discovered.url, moves);
        }
    }

    fn worth(&self, page: Page<'_>, now: Moment) -> Worth {
        self.of(page.number, self.inner.worth(page, now))
    }
}

#[cfg(test)]
mod tests {
    use policy::Discovered;

    use super::*;

    /// A policy for which every page has the worth 1.
    struct Even;

    impl Policy for Even {
        fn worth(&self, _page: Page<'_>, _now: Moment) -> Worth {
            Worth::new(1.0)
        }
    }

    #[test]
    fn targets_come_first_and_then_pages_that_link_to_undiscovered_targets() {
        // 0 → 1, 2, 3; 1 → 4; 2 → 4, 5. 3, 4 and 5 are targets.
        let urls: Vec<String> = (0..6).map(|n| format!("http://e.org/{n}")).collect();
        let edges = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (2, 5)];
        let graph = Graph::new(urls.iter().map(String::as_str), edges.into_iter());
        let targets = [false, false, false, true, true, true];
        let split = TopicSplit::by_hand(0, &targets);
        let after = |name: &str, count: u32| {
            let mut oracle = LinkOracle::new(Box::new(Even), &graph, &split, name);
            let mut moves = Moves::default();
            for page in 0..count {
                let discovered = Discovered {
                    page: Number(page),
                    url: graph.url(page as usize).as_str(),
                    host: 0,
                    depth: 1,
                    seed: page == 0,
                    at: Moment::START,
                    appeared: None,
                };
                oracle.observe(&Fact::Discovered(discovered), &mut moves);
            }
            let worths: Vec<f64> = (0..4)
                .map(|page| {
                    oracle
                        .of(Number(page), oracle.inner_worth(Number(page)))
                        .value()
                })
                .collect();
            (worths, moves.drain().collect::<Vec<_>>())
        };
        assert_eq!(after(LINKS, 4).0, [1.0, 1.0, 1.0, 11.0]);
        let (worths, moved) = after(AHEAD, 4);
        assert_eq!(worths, [1.0, 2.0, 3.0, 11.0]);
        assert_eq!(moved, [(Number(0), Worth::new(1.0))], "3 was discovered");
        // Once 4 is discovered, 1 leads to no undiscovered target.
        let (worths, moved) = after(AHEAD, 5);
        assert_eq!(worths, [1.0, 1.0, 2.0, 11.0]);
        assert_eq!(moved.len(), 3);
    }
}
