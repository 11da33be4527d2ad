//! Ranks servers by the prefix of their queue with the most worth per second (our own strategy).
//!
//! The rank is the maximum over k of `Σ_{i≤k} Q_i / (2C + kR/p)`, with Q_i the worth of the i-th
//! page, C the connection time, R the response time and p the speed-up by pipelining.
//!
//! Crawl-ability ranks a server by the mean over all pages of a connection. A few good pages
//! before many poor ones then have to wait, and an open connection is used to its end. Here a
//! visit is planned for the prefix with the most worth per second. It continues as long as the
//! next page gives at least as much per second as the best waiting server.

use super::{Bid, Queue, Strategy};
use crate::{Cost, Rank, Worth};

/// Ranks servers by their best prefix.
#[derive(Debug, Clone, Copy, Default)]
pub struct BestPrefix;

impl Strategy for BestPrefix {
    /// Finds the best prefix in one pass: worths decrease, so the quotient rises to one maximum
    /// and then falls.
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
