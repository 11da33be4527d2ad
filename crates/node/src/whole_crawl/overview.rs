//! The nodes of a cluster, their slots and the sums, as dashboards, API and metrics show them.

use cluster::agent::Agent;
use cluster::member::NodeFigures;
use cluster::view::NodeView;

use super::log_routing::LogRouting;

/// A cluster at one moment, by the heartbeats that one node has heard.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClusterOverview {
    /// The name of the crawl.
    pub name: String,
    /// The node that looks.
    pub node: String,
    /// All nodes that were heard since this one started, by name; dead ones too.
    pub nodes: Vec<NodeOverview>,
    /// All slots, with their owners.
    pub slots: Vec<SlotOverview>,
    /// Sums over the nodes.
    pub totals: ClusterTotals,
    /// The contact of this node with the broker.
    pub contact: ClusterContact,
}

/// One node.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeOverview {
    /// Its name.
    pub name: String,
    /// Whether it is the node that looks.
    pub is_own: bool,
    /// Whether it was heard within the time of silence.
    pub is_alive: bool,
    /// Whether it gives its slots away.
    pub is_draining: bool,
    /// Whether it is paused.
    pub is_paused: bool,
    /// Seconds since its last heartbeat.
    pub silent_seconds: f64,
    /// Where people reach its web server, if it has one. Only `http` and `https`.
    pub address: Option<String>,
    /// Its share of the slots, relative to other nodes.
    pub capacity: f64,
    /// Number of slots that it owns; of a dead node: those that no living node has claimed yet.
    pub slots: usize,
    /// Known pages of its slots.
    pub known: u64,
    /// Requests for pages since it started.
    pub fetched: u64,
    /// Bytes received from web servers since it started.
    pub bytes: u64,
    /// Messages to the broker since it started, heartbeats not included.
    pub messages: u64,
    /// Bytes of these messages.
    pub message_bytes: u64,
    /// Pages that it offered to other nodes.
    pub offered: u64,
    /// Pages that other nodes offered to it.
    pub received: u64,
    /// Slots that it lost to another node while it still worked on them.
    pub fenced: u64,
    /// Requests whose results the broker has not stored yet.
    pub unpublished: u64,
    /// The least worth at which it fetches a page, if it is known.
    pub price: Option<f64>,
    /// The budget of the whole crawl that it knows, in fetches per second.
    pub budget: Option<f64>,
}

/// A slot and its owner.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SlotOverview {
    /// Its number.
    pub slot: u16,
    /// The living node that owns it; `None`: no living node has announced it.
    pub owner: Option<String>,
    /// The epoch of the owner's claim. It grows with every claim.
    pub epoch: Option<u64>,
}

/// Sums over the nodes of a cluster, the dead ones included.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ClusterTotals {
    /// Number of living nodes.
    pub alive: usize,
    /// Number of slots without a living owner.
    pub slots_without_owner: usize,
    /// Known pages of the slots of living nodes.
    pub known: u64,
    /// Requests for pages.
    pub fetched: u64,
    /// Bytes received from web servers.
    pub bytes: u64,
    /// Messages to the broker, heartbeats not included.
    pub messages: u64,
    /// Bytes of these messages.
    pub message_bytes: u64,
    /// The median price of the living nodes, if they have one.
    pub price: Option<f64>,
}

/// The contact of this node with the broker, and the searches and clicks that it sends to others.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClusterContact {
    /// Whether a NATS server is connected.
    pub is_connected: bool,
    /// Seconds since the broker last acknowledged a heartbeat of this node.
    pub acknowledged_seconds: f64,
    /// What is wrong with the set-up of the NATS servers, as this node found it at its start.
    pub warnings: Vec<String>,
    /// Searches and clicks that wait to be sent to the owners of their pages.
    pub waiting_events: u64,
    /// Searches and clicks that were sent to the owners of their pages.
    pub sent_events: u64,
}

impl ClusterTotals {
    /// Messages to the broker for each fetched page: the communication overhead. `None` before the
    /// first fetch.
    pub fn messages_per_page(&self) -> Option<f64> {
        (self.fetched > 0).then(|| self.messages as f64 / self.fetched as f64)
    }

    /// Bytes sent to the broker for each byte received from web servers.
    pub fn byte_share(&self) -> Option<f64> {
        (self.bytes > 0).then(|| self.message_bytes as f64 / self.bytes as f64)
    }
}

impl ClusterOverview {
    pub(super) fn of(agent: &Agent, name: &str, log: &LogRouting) -> Self {
        let views = agent.nodes();
        let slots = agent.division().slots().map(|slot| slot.0).collect();
        let mut overview = Self::assembled(&views, slots);
        overview.name = name.to_owned();
        overview.node = agent.name().to_string();
        overview.contact = ClusterContact {
            is_connected: agent.broker().is_connected(),
            acknowledged_seconds: agent.since_acknowledged().as_secs_f64(),
            warnings: agent.broker().warnings().to_vec(),
            waiting_events: log.waiting() as u64,
            sent_events: log.sent(),
        };
        overview
    }

