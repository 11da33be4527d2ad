//! Server strategies, which choose the next server and the number of pages of a visit. One per
//! file.
//!
//! Cao, Jiang & Singh, "Scheduling web crawl for better performance and quality" (2003): each
//! server has a queue of URLs, and one queue holds the servers. A server is ranked by the
//! expected gain of its next connection.

mod best_prefix;
mod estimate;

pub use best_prefix::BestPrefix;
pub use estimate::{ConnectionSlot, Estimate, PER_CONNECTION};

use crate::Rank;

/// A server with waiting pages, as input of a strategy.
#[derive(Debug, Clone, Copy)]
pub struct Queue<'a> {
    /// Worths of its best pages, the best first, at most as many as one connection serves.
    pub best: &'a [f32],
    /// The cost estimate of a visit.
    pub estimate: &'a Estimate,
    /// The connection that the visit would use.
    pub line: ConnectionSlot,
}

/// The rank of a server, and the number of pages to fetch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bid {
    /// The server with the highest rank is visited first. Ties go to the one that waited
    /// longest.
    pub rank: Rank,
    /// Number of its best pages that the visit is for.
    pub pages: usize,
}

/// Ranks servers.
///
/// Unlike a [`Policy`](crate::Policy), it knows no pages and no facts. It gets the worths of the
/// waiting pages and the cost of a connection.
pub trait Strategy: Send {
    /// Returns the rank of a server with at least one waiting page.
    fn bid(&self, queue: &Queue<'_>) -> Bid;

    /// Returns whether to keep an open connection for one more page.
    ///
    /// `next` is the worth of that page; `waiting` is the rank of the best waiting server. The
    /// default never adds a page to those of the bid.
    fn stays(&self, _next: f32, _queue: &Queue<'_>, _waiting: Rank) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
