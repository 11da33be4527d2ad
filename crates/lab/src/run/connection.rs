//! What does a crawl over one connection know of its servers?
//!
//! The engine keeps the connection of a visit for the next one, and closes it when it needs the place for
//! another host's. **Invariant:** at most one connection is open, and the bench knows which.

use std::collections::HashSet;
use std::time::Duration;

use frontier::{Bench, Visit};
use page::HostId;

/// The one connection of a crawl, to servers that answer at once and never hang up.
#[derive(Default)]
pub(super) struct Connection {
    /// The host that it leads to, and the answers that came over it.
    open: Option<(HostId, u32)>,
    /// Hosts whose robots.txt is known. It is an answer too.
    rules: HashSet<HostId>,
}

impl Connection {
    /// Makes sure that it leads to the host of this visit.
    pub fn connect(&mut self, visit: &mut Visit, bench: &mut Bench) {
        if self.leads_to(visit.host) {
            return;
        }
        if let Some((other, _)) = self.open.take() {
            bench.closed(other);
        }
        visit.estimate.connected(Duration::ZERO);
        let robots = self.rules.insert(visit.host);
        self.open = Some((visit.host, u32::from(robots)));
    }

    /// Takes note of an answer.
    pub fn answered(&mut self, visit: &mut Visit) {
        visit.estimate.answered(Duration::ZERO);
        if let Some((_, served)) = &mut self.open {
            *served += 1;
        }
    }

    /// Takes note that a visit ends and leaves the connection open.
    pub fn rest(&self, visit: &mut Visit) {
        if let Some((_, served)) = self.open {
            visit.estimate.open_after(served);
        }
    }

    fn leads_to(&self, host: HostId) -> bool {
        self.open.is_some_and(|(open, _)| open == host)
    }
}
