//! `GET /api/v1/cluster`: reports the nodes of a cluster and who owns which slots.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::ApiRefusal;
use super::refusal::RefusalBody;
use crate::App;
use node::whole_crawl::{ClusterOverview, NodeOverview, SlotOverview};

/// A cluster, by the heartbeats that the asked node has heard.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Cluster)]
pub struct ClusterBody {
    /// The name of the crawl.
    name: String,
    /// The name of the node that answers.
    node: String,
    /// All nodes that it has heard since it started, by name; dead ones too.
    nodes: Vec<NodeBody>,
    /// All slots, with their owners.
    slots: Vec<SlotBody>,
    /// Sums over the nodes.
    totals: ClusterSums,
    /// Whether the node that answers is connected to a NATS server.
    connected: bool,
    /// Seconds since the NATS servers last acknowledged a heartbeat of the node that answers.
    acknowledged_seconds: f64,
    /// What is wrong with the set-up of the NATS servers, as the node that answers found it at its
    /// start.
    warnings: Vec<String>,
}

/// One node.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Node)]
struct NodeBody {
    /// Its name.
    name: String,
    /// Whether it was heard within the time of silence.
    alive: bool,
    /// Whether it gives its slots away.
    draining: bool,
    /// Whether it is paused.
    paused: bool,
    /// Seconds since its last heartbeat.
    silent_seconds: f64,
    /// Where people reach its web server; `null` if it has none.
    #[schema(required)]
    address: Option<String>,
    /// Its share of the slots, relative to other nodes.
    capacity: f64,
    /// Number of slots that it owns; of a dead node: those that no living node has claimed yet.
    slots: usize,
    /// Known pages of its slots.
    known: u64,
    /// Requests for pages since it started.
    fetched: u64,
    /// Bytes received from web servers since it started.
    bytes: u64,
    /// Messages to the NATS servers since it started, heartbeats not included.
    messages: u64,
    /// Bytes of these messages.
    message_bytes: u64,
    /// Pages that it offered to other nodes.
    offered: u64,
    /// Pages that other nodes offered to it.
    received: u64,
    /// Slots that it lost to another node while it still worked on them.
    fenced: u64,
    /// Requests whose results the NATS servers have not stored yet.
    unpublished: u64,
    /// The least worth at which it fetches a page; `null` without a budget.
    #[schema(required)]
    price: Option<f64>,
    /// The budget of the whole crawl that it knows, in fetches per second; `null` without a budget.
    #[schema(required)]
    budget: Option<f64>,
}

/// A slot: a part of the web that one node owns at a time.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Slot)]
struct SlotBody {
    /// Its number.
    slot: u16,
    /// The name of the living node that owns it; `null`: no living node has announced it.
    #[schema(required)]
    owner: Option<String>,
    /// The epoch of the owner's claim. It grows with every claim.
    #[schema(required)]
    epoch: Option<u64>,
}

/// Sums over all nodes. What a dead node fetched counts, what it knew does not.
#[derive(Debug, Serialize, ToSchema)]
struct ClusterSums {
    /// Number of living nodes.
    alive: usize,
    /// Number of slots without a living owner.
    slots_without_owner: usize,
    /// Known pages.
    known: u64,
    /// Requests for pages.
    fetched: u64,
    /// Bytes received from web servers.
    bytes: u64,
    /// Messages to the NATS servers.
    messages: u64,
    /// Bytes of these messages.
    message_bytes: u64,
    /// Communication overhead: messages for each fetched page; `null` before the first fetch.
    #[schema(required)]
    messages_per_page: Option<f64>,
    /// Communication overhead: bytes to the NATS servers for each byte from web servers.
    #[schema(required)]
    byte_share: Option<f64>,
    /// The median price of the living nodes; `null` without a budget.
    #[schema(required)]
    price: Option<f64>,
}

/// Report the nodes of a cluster, and who owns which slots
#[utoipa::path(
    get,
    path = "/cluster",
    responses(
        (status = 200, description = "The cluster", body = ClusterBody),
        (status = 404, description = "The crawl runs on one machine", body = RefusalBody),
        (status = 429, description = "Too many requests from this address; Retry-After says when to try again", body = RefusalBody),
    )
)]
pub async fn cluster(State(app): State<Arc<App>>) -> Result<Json<ClusterBody>, ApiRefusal> {
    match app.node.whole_crawl() {
        Some(whole) => Ok(Json(whole.overview().into())),
        None => Err(ApiRefusal::not_found(
            "the crawl runs on one machine: there is no cluster",
        )),
    }
}

impl From<ClusterOverview> for ClusterBody {
    fn from(cluster: ClusterOverview) -> Self {
        let totals = &cluster.totals;
        Self {
            totals: ClusterSums {
                alive: totals.alive,
                slots_without_owner: totals.slots_without_owner,
                known: totals.known,
                fetched: totals.fetched,
                bytes: totals.bytes,
                messages: totals.messages,
                message_bytes: totals.message_bytes,
                messages_per_page: totals.messages_per_page(),
                byte_share: totals.byte_share(),
                price: totals.price,
            },
            connected: cluster.contact.is_connected,
            acknowledged_seconds: cluster.contact.acknowledged_seconds,
            warnings: cluster.contact.warnings,
            name: cluster.name,
            node: cluster.node,
            nodes: cluster.nodes.into_iter().map(NodeBody::from).collect(),
            slots: cluster.slots.into_iter().map(SlotBody::from).collect(),
        }
    }
}

impl From<NodeOverview> for NodeBody {
    fn from(node: NodeOverview) -> Self {
        Self {
            name: node.name,
            alive: node.is_alive,
            draining: node.is_draining,
            paused: node.is_paused,
            silent_seconds: node.silent_seconds,
            address: node.address,
            capacity: node.capacity,
            slots: node.slots,
            known: node.known,
            fetched: node.fetched,
            bytes: node.bytes,
            messages: node.messages,
            message_bytes: node.message_bytes,
            offered: node.offered,
            received: node.received,
            fenced: node.fenced,
            unpublished: node.unpublished,
            price: node.price,
            budget: node.budget,
        }
    }
}

impl From<SlotOverview> for SlotBody {
    fn from(SlotOverview { slot, owner, epoch }: SlotOverview) -> Self {
        Self { slot, owner, epoch }
    }
}
