//! Ranks servers by their best page; the connection then also carries their other pages.

use crate::Rank;
use crate::server::{Bid, Queue, Strategy};

/// Ranks servers by the worth of their best page.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quality;

impl Strategy for Quality {
    fn bid(&self, queue: &Queue<'_>) -> Bid {
        let best = queue.best.first().copied().unwrap_or_default();
        Bid {
            rank: Rank::new(f64::from(best)),
            pages: queue.best.len(),
        }
    }
}
