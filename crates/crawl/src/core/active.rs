//! The state of one visit under way.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use frontier::{HostVisit, PageKey};
use page::PageId;
use policy::{History, Moment, Number};

use super::hosts::HostConnection;
use crate::action::Claim;
use crate::event::{ConnectionId, ConnectionState};

/// A visit under way.
pub(super) struct ActiveVisit {
    pub(super) visit: HostVisit,
    pub(super) stage: VisitStage,
    /// The claims of its pages that are not settled yet, in the order in which they are requested.
    pub(super) claims: VecDeque<Arc<Claim>>,
    /// The open connection.
    pub(super) link: Option<HostConnection>,
    /// The remote address of the last connection.
    pub(super) address: Option<IpAddr>,
    /// The connection that is being opened.
    pub(super) opening: Option<ConnectionId>,
    /// Until when the server wants no requests, by its answers and failures;
    /// [`Moment::START`]: it wants no pause.
    pub(super) rests_until: Moment,
    /// When the hours of the site begin in which the operator allows requests. The ledger does not
    /// store it, because it follows from the settings. [`Moment::START`]: they are now.
    pub(super) closed_until: Moment,
    /// When the last request was made.
    pub(super) asked: Option<Moment>,
    /// Requests made so far.
    pub(super) requests: u32,
    /// Minimum time from the last request to the next, as stored in the ledger. Zero: the ledger
    /// stores nothing.
    pub(super) kept: Duration,
    /// The delay of the server after the last request for pages. Zero before such a request is
    /// settled.
    pub(super) due: Duration,
    /// Whether the next page is requested alone, because the last batch had no answer at all.
    pub(super) alone: bool,
}

/// What a visit waits for.
pub(super) enum VisitStage {
    /// Nothing: it is about to continue.
    Free,
    /// Histories, or commits of requests.
    Waiting,
    /// The ledger's records of its pages and its host.
    Loading(Vec<PageKey>),
    /// The address of the server.
    Resolving,
    /// The connection.
    Connecting,
    /// The robots.txt.
    Rules,
    /// The answer to a probe. Holds the delay after the request.
    Probing(Duration),
    /// Answers to requests for pages.
    Requesting(PendingRequests),
    /// A new connection, because the last one was found closed by a request.
    Reconnecting(PendingRequests),
}

/// Pages that were requested.
pub(super) struct PendingRequests {
    pub(super) batch: Vec<Arc<Claim>>,
    /// When they were first requested.
    pub(super) at: Moment,
    /// The delay of the server after the request.
    pub(super) delay: Duration,
    /// Number of pages whose results have not arrived or are not processed yet.
    pub(super) left: usize,
    /// Number of pages that were reported as `Unanswered`.
    pub(super) lost: usize,
    /// Points against another attempt: two for a connection that was found closed after the
    /// request was sent, one for a connection that was found closed before. With two or more
    /// points the next attempt is the last.
    pub(super) closed: u8,
}

impl ActiveVisit {
    pub(super) fn new(visit: HostVisit) -> Self {
        Self {
            visit,
            stage: VisitStage::Free,
            claims: VecDeque::new(),
            link: None,
            address: None,
            opening: None,
            rests_until: Moment::START,
            closed_until: Moment::START,
            asked: None,
            requests: 0,
            kept: Duration::ZERO,
            due: Duration::ZERO,
            alone: false,
        }
    }

    /// Returns whether the visit has made as many requests as it may without a pause, at a server
    /// that needs this delay between requests.
    pub(super) fn is_spent(&self, delay: Duration) -> bool {
        !delay.is_zero() && self.requests as usize >= self.visit.burst
    }

    /// Returns whether the server wants a pause.
    pub(super) fn rests(&self) -> bool {
        self.rests_until > Moment::START
    }

    /// Extends the pause of the server to at least `wait` from now.
    pub(super) fn rest_for(&mut self, wait: Duration, now: Moment) {
        self.rests_until = self.rests_until.max(now + wait);
    }

    /// Updates the connection after a request.
    pub(super) fn used(&mut self, connection: ConnectionState) {
        if !connection.open {
            self.link = None;
        } else if let Some(link) = &mut self.link {
            link.served = connection.served;
        }
    }

    /// Drops a connection that its server closed while no request used it.
    pub(super) fn lose(&mut self, connection: ConnectionId) {
        if self.link.is_some_and(|link| link.id == connection) {
            self.link = None;
        }
    }

    /// Updates the claim of a page with its newer history, unless the page is being requested.
    /// A page whose request found the connection closed will be requested again, so it is
    /// updated too.
    pub(super) fn learned(&mut self, page: PageId, history: &History) {
        let held = match &mut self.stage {
            VisitStage::Reconnecting(pending) => pending.batch.iter_mut(),
            _ => [].iter_mut(),
        };
        let claims = self.claims.iter_mut().chain(held);
        for claim in claims.filter(|claim| claim.key.page == page) {
            if let Some(before) = &mut Arc::make_mut(claim).before
                && before.history.asked == history.asked
            {
                before.history = *history;
            }
        }
    }

    /// Removes a settled page.
    pub(super) fn settled(&mut self, page: Number) {
        self.visit.settled(page);
        self.claims.retain(|claim| claim.number != page);
    }
}
