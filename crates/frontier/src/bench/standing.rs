//! What stands before a page?

use page::HostId;
use policy::{Number, Rank};

use super::{Bench, Seat};

/// Where a waiting page stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// What it was worth when it was queued or last moved.
    pub worth: f32,
    /// Pages of its host that leave before it.
    pub pages_before: usize,
    /// Pages of its host that wait.
    pub pages_waiting: usize,
    /// The rank of its host's next visit.
    pub rank: Rank,
    /// Pages that this visit is for.
    pub visit_pages: usize,
    /// Servers that are visited before its own.
    pub servers_before: usize,
}

impl Bench {
    /// Where a page of this host stands; `None`: it does not wait.
    pub fn standing(&self, page: Number, host: HostId) -> Option<Standing> {
        let index = *self.names.get(&host)?;
        let host = &self.hosts[index as usize];
        let entry = host.queue.find(page)?;
        let bid = self.bid(index, &mut Vec::new());
        let servers_before = match self.servers[host.server as usize].place {
            Seat::Away => 0,
            Seat::Later(moment) => {
                let sooner = self.later.range(..(moment, host.server)).count();
                self.ready.len() + sooner
            }
            Seat::Ready(rank, turn) => {
                let key = (std::cmp::Reverse(rank), turn, host.server);
                self.ready.range(..key).count()
            }
        };
        Some(Standing {
            worth: entry.worth(),
            pages_before: host.queue.before(entry),
            pages_waiting: host.queue.len(),
            rank: bid.rank,
            visit_pages: bid.pages,
            servers_before,
        })
    }
}
