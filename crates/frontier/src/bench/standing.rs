//! Reports what is ahead of a waiting page, to explain why it was not fetched yet.

use page::HostId;
use policy::{Number, Rank};

use super::{Bench, ServerPosition};

/// The position of a waiting page in the queues.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// Its worth when it was queued or last changed.
    pub worth: f32,
    /// Number of waiting pages of its host that are claimed before it.
    pub pages_before: usize,
    /// Number of waiting pages of its host, including this one.
    pub pages_waiting: usize,
    /// The rank of its host's next visit.
    pub rank: Rank,
    /// Number of pages of that visit.
    pub visit_pages: usize,
    /// Maximum number of pages of a visit, because the server needs a delay; `None`: it needs none,
    /// or its delay is not known yet.
    pub burst: Option<usize>,
    /// Number of servers that are visited before its server; 0 if its server is not on the bench.
    pub servers_before: usize,
}

impl Bench {
    /// Returns the position of a page of this host; `None`: it does not wait.
    pub fn standing(&self, page: Number, host: HostId) -> Option<Standing> {
        let index = *self.names.get(&host)?;
        let host = &self.hosts[index as usize];
        let entry = host.queue.find(page)?;
        let bid = self.bid(index, &mut Vec::new());
        let pace = self.servers[host.server as usize].pace;
        let servers_before = match self.servers[host.server as usize].position {
            ServerPosition::Away => 0,
            ServerPosition::Later(moment) => {
                let sooner = self.later.range(..(moment, host.server)).count();
                self.ready.len() + sooner
            }
            ServerPosition::Ready(rank, turn) => {
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
            burst: pace.filter(|pace| *pace < usize::MAX),
            servers_before,
        })
    }
}
