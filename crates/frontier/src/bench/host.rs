//! The state of one host on the bench.

use page::HostId;
use policy::Rank;
use policy::server::Estimate;

use super::queue::HostQueue;
use super::{HostIndex, ServerIndex};

pub(super) struct BenchHost {
    pub id: HostId,
    /// The server whose politeness delay applies to it.
    pub server: ServerIndex,
    /// Its rank and turn number among the hosts of its server; `None`: it is not listed there.
    pub listed: Option<(Rank, u64)>,
    /// Number of its pages that were claimed in this run.
    pub claimed: u32,
    /// Whether requests to it have stopped for this run. Its queue is empty then.
    pub parked: bool,
    /// Its speed; `None`: it was not measured.
    pub estimate: Option<Estimate>,
    /// Whether a connection to it is open.
    pub open: bool,
    /// Index of the entry that holds its deferred pages; `None`: it never had any.
    pub deferred_queue: Option<HostIndex>,
    /// Whether this entry holds the deferred pages of another entry.
    pub is_deferred_queue: bool,
    pub queue: HostQueue,
}

impl BenchHost {
    pub fn new(id: HostId, server: ServerIndex) -> Self {
        Self {
            id,
            server,
            listed: None,
            claimed: 0,
            parked: false,
            estimate: None,
            open: false,
            deferred_queue: None,
            is_deferred_queue: false,
            queue: HostQueue::default(),
        }
    }
}
