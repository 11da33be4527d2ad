//! A weighted sum of several orderings: Σ weight · worth.
//!
//! Cho, Garcia-Molina & Page, "Efficient crawling through URL ordering" (1998):
//! `I(p) = k₁·IS(p) + k₂·IB(p)`. Worths are not normalized, so their ranges matter:
//! `avocet crawl --help` lists them.
//!
//! **Invariant:** when one term changes the worth of a page, the whole sum is computed again. A
//! term reports only which pages changed; the combination knows their depth and asks all terms.
//! Terms must therefore be orderings: their worth of a page that was never fetched depends on
//! its number and depth, not on the time.

use crate::estimate::Column;
use crate::{Fact, History, Moment, Moves, Needs, Number, Page, Policy, Report, Term, Worth};

/// Worth is the weighted sum; 0 if any term is 0.
pub struct Combination {
    terms: Vec<Weighted>,
    depths: Column<u16>,
    /// Buffer for the moves of one fact, kept to reuse its memory.
    moved: Moves,
}

/// One term of the sum.
pub struct Weighted {
    /// The name of the ordering.
    pub name: String,
    /// The factor of its worth: above zero, finite.
    pub weight: f64,
    /// The ordering.
    pub order: Box<dyn Policy>,
}

impl Combination {
    /// Creates the sum of these terms.
    pub fn new(terms: Vec<Weighted>) -> Self {
        Self {
            terms,
            depths: Column::default(),
            moved: Moves::default(),
        }
    }

    fn sum(&self, page: Page<'_>, now: Moment) -> Worth {
        let mut sum = 0.0;
        for term in &self.terms {
            let worth = term.order.worth(page, now);
            if worth == Worth::NONE {
                return Worth::NONE;
            }
            sum += term.weight * worth.value();
        }
        Worth::new(sum).max(Worth::LEAST)
    }
}

impl Policy for Combination {
    fn needs(&self) -> Needs {
        self.terms
            .iter()
            .fold(Needs::default(), |needs, term| needs.or(term.order.needs()))
    }

    fn begin_replay(&mut self) -> bool {
        let mut any_order = true;
        for term in &mut self.terms {
            any_order &= term.order.begin_replay();
        }
        any_order
    }

    fn end_replay(&mut self) {
        for term in &mut self.terms {
            term.order.end_replay();
        }
    }

    fn observe(&mut self, fact: &Fact<'_>, moves: &mut Moves) {
        if let Fact::Discovered(discovered) = fact {
            self.depths.add(discovered.page, discovered.depth);
        }
        for term in &mut self.terms {
            term.order.observe(fact, &mut self.moved);
        }
        let mut moved: Vec<Number> = self.moved.drain().map(|(page, _)| page).collect();
        moved.sort_unstable();
        moved.dedup();
        for number in moved {
            let Some(depth) = self.depths.get(number) else {
                continue;
            };
            let history = History::discovered(Moment::START, depth);
            let page = Page {
                number,
                history: &history,
            };
            moves.push(number, self.sum(page, Moment::START));
        }
    }

    fn worth(&self, page: Page<'_>, now: Moment) -> Worth {
        self.sum(page, now)
    }

    fn importance(&self, page: Page<'_>) -> Worth {
        let weighted = |term: &Weighted| term.weight * term.order.importance(page).value();
        Worth::new(self.terms.iter().map(weighted).sum())
    }

    fn terms(&self, page: Page<'_>) -> Vec<Term> {
        let mut all = Vec::new();
        for term in &self.terms {
            let worth = term.order.worth(page, page.history.discovered).value();
            let name = format!("{}*{}", term.name, term.weight);
            all.push(Term::new(name, term.weight * worth));
            let inner = term.order.terms(page).into_iter();
            all.extend(inner.filter(|inner| inner.name != term.name));
        }
        all
    }

    fn report(&self) -> Report {
        self.terms.iter().fold(Report::default(), |report, term| {
            report.and(term.order.report())
        })
    }
}
