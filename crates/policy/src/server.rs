//! Which server is visited next, and for how many pages? One file, one strategy.
//!
//! Cao, Jiang & Singh, "Scheduling web crawl for better performance and quality" (2003): URLs wait in
//! a queue a server, servers in one queue over these; a server is ranked for its next connection by
//! what that is expected to give.

mod best_prefix;
mod estimate;

pub use best_prefix::BestPrefix;
pub use estimate::{Estimate, Line, PER_CONNECTION};

use crate::Rank;

/// A server that has work, as a strategy sees it.
#[derive(Debug, Clone, Copy)]
pub struct Queue<'a> {
    /// What its best pages are worth, the best first: as many as one connection serves, or all.
    pub best: &'a [f32],
    /// What a visit costs.
    pub estimate: &'a Estimate,
    /// The connection that the visit would use.
    pub line: Line,
}

/// What a strategy makes of a server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bid {
    /// The server with the highest rank is visited first; ties go to the one that waits longest.
    pub rank: Rank,
    /// How many of its best pages the visit is for.
    pub pages: usize,
}

/// Ranks servers.
///
/// Not a [`Policy`](crate::Policy): it is given the worths of pages and divides what a whole connection
/// carries by what it costs, so it knows no page and no fact.
pub trait Strategy: Send {
    /// What a visit to this server, which has at least one page waiting, is worth.
    fn bid(&self, queue: &Queue<'_>) -> Bid;

    /// Whether an open connection is kept for one page more, which is worth `next`, while the best
    /// waiting server ranks `waiting`.
    fn stays(&self, _next: f32, _queue: &Queue<'_>, _waiting: Rank) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
