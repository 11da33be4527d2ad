//! The most worth in unit time over a whole connection: ΣQuality/T.
//!
//! The paper prints a product and says "simple algebraic summation"; it is a sum.

use crate::Worth;
use crate::server::{Bid, Queue, Strategy};

/// Ranks servers by what the pages of one connection are worth a second.
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
