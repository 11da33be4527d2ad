//! The right to ask one host for some pages, from the claim to the settlement.

use std::collections::VecDeque;

use page::HostId;
use policy::Number;
use policy::server::Estimate;

use super::entry::Entry;
use super::{HostIndex, ServerIndex};

/// The right, and the duty, to fetch a few pages of one host.
#[must_use = "a visit that is never settled keeps its server off the bench"]
#[derive(Debug)]
pub struct Visit {
    /// The host to ask.
    pub host: HostId,
    /// What is known of its speed; whoever makes the visit brings it up to date.
    pub estimate: Estimate,
    /// Requests in a row that its server refused because it is busy.
    pub(super) refusals: u16,
    pub(super) claims: VecDeque<Entry>,
    /// Pages that the visit was ranked for.
    pub(super) planned: usize,
    /// Pages claimed for it so far.
    pub(super) claimed: usize,
    pub(super) server: ServerIndex,
    pub(super) index: HostIndex,
}

impl Visit {
    /// The next page to ask for.
    pub fn first(&self) -> Option<Number> {
        self.left().next()
    }

    /// Requests in a row that its server refused because it is busy.
    pub fn refusals(&self) -> u16 {
        self.refusals
    }

    /// The pages that were not settled yet.
    pub fn left(&self) -> impl Iterator<Item = Number> {
        self.claims.iter().map(|entry| entry.number())
    }

    /// What the pages that were not settled yet are worth, in the same order.
    pub(crate) fn worths(&self) -> impl Iterator<Item = policy::Worth> {
        let worth = |entry: &Entry| policy::Worth::new(f64::from(entry.worth()));
        self.claims.iter().map(worth)
    }

    /// What a page that was not settled yet is worth.
    pub fn worth_of(&self, page: Number) -> Option<policy::Worth> {
        let mut claims = self.left().zip(self.worths());
        claims
            .find(|(number, _)| *number == page)
            .map(|(_, worth)| worth)
    }

    /// The number of its host.
    pub(crate) fn host_index(&self) -> HostIndex {
        self.index
    }

    /// Takes note that a page is settled, whatever came of it.
    pub fn settled(&mut self, page: Number) {
        let place = self.claims.iter().position(|entry| entry.number() == page);
        if let Some(place) = place {
            self.claims.remove(place);
        }
    }
}
