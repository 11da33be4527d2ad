//! As many pages as possible in unit time, whatever they are worth: P/T.

use crate::Worth;
use crate::server::{Bid, Queue, Strategy};

/// Ranks servers by the pages a second that a connection gives.
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
