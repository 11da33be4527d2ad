//! Servers in the order they came: the baseline. (With `--order breadth-first` pages too, as in the
//! paper.)

use crate::Rank;
use crate::server::{Bid, Queue, Strategy};

/// All servers rank alike, so that the one that waits longest is next.
#[derive(Debug, Clone, Copy, Default)]
pub struct BreadthFirst;

impl Strategy for BreadthFirst {
    fn bid(&self, queue: &Queue<'_>) -> Bid {
        Bid {
            rank: Rank::default(),
            pages: queue.best.len(),
        }
    }
}
