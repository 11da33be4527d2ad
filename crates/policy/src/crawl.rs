//! The policy of `avocet crawl`: an ordering for new pages, a patience for silent servers, and, if
//! the user asks for it, a refresh of what is known.

use crate::order::BreadthFirst;
use crate::refresh::Uniform;
use crate::retry::Retry;
use crate::{Fact, Moment, Moves, Needs, Outcome, Page, Policy, Price, Report, Term, Worth};

/// Discovers first, retries what did not answer, refreshes if told to.
pub struct Crawl {
    /// The order of pages never fetched.
    pub order: Box<dyn Policy>,
    /// When a page that did not answer is asked again.
    pub retry: Retry,
    /// How pages that were fetched are fetched again; `None`: not at all.
    pub refresh: Option<Uniform>,
    /// What a page never fetched must be worth; one that is worth less is worth nothing.
    pub least: Worth,
}

impl Crawl {
    fn above_least(&self, worth: Worth) -> Worth {
        if worth >= self.least {
            worth
        } else {
            Worth::NONE
        }
    }

    fn order_worth(&self, page: Page<'_>, now: Moment) -> Worth {
        self.above_least(self.order.worth(page, now))
    }

    fn order_due(&self, page: Page<'_>, price: Price) -> Option<Moment> {
        let least = Price::new(self.least.value()).unwrap_or(price);
        let dearer = if least.value() > price.value() {
            least
        } else {
            price
        };
        self.order.due(page, dearer)
    }
}

impl Default for Crawl {
    fn default() -> Self {
        Self {
            order: Box::new(BreadthFirst),
            retry: Retry::default(),
            refresh: None,
            least: Worth::NONE,
        }
    }
}

impl Policy for Crawl {
    fn needs(&self) -> Needs {
        self.order.needs()
    }

    fn observe(&mut self, fact: &Fact<'_>, moves: &mut Moves) {
        if self.least == Worth::NONE {
            return self.order.observe(fact, moves);
        }
        let mut moved = Moves::default();
        self.order.observe(fact, &mut moved);
        for (page, worth) in moved.drain() {
            moves.push(page, self.above_least(worth));
        }
    }

    fn worth(&self, page: Page<'_>, now: Moment) -> Worth {
        let refresh = self
            .refresh
            .map_or(Worth::NONE, |refresh| refresh.worth(page, now));
        let retry = self.retry.due(page.history);
        match page.history.outcome {
            None => self.order_worth(page, now),
            Some(Outcome::Unreachable) if retry.is_some_and(|due| due <= now) => {
                self.order_worth(page, now).max(refresh)
            }
            Some(_) => refresh,
        }
    }

    fn due(&self, page: Page<'_>, price: Price) -> Option<Moment> {
        let refresh = self.refresh.and_then(|refresh| refresh.due(page, price));
        match page.history.outcome {
            None => self.order_due(page, price),
            Some(Outcome::Unreachable) => {
                let retry = self
                    .retry
                    .due(page.history)
                    .filter(|_| self.order_due(page, price).is_some());
                [retry, refresh].into_iter().flatten().min()
            }
            Some(_) => refresh,
        }
    }

    fn importance(&self, page: Page<'_>) -> Worth {
        self.order.importance(page)
    }

    fn terms(&self, page: Page<'_>) -> Vec<Term> {
        self.order.terms(page)
    }

    fn report(&self) -> Report {
        self.order.report()
    }
}
