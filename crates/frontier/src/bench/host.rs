//! What the bench knows of one host.

use page::HostId;
use policy::Rank;
use policy::server::Estimate;

use super::queue::Queue;
use super::{HostIndex, ServerIndex};

/// One host.
pub(super) struct Host {
    pub id: HostId,
    /// The server whose politeness it shares.
    pub server: ServerIndex,
    /// Its place among the hosts of its server, if it has pages.
    pub listed: Option<(Rank, u64)>,
    /// Pages claimed since the bench was made.
    pub claimed: u32,
    /// A parked host keeps nothing and takes nothing.
    pub parked: bool,
    /// Its speed; `None`: nobody has asked it.
    pub estimate: Option<Estimate>,
    /// Whether a connection to it is open.
    pub open: bool,
    /// Where its deferred pages are.
    pub shelf: Option<HostIndex>,
    /// Whether this entry is the shelf of another.
    pub is_shelf: bool,
    pub queue: Queue,
}

impl Host {
    pub fn new(id: HostId, server: ServerIndex) -> Self {
        Self {
            id,
            server,
            listed: None,
            claimed: 0,
            parked: false,
            estimate: None,
            open: false,
            shelf: None,
            is_shelf: false,
            queue: Queue::default(),
        }
    }
}
