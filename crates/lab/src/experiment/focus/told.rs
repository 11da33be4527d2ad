//! How far would better judgement of links go?
//!
//! A method that is told what nobody can know before a page was fetched: of each page that it has a link to whether that is a target
//! ([`LINKS`]), or also how many targets it leads to that nobody has named yet ([`AHEAD`]). What it is not told it must find out as
//! ever. No policy of the catalog: a yardstick of what stands between a method and the crawler that knows everything.
//!
//! **Invariant:** what it is told of a page is the same for all moments but for targets that were named meanwhile, and a page whose
//! worth changes thereby is told to the bench.

use std::collections::HashMap;

use policy::{Fact, History, Moment, Moves, Needs, Number, Page, Policy, Worth};

use super::split::Split;
use crate::world::Graph;

/// Knows which links lead to targets.
pub(super) const LINKS: &str = "told-links";
/// Knows what is behind the pages that links lead to, too.
pub(super) const AHEAD: &str = "told-ahead";
/// The method that is told.
pub(super) const METHOD: &str = "learned";
/// More than any method says of a page.
const TARGET: f64 = 10.0;

/// A method and what it is told.
pub(super) struct Told {
    inner: Box<dyn Policy>,
    pages: Vec<Behind>,
    /// The pages of the web by their URLs.
    places: HashMap<String, usize>,
    /// The numbers of pages that were heard of, by their places.
    numbers: HashMap<usize, Number>,
    heard: Vec<usize>,
    moved: Moves,
}

/// What is behind a link.
#[derive(Debug, Clone, Default)]
struct Behind {
    target: bool,
    /// Targets that it leads to and nobody has named.
    ahead: u32,
    /// Pages that lead to it, if it is a target.
    parents: Vec<usize>,
}

impl Told {
    pub fn new(inner: Box<dyn Policy>, graph: &Graph, split: &Split, name: &str) -> Self {
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
            heard: Vec::new(),
            moved: Moves::default(),
        }
    }

    fn hear(&mut self, page: Number, url: &str, moves: &mut Moves) {
        let Some(&place) = self.places.get(url) else {
            return;
        };
        self.numbers.insert(place, page);
        if self.heard.len() <= page.index() {
            self.heard.resize(page.index() + 1, usize::MAX);
        }
        self.heard[page.index()] = place;
        for parent in std::mem::take(&mut self.pages[place].parents) {
            self.pages[parent].ahead -= 1;
            if let Some(&number) = self.numbers.get(&parent) {
                moves.push(number, self.of(number, self.inner_worth(number)));
            }
        }
    }

    /// What a page is worth of which the method says this.
    fn of(&self, page: Number, worth: Worth) -> Worth {
        let place = self.heard.get(page.index());
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

impl Policy for Told {
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
            self.hear(discovered.page, discovered.url, moves);
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

    /// Finds everything worth one.
    struct Even;

    impl Policy for Even {
        fn worth(&self, _page: Page<'_>, _now: Moment) -> Worth {
            Worth::new(1.0)
        }
    }

    #[test]
    fn targets_come_first_and_then_what_leads_to_those_that_nobody_has_named() {
        // 0 → 1, 2, 3; 1 → 4; 2 → 4, 5. 3, 4 and 5 are targets.
        let urls: Vec<String> = (0..6).map(|n| format!("http://e.org/{n}")).collect();
        let edges = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (2, 5)];
        let graph = Graph::new(urls.iter().map(String::as_str), edges.into_iter());
        let targets = [false, false, false, true, true, true];
        let split = Split::by_hand(0, &targets);
        let heard = |name: &str, count: u32| {
            let mut told = Told::new(Box::new(Even), &graph, &split, name);
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
                told.observe(&Fact::Discovered(discovered), &mut moves);
            }
            let worths: Vec<f64> = (0..4)
                .map(|page| {
                    told.of(Number(page), told.inner_worth(Number(page)))
                        .value()
                })
                .collect();
            (worths, moves.drain().collect::<Vec<_>>())
        };
        assert_eq!(heard(LINKS, 4).0, [1.0, 1.0, 1.0, 11.0]);
        let (worths, moved) = heard(AHEAD, 4);
        assert_eq!(worths, [1.0, 2.0, 3.0, 11.0]);
        assert_eq!(moved, [(Number(0), Worth::new(1.0))], "3 was named");
        // Somebody names 4: 1 leads to nothing new any more.
        let (worths, moved) = heard(AHEAD, 5);
        assert_eq!(worths, [1.0, 1.0, 2.0, 11.0]);
        assert_eq!(moved.len(), 3);
    }
}
