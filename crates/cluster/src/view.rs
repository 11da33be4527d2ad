//! What a node knows of all nodes of its cluster, for dashboards and metrics.

use std::sync::atomic::Ordering;
use std::time::Duration;

use policy::Moment;

use crate::agent::Agent;
use crate::division::{Division, Slot};
use crate::log::SlotLog;
use crate::member::Heartbeat;
use crate::message::NodeName;

/// A node, as another one knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeView {
    /// Its last heartbeat.
    pub beat: Heartbeat,
    /// Whether it is the node that looks.
    pub is_own: bool,
    /// Whether it was heard within the time of silence.
    pub is_alive: bool,
    /// Time since its last heartbeat arrived; of the node that looks: since the broker last
    /// acknowledged one.
    pub silent: Duration,
}

impl<B: SlotLog> Agent<B> {
    /// Returns all nodes that this one knows, itself included, by name. A node that was never heard
    /// since this one started is not known.
    pub fn nodes(&self) -> Vec<NodeView> {
        let since_acknowledged = self.since_acknowledged();
        let (member, now) = (self.member(), (self.now)());
        let own = NodeView {
            beat: member.heartbeat(),
            is_own: true,
            is_alive: true,
            silent: since_acknowledged,
        };
        let others = member.peers().map(|peer| NodeView {
            is_own: false,
            is_alive: member.is_alive(&peer.beat.node, now),
            silent: now.since(peer.heard),
            beat: peer.beat.clone(),
        });
        let mut nodes: Vec<NodeView> = others.chain([own]).collect();
        nodes.sort_by(|one, other| one.beat.node.cmp(&other.beat.node));
        nodes
    }

    /// Returns the time since the broker last acknowledged a heartbeat of this node.
    pub fn since_acknowledged(&self) -> Duration {
        let acknowledged = Moment::from_micros(self.acknowledged.load(Ordering::Relaxed));
        (self.now)().since(acknowledged)
    }

    /// Returns how the web is divided.
    pub fn division(&self) -> Division {
        self.member().settings().division
    }

    /// Returns the number of this process, which is higher for later processes of the node.
    pub fn incarnation(&self) -> u64 {
        self.member().settings().incarnation
    }

    /// Returns the living node that owns a slot by the last heartbeats; `None`: no living node has
    /// announced it.
    pub fn owner(&self, slot: Slot) -> Option<NodeName> {
        let (member, now) = (self.member(), (self.now)());
        if member.owned().contains_key(&slot) {
            return Some(member.settings().name.clone());
        }
        let owns = |beat: &Heartbeat| beat.owned.iter().any(|(owned, _)| *owned == slot);
        let mut beats = member.peers().map(|peer| &peer.beat);
        let owner = beats.find(|beat| owns(beat) && member.is_alive(&beat.node, now));
        owner.map(|beat| beat.node.clone())
    }
}
