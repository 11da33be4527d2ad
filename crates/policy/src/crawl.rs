//! The policy of `avocet crawl`: an ordering for new pages, a patience for silent servers, and, if
//! the user asks for it, a refresh of what is known.

use crate::order::BreadthFirst;
use crate::refresh::Uniform;
use crate::retry::Retry;
use crate::{History, Moment, Outcome, Policy, Price, Worth};

/// Discovers first, retries what did not answer, refreshes if told to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Crawl {
    /// The order of pages never fetched.
    pub order: BreadthFirst,
    /// When a page that did not answer is asked again.
    pub retry: Retry,
    /// How pages that were fetched are fetched again; `None`: not at all.
    pub refresh: Option<Uniform>,
}

impl Policy for Crawl {
    fn worth(&self, page: &History, now: Moment) -> Worth {
        let refresh = self
            .refresh
            .map_or(Worth::NONE, |refresh| refresh.worth(page, now));
        match page.outcome {
            None => self.order.worth(page, now),
            Some(Outcome::Unreachable) if self.retry.due(page).is_some_and(|due| due <= now) => {
                self.order.worth(page, now).max(refresh)
            }
            Some(_) => refresh,
        }
    }

    fn due(&self, page: &History, price: Price) -> Option<Moment> {
        let refresh = self.refresh.and_then(|refresh| refresh.due(page, price));
        match page.outcome {
            None => self.order.due(page, price),
            Some(Outcome::Unreachable) => {
                let retry = self
                    .retry
                    .due(page)
                    .filter(|_| self.order.due(page, price).is_some());
                [retry, refresh].into_iter().flatten().min()
            }
            Some(_) => refresh,
        }
    }
}
