//! Pages on the bench whose worth is recomputed in turn.
//!
//! The worth of a page changes while it waits, but the bench keeps the worth at the time of the
//! offer. So under a budget only a few visited pages wait on the bench at a time, and the
//! others wait in the calendar. The worth of those few is recomputed round-robin from their
//! histories, which are kept here. New pages that lose worth while they wait have a queue of
//! their own, without a limit.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use policy::{History, Number};

use crate::bench::HostIndex;

/// Maximum number of visited pages of one host on the bench.
const OF_HOST: u32 = 16;
/// Maximum number of visited pages of all hosts on the bench.
const OF_ALL: usize = 4096;

/// Pages on the bench, in the order in which their worth is recomputed.
#[derive(Default)]
pub(super) struct RevaluationQueue {
    pages: HashMap<Number, QueuedPage>,
    /// In round-robin order. Pages that have left the bench are skipped.
    turns: VecDeque<(Number, HostIndex, Ticket)>,
    /// Tickets given out so far.
    tickets: Ticket,
    /// Number of pages of each host.
    hosts: HashMap<HostIndex, u32>,
}

/// Identifies the turn of a page. A page that left the bench and came back has a new ticket, and
/// the turn with its old ticket is skipped.
type Ticket = u64;

struct QueuedPage {
    ticket: Ticket,
    /// `None`: not known when the page was offered.
    history: Option<History>,
}

impl RevaluationQueue {
    pub fn insert(&mut self, page: Number, host: HostIndex, history: Option<&History>) {
        let history = history.copied();
        match self.pages.entry(page) {
            Entry::Occupied(mut queued) => queued.get_mut().history = history,
            Entry::Vacant(free) => {
                self.tickets += 1;
                let ticket = self.tickets;
                free.insert(QueuedPage { ticket, history });
                self.turns.push_back((page, host, ticket));
                *self.hosts.entry(host).or_default() += 1;
            }
        }
    }

    pub fn remove(&mut self, page: Number, host: HostIndex) {
        if self.pages.remove(&page).is_some()
            && let Some(count) = self.hosts.get_mut(&host)
        {
            *count -= 1;
            if *count == 0 {
                self.hosts.remove(&host);
            }
        }
    }

    /// Returns the history of a page of the queue; `None`: it is not known.
    pub fn history(&self, page: Number) -> Option<History> {
        self.pages.get(&page)?.history
    }

    /// Updates the history of a page, if the queue has the page.
    pub fn learn(&mut self, page: Number, history: &History) {
        if let Some(queued) = self.pages.get_mut(&page) {
            queued.history = Some(*history);
        }
    }

    /// Returns the next page in round-robin order.
    pub fn next_page(&mut self) -> Option<(Number, HostIndex)> {
        while let Some((page, host, ticket)) = self.turns.pop_front() {
            if (self.pages.get(&page)).is_some_and(|queued| queued.ticket == ticket) {
                self.turns.push_back((page, host, ticket));
                return Some((page, host));
            }
        }
        None
    }

    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Returns how many more pages the limit of all hosts allows.
    pub fn room(&self) -> usize {
        OF_ALL.saturating_sub(self.pages.len())
    }

    /// Returns whether the limit of this host is reached.
    pub fn has_enough_of(&self, host: HostIndex) -> bool {
        self.hosts.get(&host).is_some_and(|count| *count >= OF_HOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_per_host_and_in_total_are_reached_and_pages_take_turns() {
        let mut revisits = RevaluationQueue::default();
        for page in 0..OF_HOST {
            assert!(!revisits.has_enough_of(7));
            revisits.insert(Number(page), 7, None);
            revisits.insert(Number(page), 7, None);
        }
        assert!(revisits.has_enough_of(7) && !revisits.has_enough_of(8));
        revisits.remove(Number(3), 7);
        revisits.remove(Number(3), 7);
        assert!(!revisits.has_enough_of(7) && revisits.room() > 0);
        let turns: Vec<u32> = (0..revisits.len())
            .filter_map(|_| revisits.next_page())
            .map(|(page, _)| page.0)
            .collect();
        let left: Vec<u32> = (0..OF_HOST).filter(|page| *page != 3).collect();
        assert_eq!(turns, left, "each once");
        // A page that comes back before its old turn has one turn, the last.
        revisits.remove(Number(0), 7);
        revisits.insert(Number(0), 7, None);
        let turns: Vec<u32> = (0..2 * revisits.len())
            .filter_map(|_| revisits.next_page())
            .map(|(page, _)| page.0)
            .collect();
        let round: Vec<u32> = left.into_iter().skip(1).chain([0]).collect();
        assert_eq!(turns, [round.clone(), round].concat());
        (100..)
            .take(OF_ALL)
            .for_each(|page| revisits.insert(Number(page), page, None));
        assert_eq!(revisits.room(), 0);
    }
}
