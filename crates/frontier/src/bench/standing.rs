//! What stands before a page?

use page::HostId;
use policy::server::Estimate;
use policy::{Moment, Number, Rank};

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
    /// The speed of its host; `None`: nobody has asked it.
    pub estimate: Option<Estimate>,
    /// The rank of its host's next visit.
    pub rank: Rank,
    /// Pages that this visit is for.
    pub visit_pages: usize,
    /// Servers that are visited before its own.
    pub servers_before: usize,
    /// When its server may be asked; `None`: now, or it is being visited.
    pub ready: Option<Moment>,
}

impl Bench {
    /// Where a page of this host stands; `None`: it does not wait.
    pub fn standing(&self, page: Number, host: HostId) -> Option<Standing> {
        let index = *self.names.get(&host)?;
        let host = &self.hosts[index as usize];
        let entry = host.queue.find(page)?;
        let (mut worths, most) = (Vec::new(), self.most(index));
        let pipelined = self.manners.width > 1;
        let bid = host.bid(&*self.strategy, &self.usual, most, pipelined, &mut worths);
        let (ready, servers_before) = match self.servers[host.server as usize].place {
            Seat::Away => (None, 0),
            Seat::Later(moment) => {
                let sooner = self.later.range(..(moment, host.server)).count();
                (Some(moment), self.ready.len() + sooner)
            }
            Seat::Ready(rank, turn) => {
                let key = (std::cmp::Reverse(rank), turn, host.server);
                (None, self.ready.range(..key).count())
            }
        };
        Some(Standing {
            worth: entry.worth(),
            pages_before: host.queue.before(entry),
            pages_waiting: host.queue.len(),
            estimate: host.estimate,
            rank: bid.rank,
            visit_pages: bid.pages,
            servers_before,
            ready,
        })
    }
}
