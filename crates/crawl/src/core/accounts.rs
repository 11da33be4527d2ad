//! Limits of a crawl: how many pages and fetches are left, and how many requests a kill could
//! lose.

use std::collections::VecDeque;

use frontier::Budget;
use policy::Moment;

use crate::event::VisitId;

/// Limits on fetches: a total number of pages, and a budget in fetches per second.
#[derive(Debug, Default)]
pub(super) struct Allowance {
    /// Pages that may still be fetched; `None`: unlimited.
    pub pages: Option<u64>,
    /// The budget of fetches; `None`: unlimited.
    pub budget: Option<Budget>,
}

impl Allowance {
    /// Returns whether the page limit is reached.
    pub fn is_spent(&self) -> bool {
        self.pages == Some(0)
    }

    /// Returns when the budget allows the next fetch; `None`: now.
    pub fn wait(&mut self, now: Moment) -> Option<Moment> {
        let ready = self.budget.as_mut()?.ready(now);
        (ready > now).then_some(ready)
    }

    /// Takes one page and its fetch. Returns `false` and takes nothing if no page is left, or the
    /// budget does not allow a fetch yet.
    pub fn take(&mut self, now: Moment) -> bool {
        if self.is_spent() || self.wait(now).is_some() {
            return false;
        }
        if let Some(left) = &mut self.pages {
            *left -= 1;
        }
        self.charge(now);
        true
    }

    /// Charges the budget for a request outside the page allowance (robots.txt, probes).
    pub fn charge(&mut self, now: Moment) {
        if let Some(budget) = &mut self.budget {
            budget.spend(now);
        }
    }

    /// Gives one page back because the request failed or its status was neither 2xx nor 304.
    pub fn give_back_page(&mut self) {
        if let Some(left) = &mut self.pages {
            *left += 1;
        }
    }

    /// Gives one page and its fetch back because no request was made.
    pub fn give_back(&mut self) {
        self.give_back_page();
        if let Some(budget) = &mut self.budget {
            budget.give_back();
        }
    }
}

/// Counts requests that are not committed, and allows at most
/// [`Plan::at_risk`](crate::Plan::at_risk) of them. This bounds how many requests the next run
/// repeats after a kill.
#[derive(Debug)]
pub(super) struct Risk {
    most: usize,
    uncommitted: usize,
    /// Visits that wait for permission to make a request.
    waiting: VecDeque<VisitId>,
}

impl Risk {
    pub fn new(most: usize) -> Self {
        Self {
            most,
            uncommitted: 0,
            waiting: VecDeque::new(),
        }
    }

    /// Number of requests that are not committed.
    pub fn uncommitted(&self) -> usize {
        self.uncommitted
    }

    /// Takes permission for a request. Returns `false` if too many are not committed.
    pub fn take(&mut self) -> bool {
        let free = self.uncommitted < self.most;
        self.uncommitted += usize::from(free);
        free
    }

    /// Queues a visit that waits for permission.
    pub fn await_turn(&mut self, visit: VisitId) {
        self.waiting.push_back(visit);
    }

    /// Releases the permissions of requests that are durable or were never made.
    pub fn give_back(&mut self, requests: usize) {
        self.uncommitted -= requests.min(self.uncommitted);
    }

    /// Takes the next waiting visit, if a request is permitted.
    pub fn next_waiting(&mut self) -> Option<VisitId> {
        if self.uncommitted >= self.most {
            return None;
        }
        self.waiting.pop_front()
    }

    /// Takes all waiting visits, because a paused or stopping crawl makes no new request.
    pub fn take_waiting(&mut self) -> VecDeque<VisitId> {
        std::mem::take(&mut self.waiting)
    }
}
