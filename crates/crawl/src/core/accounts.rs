//! What a crawl may still fetch, and how many requests a kill could cost.

use std::collections::VecDeque;

use frontier::Budget;
use policy::Moment;

use crate::event::VisitId;

/// Limits on fetches: a number of pages in all, and a budget of fetches a second.
#[derive(Debug, Default)]
pub(super) struct Allowance {
    /// Pages that may still be fetched; `None`: any number.
    pub pages: Option<u64>,
    /// Fetches over time; `None`: any number.
    pub budget: Option<Budget>,
}

impl Allowance {
    /// Whether the pages are used up.
    pub fn is_spent(&self) -> bool {
        self.pages == Some(0)
    }

    /// When the budget pays for the next fetch; `None`: now.
    pub fn wait(&mut self, now: Moment) -> Option<Moment> {
        let ready = self.budget.as_mut()?.ready(now);
        (ready > now).then_some(ready)
    }

    /// Takes one page; `false`: there is none left, or not yet.
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

    /// Gives one page back: what was asked for was no page.
    pub fn give_back_page(&mut self) {
        if let Some(left) = &mut self.pages {
            *left += 1;
        }
    }

    /// Gives one page and its fetch back: no request was made.
    pub fn give_back(&mut self) {
        self.give_back_page();
        if let Some(budget) = &mut self.budget {
            budget.give_back();
        }
    }
}

/// Counts requests that are not committed, and keeps them below [`Plan::at_risk`](crate::Plan::at_risk). That bounds
/// how many requests a kill at any instant makes the next run repeat.
#[derive(Debug)]
pub(super) struct Risk {
    most: usize,
    uncommitted: usize,
    /// Visits that wait until another request may be made.
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

    /// Requests that are not committed.
    pub fn uncommitted(&self) -> usize {
        self.uncommitted
    }

    /// Takes the right to make a request; `false`: too many are not committed.
    pub fn take(&mut self) -> bool {
        let free = self.uncommitted < self.most;
        self.uncommitted += usize::from(free);
        free
    }

    /// Has a visit wait for the right.
    pub fn await_turn(&mut self, visit: VisitId) {
        self.waiting.push_back(visit);
    }

    /// Takes note of requests that are safe, or were never made.
    pub fn give_back(&mut self, requests: usize) {
        self.uncommitted -= requests.min(self.uncommitted);
    }

    /// Takes a visit whose turn has come.
    pub fn next_waiting(&mut self) -> Option<VisitId> {
        if self.uncommitted >= self.most {
            return None;
        }
        self.waiting.pop_front()
    }

    /// Takes all visits that wait: nothing new begins.
    pub fn take_waiting(&mut self) -> VecDeque<VisitId> {
        std::mem::take(&mut self.waiting)
    }
}
