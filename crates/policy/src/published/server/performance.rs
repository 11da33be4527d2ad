//! Ranks servers by pages per second, regardless of their worth: P/T, where P pages take the time T
//! on one connection.

use crate::Worth;
use crate::server::{Bid, Queue, Strategy};

/// Ranks servers by the pages per second of one connection.
#[derive(Debug, Clone, Copy, Default)]
pub struct Performance;

impl Strategy for Performance {
    fn bid(&self, queue: &Queue<'_>) -> Bid {
        let pages = queue.best.len();
        Bid {
            rank: Worth::new(pages as f64) / queue.estimate.cost(pages, queue.line),
            pages,
        }
    }
}
