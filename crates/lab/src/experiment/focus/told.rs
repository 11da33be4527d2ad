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
