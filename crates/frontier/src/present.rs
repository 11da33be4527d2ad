//! Facts that a wrong clock dated after the present.
//!
//! A clock that was ahead leaves visits and discoveries whose moments lie in the future. Taken as they are, they
//! put off every retry and every refresh until the clock has caught up. So code that decides by the ledger reads it
//! through a [`Present`]: a moment after the present becomes the moment at which such facts were first noticed.
//! That moment is a fact too ([`Facts::noticed_ahead`](crate::Facts::noticed_ahead)), so pages age through restarts.
//!
//! The records on disk stay as they are. If it is today's clock that is wrong, and behind, they are right again
//! when it is.

use std::time::Duration;

use policy::{History, Moment};

use crate::record::{Known, ServerFacts};

/// A fact that is ahead of the clock by less than this is no reason to tell anyone: clocks are corrected by seconds.
const TOLERANCE: Duration = Duration::from_secs(60);

/// The present, as the facts of the ledger are seen from it.
#[derive(Debug, Clone, Copy)]
pub struct Present {
    now: Moment,
    to: Moment,
}

/// Pages whose facts are dated after the present.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ahead {
    /// How many there are.
    pub pages: u64,
    /// How far the latest moment is ahead.
    pub by: Duration,
}

impl Present {
    /// The present of a store in which facts from the future were first noticed at that moment, if ever.
    pub fn new(now: Moment, noticed: Option<Moment>) -> Self {
        Self {
            now,
            to: noticed.map_or(now, |noticed| noticed.min(now)),
        }
    }

    /// Now.
    pub fn now(&self) -> Moment {
        self.now
    }

    /// When a fact that bears this date became known.
    pub fn moment(&self, moment: Moment) -> Moment {
        moment.brought_back(self.now, self.to)
    }

    /// A page's history without moments after the present.
    pub fn history(&self, history: &History) -> History {
        history.brought_back(self.now, self.to)
    }

    /// Brings the facts of a page back. When the last copy was fetched stays as it is: that moment names a record
    /// of the archive.
    pub fn bring_back(&self, known: &mut Known) {
        known.discovery.at = self.moment(known.discovery.at);
        known.discovery.absent = known.discovery.absent.map(|absent| self.moment(absent));
        if let Some(visited) = &mut known.visited {
            visited.history = self.history(&visited.history);
        }
    }

    /// When a server may be asked again.
    pub fn ready(&self, server: &ServerFacts) -> Moment {
        self.moment(server.asked) + server.wait
    }

    /// Counts a page whose last visit, or else whose discovery, is dated after the present.
    pub fn count(&self, known: &Known, ahead: &mut Ahead) {
        let asked = known.visited.as_ref().and_then(|page| page.history.asked);
        let by = asked.unwrap_or(known.discovery.at).since(self.now);
        if by > TOLERANCE {
            ahead.pages += 1;
            ahead.by = ahead.by.max(by);
        }
    }
}
