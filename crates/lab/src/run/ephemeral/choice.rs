//! Which poll, or which page, is worth most now?
//!
//! Nothing is asked of all sources at every step. A poll is worth more the longer its source waits, so what it will be worth at a later moment, the *horizon*, is a bound until then; a page
//! is worth less and less, so what it was worth when last looked at is one. Whoever has the highest bound is asked what it is worth now, until nobody left can be worth more.
//!
//! **Invariant:** what is chosen is worth most, of equals a page before a poll and then the one that came first. Bounds hold from one plan of the scheduler to the next, and are made anew then. Of pages
//! beyond the best [`KEPT`] that is not asked at every plan, but as often as so many could not have been fetched meanwhile.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::time::Duration;

use policy::{History, Moment, Number, Page, Sources, Worth};

/// How many steps ahead the horizon is.
const STEPS: u32 = 100;

/// Pages that are looked at anew with every plan, and plans after which all are. Between these, half an hour apart, a fetch a second is 1,800 pages.
const KEPT: usize = 20_000;
const PLANS: u32 = 10;

/// What a step is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chosen {
    /// A poll of a source.
    Poll(Number),
    /// A visit to a page that a poll found.
    Page(Number),
}

/// Who may be chosen.
pub(super) struct Choice {
    ahead: Duration,
    horizon: Moment,
    /// When the plan was made that the bounds hold for.
    planned: Option<Moment>,
    polls: BinaryHeap<Bound>,
    pages: BinaryHeap<Bound>,
    /// Pages beyond the best.
    shelf: Vec<Bound>,
    plans: u32,
}

/// What somebody is worth at most.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bound {
    worth: f64,
    page: Number,
}

impl Eq for Bound {}

impl Ord for Bound {
    fn cmp(&self, other: &Self) -> Ordering {
        let worth = self.worth.total_cmp(&other.worth);
        worth.then(Reverse(self.page).cmp(&Reverse(other.page)))
    }
}

impl PartialOrd for Bound {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Choice {
    /// For steps of this length.
    pub fn new(step: Duration) -> Self {
        Self {
            ahead: step * STEPS,
            horizon: Moment::START,
            planned: None,
            polls: BinaryHeap::new(),
            pages: BinaryHeap::new(),
            shelf: Vec::new(),
            plans: 0,
        }
    }

    /// Takes in a page that a poll found.
    pub fn add(&mut self, page: Number) {
        self.pages.push(Bound {
            worth: f64::MAX,
            page,
        });
    }

    /// Chooses, and takes a page that is chosen out; `None` if nothing is worth anything. `histories` are of the sources, which have the first numbers.
    pub fn best(
        &mut self,
        sources: &Sources,
        histories: &[History],
        now: Moment,
    ) -> Option<Chosen> {
        let planned = sources.planned();
        if planned != self.planned || now > self.horizon {
            self.horizon = now + self.ahead;
            self.polls = (0..)
                .map(Number)
                .take(histories.len())
                .map(|page| self.bound(sources, histories, page))
                .collect();
        }
        if planned != self.planned {
            self.planned = planned;
            self.look_at_pages(sources, now);
        }
        let page = self.best_page(sources, now);
        let at_least = page.map_or(0.0, |page| page.worth);
        if let Some(poll) = self.best_poll(sources, histories, now, at_least) {
            return Some(Chosen::Poll(poll));
        }
        page.filter(|page| page.worth > 0.0).map(|page| {
            self.pages.pop();
            Chosen::Page(page.page)
        })
    }

    /// Takes note that a source was polled.
    pub fn polled(&mut self, sources: &Sources, histories: &[History], page: Number) {
        let bound = self.bound(sources, histories, page);
        self.polls.push(bound);
    }

    /// Asks pages anew what they are worth.
    fn look_at_pages(&mut self, sources: &Sources, now: Moment) {
        let mut pages = std::mem::take(&mut self.pages).into_vec();
        self.plans += 1;
        if self.plans.is_multiple_of(PLANS) {
            pages.append(&mut self.shelf);
        }
        for bound in &mut pages {
            *bound = worth_of(sources, bound.page, now);
        }
        if pages.len() > KEPT {
            pages.select_nth_unstable_by(KEPT, |one, other| other.cmp(one));
            self.shelf.extend(pages.drain(KEPT..));
        }
        self.pages = pages.into();
    }

    /// The page that is worth most now, which is on top then.
    fn best_page(&mut self, sources: &Sources, now: Moment) -> Option<Bound> {
        loop {
            let mut top = self.pages.peek_mut()?;
            let looked = worth_of(sources, top.page, now);
            if looked.worth == top.worth {
                return Some(looked);
            }
            // Another may be on top when this is dropped.
            *top = looked;
        }
    }

    /// The poll that is worth most now, and more than this. It is taken out.
    fn best_poll(
        &mut self,
        sources: &Sources,
        histories: &[History],
        now: Moment,
        more_than: f64,
    ) -> Option<Number> {
        let mut best = Bound {
            worth: more_than,
            page: Number(u32::MAX),
        };
        let mut looked = Vec::new();
        while let Some(bound) = self.polls.peek().copied() {
            if bound.worth <= more_than || bound.worth < best.worth {
                break;
            }
            self.polls.pop();
            looked.push(bound);
            let worth = worth_at(sources, histories, bound.page, now);
            let now = Bound { worth, ..bound };
            if worth > more_than && now > best {
                best = now;
            }
        }
        let back = looked.into_iter().filter(|bound| bound.page != best.page);
        self.polls.extend(back);
        (best.page != Number(u32::MAX)).then_some(best.page)
    }

    fn bound(&self, sources: &Sources, histories: &[History], page: Number) -> Bound {
        Bound {
            worth: worth_at(sources, histories, page, self.horizon),
            page,
        }
    }
}

fn worth_at(sources: &Sources, histories: &[History], number: Number, at: Moment) -> f64 {
    let history = &histories[number.index()];
    sources.worth(Page { number, history }, at).value()
}

fn worth_of(sources: &Sources, page: Number, now: Moment) -> Bound {
    let worth = sources.page(page, now).map_or(0.0, Worth::value);
    Bound { worth, page }
}
