//! The most worth in unit time over as many pages as pay: max over k of Σ_{i≤k} Q_i / (2C + kR/p).
//!
//! Ours. Crawl-ability ranks a server by the mean of all pages that a connection carries, so a few good
//! pages before many poor ones wait; and a connection, once open, is used to its end. Here a visit is
//! for the prefix of the queue that pays best, and then stays while the next page gives more a second
//! than the best server that waits.

use super::{Bid, Queue, Strategy};
use crate::{Cost, Rank, Worth};

/// Ranks servers by their best prefix.
#[derive(Debug, Clone, Copy, Default)]
pub struct BestPrefix;

impl Strategy for BestPrefix {
    /// Worths fall along the queue, so the quotient rises to one maximum and falls from there on.
    fn bid(&self, queue: &Queue<'_>) -> Bid {
        let mut best = Bid {
            rank: Rank::default(),
            pages: 1,
        };
        let mut sum = 0.0;
        for (before, &worth) in queue.best.iter().enumerate() {
            sum += f64::from(worth);
            let pages = before + 1;
            let rank = Worth::new(sum) / queue.estimate.cost(pages, queue.line);
            if rank < best.rank {
                break;
            }
            best = Bid { rank, pages };
        }
        best
    }

    fn stays(&self, next: f32, queue: &Queue<'_>, waiting: Rank) -> bool {
        let each = Cost::seconds(queue.estimate.each(queue.line));
        Worth::new(f64::from(next)) / each >= waiting
    }
}
