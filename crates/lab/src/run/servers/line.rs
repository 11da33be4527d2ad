//! Which connections are open, and what did they carry?
//!
//! **Invariant:** an open connection is in the hands of one visit, or idle; never both.

use std::time::Duration;

use page::HostId;
use policy::Moment;

/// How long a connection is kept that nobody uses (`avocet/src/engine/shared.rs`).
const PATIENCE: Duration = Duration::from_secs(30);

/// A connection.
#[derive(Debug)]
pub(super) struct Line {
    /// Answers that it gave.
    pub served: u32,
    /// Answers that it will give.
    pub carries: u32,
    /// Requests that may be out at once.
    pub width: usize,
    /// What the first answer takes longer than the others.
    pub late: Duration,
}

impl Line {
    pub fn is_open(&self) -> bool {
        self.served < self.carries
    }
}

/// Open connections that no visit uses, with since when.
#[derive(Debug, Default)]
pub(super) struct Idle(Vec<(HostId, Moment, Line)>);

impl Idle {
    pub fn keep(&mut self, host: HostId, since: Moment, line: Line) {
        self.0.push((host, since, line));
    }

    pub fn take(&mut self, host: HostId) -> Option<Line> {
        let place = self.0.iter().position(|(id, ..)| *id == host)?;
        Some(self.0.swap_remove(place).2)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Closes those that were idle for long. Returns whose they were.
    pub fn close_old(&mut self, now: Moment) -> Vec<HostId> {
        let is_old = |kept: &mut (HostId, Moment, Line)| now.since(kept.1) >= PATIENCE;
        self.0.extract_if(.., is_old).map(|kept| kept.0).collect()
    }

    /// Closes one of those that were idle for longest, if there are more than so many.
    pub fn close_one_beyond(&mut self, most: usize) -> Option<HostId> {
        if self.0.len() <= most {
            return None;
        }
        let oldest = (0..self.0.len()).min_by_key(|&place| self.0[place].1)?;
        Some(self.0.swap_remove(oldest).0)
    }
}
