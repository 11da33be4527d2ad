//! Ranks servers by worth per second over a whole connection: ΣQuality/T, where T is the time that
//! the connection takes.
//!
//! Cao, Jiang & Singh (2003) print a product, but call it a "simple algebraic summation". It is a
//! sum here.

use crate::Worth;
use crate::server::{Bid, Queue, Strategy};

/// Ranks servers by the worth per second of the pages of one connection.
#[derive(Debug, Clone, Copy, Default)]
pub struct CrawlAbility;

impl Strategy for CrawlAbility {
    fn bid(&self, queue: &Queue<'_>) -> Bid {
        let pages = queue.best.len();
        let sum: f64 = queue.best.iter().map(|&worth| f64::from(worth)).sum();
        Bid {
            rank: Worth::new(sum) / queue.estimate.cost(pages, queue.line),
            pages,
        }
    }
}
