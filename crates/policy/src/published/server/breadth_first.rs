//! Servers in the order of arrival, as a baseline.
//!
//! With `--order breadth-first` the pages of a server have this order, too, as in Cao, Jiang &
//! Singh (2003).

use crate::Rank;
use crate::server::{Bid, Queue, Strategy};

/// Gives all servers the same rank, so that the one that waited longest is next.
#[derive(Debug, Clone, Copy, Default)]
pub struct BreadthFirstServers;

impl Strategy for BreadthFirstServers {
    fn bid(&self, queue: &Queue<'_>) -> Bid {
        Bid {
            rank: Rank::default(),
            pages: queue.best.len(),
        }
    }
}
