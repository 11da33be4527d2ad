//! Pages close to pages about the query first.
//!
//! Algorithm 5.3 of Cho, Garcia-Molina & Page, "Efficient crawling through URL ordering" (1998).
//! A page is hot if words of the query occur at least ten times in its body or once in its title.
//! A URL enters the hot queue if an anchor or the URL itself has a word of the query, or if it is
//! fewer than three links from a hot page.
//!
//! The paper decides once, when a URL is enqueued. Here a waiting URL becomes hot as soon as a
//! shorter path from a hot page is seen, also through pages read before. A distance never grows,
//! even if a link is removed later.

use super::hot_anchor::heat;
use crate::estimate::{Column, Links, ReadParts};
use crate::query::{Query, is_hot};
use crate::{Fact, Moment, Moves, Needs, Number, Page, Policy, Read, Report, Term, Worth};

/// Algorithm 5.3, line 14: `distance_from_hotpage(u) < 3`.
const FAR: u8 = 3;

/// Worth is 2 for hot URLs and 1 for others.
#[derive(Debug, Clone)]
pub struct HotPage {
    query: Query,
    pages: Column<HotPageState>,
    links: Links,
    parts: ReadParts,
}

#[derive(Debug, Clone, Copy)]
struct HotPageState {
    /// Links from the nearest hot page, up to [`FAR`].
    distance: u8,
    /// Whether a word of the query is in its URL or in the anchor of a link to it.
    named: bool,
}

impl Default for HotPageState {
    fn default() -> Self {
        Self {
            distance: FAR,
            named: false,
        }
    }
}

impl HotPageState {
    fn is_hot(self) -> bool {
        self.named || self.distance < FAR
    }
}

impl HotPage {
    /// Creates an ordering for this query.
    pub fn new(query: Query) -> Self {
        Self {
            query,
            pages: Column::default(),
            links: Links::default(),
            parts: ReadParts::default(),
        }
    }

    fn read(&mut self, read: &Read<'_>, moves: &mut Moves) {
        self.links.replace(read);
        for link in read.links {
            let named = self.query.look(link.anchor).words != 0;
            self.change(link.to, moves, |page| page.named |= named);
        }
        let hot = is_hot(self.query.look_at_text(read.text));
        self.change(read.page, moves, |page| {
            if hot {
                page.distance = 0;
            }
        });
        self.spread(read.page, moves);
    }

    /// Passes the distance of a page on along its links, to pages fewer than [`FAR`] links from a
    /// hot page.
    fn spread(&mut self, page: Number, moves: &mut Moves) {
        let mut nearer = vec![page];
        while let Some(page) = nearer.pop() {
            let distance = self.pages.get(page).unwrap_or_default().distance + 1;
            if distance >= FAR {
                continue;
            }
            let links = self.links.of(page).unwrap_or_default().links.to_vec();
            for to in links.into_iter().map(Number) {
                if self.change(to, moves, |page| {
                    page.distance = page.distance.min(distance)
                }) {
                    nearer.push(to);
                }
            }
        }
    }

    /// Updates the state of a page. Returns whether its distance changed.
    fn change(
        &mut self,
        page: Number,
        moves: &mut Moves,
        change: impl Fn(&mut HotPageState),
    ) -> bool {
        let Some(state) = self.pages.get_mut(page) else {
            return false;
        };
        let before = *state;
        change(state);
        if state.is_hot() && !before.is_hot() && !self.links.has(page) {
            moves.push(page, heat(true));
        }
        state.distance != before.distance
    }
}

impl Policy for HotPage {
    fn needs(&self) -> Needs {
        Needs {
            links: true,
            words: true,
            text: true,
            ..Needs::default()
        }
    }

    fn observe(&mut self, fact: &Fact<'_>, moves: &mut Moves) {
        match fact {
            Fact::Discovered(discovered) => {
                let state = HotPageState {
                    named: self.query.look_at_url(discovered.url).words != 0,
                    ..HotPageState::default()
                };
                self.pages.add(discovered.page, state);
            }
            Fact::Read(read) => {
                let mut parts = std::mem::take(&mut self.parts);
                parts.join(read, |read| self.read(read, moves));
                self.parts = parts;
            }
            Fact::Visited(_) | Fact::Shown(_) => {}
        }
    }

    fn worth(&self, page: Page<'_>, _now: Moment) -> Worth {
        heat(self.pages.get(page.number).unwrap_or_default().is_hot())
    }

    fn terms(&self, page: Page<'_>) -> Vec<Term> {
        let state = self.pages.get(page.number).unwrap_or_default();
        let mut terms = vec![Term::new(
            "query in anchor or url",
            f64::from(u8::from(state.named)),
        )];
        if state.distance < FAR {
            terms.push(Term::new(
                "links from a hot page",
                f64::from(state.distance),
            ));
        }
        terms
    }

    fn report(&self) -> Report {
        self.query.report()
    }
}