    /// Puts the heartbeats together.
    fn assembled(views: &[NodeView], slots: Vec<u16>) -> Self {
        let owner = |slot: u16| {
            let claims = views.iter().filter(|view| view.is_alive).flat_map(|view| {
                let owned = view.beat.owned.iter();
                let owned = owned.filter(move |(owned, _)| owned.0 == slot);
                owned.map(|(_, epoch)| (*epoch, view.beat.node.to_string()))
            });
            // While a slot moves, two heartbeats may name it: the later claim holds.
            let last = claims.max();
            SlotOverview {
                slot,
                epoch: last.as_ref().map(|(epoch, _)| *epoch),
                owner: last.map(|(_, node)| node),
            }
        };
        let slots: Vec<SlotOverview> = slots.into_iter().map(owner).collect();
        let nodes = views.iter().map(|view| NodeOverview::of(view, &slots));
        let nodes: Vec<NodeOverview> = nodes.collect();
        Self {
            totals: totals(&nodes, &slots),
            nodes,
            slots,
            ..Self::default()
        }
    }
}

impl NodeOverview {
    fn of(view: &NodeView, slots: &[SlotOverview]) -> Self {
        let beat = &view.beat;
        let NodeFigures {
            address,
            known,
            fetched,
            bytes,
            messages,
            message_bytes,
            offered,
            received,
            fenced,
            unpublished,
            price,
            budget,
            paused,
            ..
        } = beat.figures.clone();
        let is_unclaimed = |slot: u16| {
            let mut slots = slots.iter();
            slots.any(|known| known.slot == slot && known.owner.is_none())
        };
        let owned = beat.owned.iter();
        let owned = owned.filter(|(slot, _)| view.is_alive || is_unclaimed(slot.0));
        let is_web = ["http://", "https://"]
            .iter()
            .any(|scheme| address.starts_with(scheme));
        Self {
            name: beat.node.to_string(),
            is_own: view.is_own,
            is_alive: view.is_alive,
            is_draining: beat.draining,
            is_paused: paused,
            silent_seconds: view.silent.as_secs_f64(),
            address: is_web.then(|| address.trim_end_matches('/').to_owned()),
            capacity: beat.capacity,
            slots: owned.count(),
            known,
            fetched,
            bytes,
            messages,
            message_bytes,
            offered,
            received,
            fenced,
            unpublished,
            price,
            budget,
        }
    }
}

fn totals(nodes: &[NodeOverview], slots: &[SlotOverview]) -> ClusterTotals {
    let sum = |of: fn(&NodeOverview) -> u64| nodes.iter().map(of).sum();
    let alive = || nodes.iter().filter(|node| node.is_alive);
    let mut prices: Vec<f64> = alive().filter_map(|node| node.price).collect();
    prices.sort_unstable_by(f64::total_cmp);
    ClusterTotals {
        alive: alive().count(),
        slots_without_owner: slots.iter().filter(|slot| slot.owner.is_none()).count(),
        known: alive().map(|node| node.known).sum(),
        fetched: sum(|node| node.fetched),
        bytes: sum(|node| node.bytes),
        messages: sum(|node| node.messages),
        message_bytes: sum(|node| node.message_bytes),
        price: prices.get(prices.len() / 2).copied(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cluster::Slot;
    use cluster::member::Heartbeat;
    use cluster::message::NodeName;

    use super::*;

    fn view(name: &str, is_alive: bool, owned: &[(u16, u64)], figures: NodeFigures) -> NodeView {
        NodeView {
            beat: Heartbeat {
                node: NodeName::new(name).unwrap(),
                incarnation: 1,
                namesake: None,
                capacity: 1.0,
                draining: false,
                owned: owned
                    .iter()
                    .map(|(slot, epoch)| (Slot(*slot), *epoch))
                    .collect(),
                assigned: Vec::new(),
                figures,
            },
            is_own: name == "a",
            is_alive,
            silent: Duration::from_secs(1),
        }
    }

    #[test]
    fn slots_belong_to_living_nodes_and_the_later_claim_holds() {
        let figures = |known, price| NodeFigures {
            known,
            fetched: 10,
            messages: 1,
            price,
            ..NodeFigures::default()
        };
        let views = [
            view("a", true, &[(0, 1), (1, 3)], figures(5, Some(1.0))),
            view("b", true, &[(1, 2)], figures(7, Some(3.0))),
            view("c", false, &[(2, 1), (0, 0)], figures(9, Some(9.0))),
        ];
        let found = ClusterOverview::assembled(&views, vec![0, 1, 2, 3]);
        let owners: Vec<_> = (found.slots.iter())
            .map(|slot| (slot.owner.as_deref(), slot.epoch))
            .collect();
        let a = Some("a");
        assert_eq!(
            owners,
            [(a, Some(1)), (a, Some(3)), (None, None), (None, None)]
        );
        let counts: Vec<usize> = found.nodes.iter().map(|node| node.slots).collect();
        assert_eq!(
            counts,
            [2, 1, 1],
            "slot 2 of the dead node is not claimed yet"
        );
        let totals = found.totals;
        assert_eq!((totals.alive, totals.slots_without_owner), (2, 2));
        assert_eq!(
            (totals.known, totals.fetched),
            (12, 30),
            "what a dead node fetched counts"
        );
        assert_eq!(totals.price, Some(3.0));
        assert_eq!(totals.messages_per_page(), Some(0.1));
        assert_eq!(totals.byte_share(), None);
    }

    #[test]
    fn only_web_addresses_become_links() {
        let address = |address: &str| {
            let figures = NodeFigures {
                address: address.into(),
                ..NodeFigures::default()
            };
            let views = [view("a", true, &[], figures)];
            ClusterOverview::assembled(&views, Vec::new()).nodes[0]
                .address
                .clone()
        };
        assert_eq!(
            address("http://10.0.0.1:8321/").as_deref(),
            Some("http://10.0.0.1:8321")
        );
        assert_eq!(address(""), None);
        assert_eq!(address("javascript:alert(1)"), None);
    }
}
