//! Metrics of a node in a cluster.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::{Registry, Unit};

use super::gauge;
use node::whole_crawl::ClusterOverview;

/// Registers the metrics of this node, and what it knows of the others.
pub fn register(registry: &mut Registry, cluster: &ClusterOverview) {
    let totals = &cluster.totals;
    let contact = &cluster.contact;
    let gauges = [
        (
            "nodes",
            "Nodes heard since this one started, dead ones too",
            cluster.nodes.len() as f64,
        ),
        (
            "nodes_alive",
            "Nodes heard within the time of silence, this one included",
            totals.alive as f64,
        ),
        (
            "slots_without_owner",
            "Slots that no living node has announced",
            totals.slots_without_owner as f64,
        ),
        (
            "broker_connected",
            "1 while this node is connected to a NATS server, else 0",
            f64::from(contact.is_connected),
        ),
        (
            "acknowledgement_age_seconds",
            "Time since the NATS servers last acknowledged a heartbeat of this node; from half of the silence on it makes no requests",
            contact.acknowledged_seconds,
        ),
        (
            "setup_warnings",
            "Faults in the set-up of the NATS servers that this node found at its start; its log names them",
            contact.warnings.len() as f64,
        ),
        (
            "waiting_log_lines",
            "Searches and clicks that wait to be sent to the owners of their pages",
            contact.waiting_events as f64,
        ),
    ];
    for (name, help, value) in gauges {
        gauge(registry, name, help, value);
    }
    counter(
        registry,
        "sent_log_lines",
        "Searches and clicks that the owners of their pages have confirmed",
        contact.sent_events,
    );
    let Some(own) = cluster.nodes.iter().find(|node| node.is_own) else {
        return;
    };
    gauge(
        registry,
        "slots_owned",
        "Slots that this node owns",
        own.slots as f64,
    );
    gauge(
        registry,
        "unpublished_requests",
        "Lag: requests of this node whose results the NATS servers have not stored yet",
        own.unpublished as f64,
    );
    let epochs = cluster.slots.iter();
    let epochs = epochs.filter(|slot| slot.owner.as_ref() == Some(&own.name));
    gauge(
        registry,
        "highest_epoch",
        "Highest epoch among the slots of this node; an epoch grows with every claim of its slot",
        epochs.filter_map(|slot| slot.epoch).max().unwrap_or(0) as f64,
    );
    let counters = [
        (
            "fenced_slots",
            "Slots that this node lost to another one while it still worked on them",
            own.fenced,
        ),
        (
            "messages",
            "Messages of this node to the NATS servers, heartbeats not included",
            own.messages,
        ),
        (
            "offers_sent",
            "Pages that this node offered to others",
            own.offered,
        ),
        (
            "offers_received",
            "Pages that others offered to this node",
            own.received,
        ),
    ];
    for (name, help, value) in counters {
        counter(registry, name, help, value);
    }
    let bytes = Counter::<u64>::default();
    bytes.inc_by(own.message_bytes);
    registry.register_with_unit(
        "message",
        "Bytes of the messages of this node to the NATS servers",
        Unit::Bytes,
        bytes,
    );
}

fn counter(registry: &mut Registry, name: &str, help: &str, value: u64) {
    let counter = Counter::<u64>::default();
    counter.inc_by(value);
    registry.register(name, help, counter);
}
