//! A visit: the right to fetch some pages of one host, from the claim to the settlement.

use std::collections::VecDeque;

use page::HostId;
use policy::Number;
use policy::server::Estimate;

use super::entry::QueueEntry;
use super::{HostIndex, ServerIndex};

/// The right and the duty to fetch a few pages of one host.
#[must_use = "a visit that is never settled keeps its server off the bench"]
#[derive(Debug)]
pub struct HostVisit {
    /// The host to visit.
    pub host: HostId,
    /// The speed of the host. The caller updates it during the visit.
    pub estimate: Estimate,
    /// Maximum number of requests of one visit to the server, if it needs a delay. The caller
    /// lowers it if the server allows fewer.
    pub burst: usize,
    /// Number of consecutive requests that the server refused because it is overloaded.
    pub(super) refusals: u16,
    /// The claimed pages that are not settled yet.
    pub(super) claims: VecDeque<QueueEntry>,
    /// Number of pages that the visit was ranked for.
    pub(super) planned: usize,
    /// Number of pages that were claimed for it so far, settled or not.
    pub(super) claimed: usize,
    pub(super) server: ServerIndex,
    pub(super) index: HostIndex,
}

impl HostVisit {
    /// Returns the next page to request.
    pub fn first(&self) -> Option<Number> {
        self.left().next()
    }

    /// Returns the number of consecutive requests that the server refused because it is
    /// overloaded.
    pub fn refusals(&self) -> u16 {
        self.refusals
    }

    /// Returns the claimed pages that are not settled yet.
    pub fn left(&self) -> impl Iterator<Item = Number> {
        self.claims.iter().map(|entry| entry.number())
    }

    /// Returns the worths of the pages of [`left`](Self::left), in the same order.
    pub(crate) fn worths(&self) -> impl Iterator<Item = policy::Worth> {
        let worth = |entry: &QueueEntry| policy::Worth::new(f64::from(entry.worth()));
        self.claims.iter().map(worth)
    }

    /// Returns the worth of a page that is not settled yet.
    pub fn worth_of(&self, page: Number) -> Option<policy::Worth> {
        let mut claims = self.left().zip(self.worths());
        claims
            .find(|(number, _)| *number == page)
            .map(|(_, worth)| worth)
    }

    pub(crate) fn host_index(&self) -> HostIndex {
        self.index
    }

    /// Removes a page from the claims because it is settled, whatever the outcome.
    pub fn settled(&mut self, page: Number) {
        let place = self.claims.iter().position(|entry| entry.number() == page);
        if let Some(place) = place {
            self.claims.remove(place);
        }
    }
}
