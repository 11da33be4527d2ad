//! Corrects facts that a wrong clock dated in the future.
//!
//! A clock that was ahead leaves visits and discoveries with moments in the future. Without a
//! correction, every retry and refresh of these pages would wait until the clock has caught up. So
//! code that makes decisions from the ledger reads its facts through a [`Present`]. It replaces a
//! moment in the future by the moment at which such facts were first noticed. That moment is a fact
//! too ([`Facts::noticed_ahead`](crate::Facts::noticed_ahead)), so pages age across restarts.
//!
//! The records on disk stay unchanged. If the clock of today is the wrong one, and is behind,
//! they are right again as soon as it is corrected.

use std::time::Duration;

use policy::{History, Moment};

use crate::record::{Known, ServerFacts};

/// Facts that are ahead of the clock by at most this are not reported: clocks are routinely
/// corrected by seconds.
const TOLERANCE: Duration = Duration::from_secs(60);

/// The current time, and the replacement for moments after it.
#[derive(Debug, Clone, Copy)]
pub struct Present {
    now: Moment,
    to: Moment,
}

/// Number of pages whose facts are dated in the future, and by how much.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ahead {
    /// Number of pages.
    pub pages: u64,
    /// How far the latest of these facts is ahead of the clock.
    pub by: Duration,
}

impl Present {
    /// Returns the present of a store. `noticed` is when facts dated in the future were first
    /// noticed.
    pub fn new(now: Moment, noticed: Option<Moment>) -> Self {
        Self {
            now,
            to: noticed.map_or(now, |noticed| noticed.min(now)),
        }
    }

    /// Returns the current time.
    pub fn now(&self) -> Moment {
        self.now
    }

    /// Returns a moment unchanged, or its replacement if it is in the future.
    pub fn moment(&self, moment: Moment) -> Moment {
        moment.brought_back(self.now, self.to)
    }

    /// Returns a page's history with all moments corrected.
    pub fn history(&self, history: &History) -> History {
        history.brought_back(self.now, self.to)
    }

    /// Corrects the facts of a page, except the fetch time of the last copy: it identifies a
    /// record of the archive.
    pub fn bring_back(&self, known: &mut Known) {
        known.discovery.at = self.moment(known.discovery.at);
        known.discovery.absent = known.discovery.absent.map(|absent| self.moment(absent));
        if let Some(visited) = &mut known.visited {
            visited.history = self.history(&visited.history);
        }
    }

    /// Returns when the next request to a server may be made.
    pub fn ready(&self, server: &ServerFacts) -> Moment {
        self.moment(server.asked) + server.wait
    }

    /// Counts a page whose last visit, or else whose discovery, is dated more than a minute in
    /// the future.
    pub fn count(&self, known: &Known, ahead: &mut Ahead) {
        let asked = known.visited.as_ref().and_then(|page| page.history.asked);
        let by = asked.unwrap_or(known.discovery.at).since(self.now);
        if by > TOLERANCE {
            ahead.pages += 1;
            ahead.by = ahead.by.max(by);
        }
    }
}
