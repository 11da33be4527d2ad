//! The crawl of all nodes of a cluster, as every node shows and steers it: its nodes and slots,
//! orders of operators to all nodes, and searches and clicks for the owners of the pages.

mod log_routing;
mod node_orders;
mod overview;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use cluster::agent::Agent;
use frontier::Partition;
use page::PageUrl;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::live::Live;
use crate::live::controls::Applied;
use crate::live::orders::CrawlOrder;
use log_routing::LogRouting;

pub use node_orders::{NoSuchNode, NodeAnswer, NodeOutcome, OrderResult};
pub use overview::{ClusterContact, ClusterOverview, ClusterTotals, NodeOverview, SlotOverview};

/// Time between two attempts to subscribe while the broker is away.
const RETRY: Duration = Duration::from_secs(1);

/// Another node, which owns a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageOwner {
    /// Its name.
    pub node: String,
    /// Where people reach its web server; `None`: it has none.
    pub address: Option<String>,
}

/// The crawl of all nodes, seen from this one.
pub struct WholeCrawl {
    agent: Arc<Agent>,
    name: String,
    runtime: Handle,
    log: LogRouting,
}

impl WholeCrawl {
    /// Creates the view of a node. `name` is that of the crawl. The calling task must run on the
    /// runtime that drives the agent.
    pub fn new(agent: Arc<Agent>, name: String, live: &Live) -> Arc<Self> {
        Arc::new(Self {
            log: LogRouting::new(live.root()),
            agent,
            name,
            runtime: Handle::current(),
        })
    }

    /// Starts the tasks that obey the orders of other nodes, and that send and receive searches and
    /// clicks. They run until they are aborted.
    pub fn start(self: &Arc<Self>, live: &Arc<Live>) -> Vec<JoinHandle<()>> {
        let (agent, whole) = (self.agent.clone(), self.clone());
        let (sending, receiving) = (self.clone(), self.clone());
        vec![
            tokio::spawn(node_orders::obey(agent, live.clone())),
            tokio::spawn(async move { sending.log.send(&sending.agent).await }),
            tokio::spawn(async move { receiving.log.receive(&whole.agent).await }),
        ]
    }

    /// Returns the nodes, their slots and the sums, by the heartbeats that this node has heard.
    pub fn overview(&self) -> ClusterOverview {
        ClusterOverview::of(&self.agent, &self.name, &self.log)
    }

    /// Passes an order to all nodes, or to one. `own` carries it out on this node. If this node
    /// refuses the order, no other node gets it.
    ///
    /// Blocks the thread until all living nodes have answered, 3 s at most, so it must not be
    /// called on an async task.
    pub fn order(
        &self,
        order: &CrawlOrder,
        node: Option<&str>,
        own: impl FnOnce() -> Result<Applied>,
    ) -> Result<OrderResult> {
        node_orders::pass(&self.agent, &self.runtime, order, node, own)
    }

    /// Returns the other node that owns a page. Returns `None` if this node owns it, or no living
    /// node.
    pub fn other_owner(&self, url: &PageUrl) -> Option<PageOwner> {
        let slot = self.agent.division().slot(Partition::of(url));
        let owner = self.agent.owner(slot)?;
        let peers = self.agent.living_peers().into_iter();
        let mut peers = peers.map(|peer| peer.beat);
        let beat = peers.find(|beat| beat.node == owner)?;
        let address = beat.figures.address;
        Some(PageOwner {
            node: owner.to_string(),
            address: (!address.is_empty()).then_some(address),
        })
    }

    /// Logs a search: each shown page is logged on the node that owns it.
    pub fn log_search(&self, search: &repository::log::Search) -> Result<()> {
        self.log.search(&self.agent, search)
    }

    /// Logs a click on the node that owns the page.
    pub fn log_click(&self, click: &repository::log::Click) -> Result<()> {
        self.log.click(&self.agent, click)
    }

    /// The program is about to end: what was not sent is logged on this node.
    pub fn close(&self) {
        self.log.close();
    }
}
