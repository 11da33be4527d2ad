//! Collects settled and dropped pages into groups for the committer, and hands over facts.
//!
//! **Invariant:** facts leave in the order in which they changed the frontier.

use std::time::Duration;

use frontier::{Entry, PageKey};
use policy::Moment;

use crate::action::{Action, Record, Work};
use crate::plan::GROUP;

/// Longest wait of a settled or dropped page for the rest of its group.
const WAIT: Duration = Duration::from_millis(500);

/// Work that was not handed to the committer yet.
pub(super) struct Outbox<S> {
    records: Vec<Record<S>>,
    drops: Vec<PageKey>,
    /// When the group is handed over, even if it is not full.
    due: Option<Moment>,
}

impl<S> Default for Outbox<S> {
    fn default() -> Self {
        Self {
            records: Vec::new(),
            drops: Vec::new(),
            due: None,
        }
    }
}

impl<S> Outbox<S> {
    /// Adds a settled page. Hands the group over if it is full.
    pub fn push(&mut self, record: Record<S>, now: Moment, actions: &mut Vec<Action<S>>) {
        self.records.push(record);
        self.due.get_or_insert(now + WAIT);
        if self.records.len() >= GROUP {
            self.flush(actions);
        }
    }

    /// Adds a page that was dropped from the buffer.
    pub fn drop_page(&mut self, page: PageKey, now: Moment) {
        self.drops.push(page);
        self.due.get_or_insert(now + WAIT);
    }

    /// Hands over facts without a page, after everything that came before.
    pub fn push_facts(&mut self, facts: Vec<Entry>, actions: &mut Vec<Action<S>>) {
        self.flush(actions);
        if !facts.is_empty() {
            actions.push(Action::Commit(Work::Facts(facts)));
        }
    }

    /// Hands the group over if its time has come. Returns when the next group is due.
    pub fn flush_due(&mut self, now: Moment, actions: &mut Vec<Action<S>>) -> Option<Moment> {
        if self.due.is_some_and(|due| due <= now) {
            self.flush(actions);
        }
        self.due
    }

    /// Hands everything over.
    pub fn flush(&mut self, actions: &mut Vec<Action<S>>) {
        self.due = None;
        if !self.records.is_empty() {
            let records = std::mem::take(&mut self.records);
            actions.push(Action::Commit(Work::Pages(records)));
        }
        if !self.drops.is_empty() {
            let drops = std::mem::take(&mut self.drops);
            actions.push(Action::Commit(Work::Drop(drops)));
        }
    }
}
